import HLS
import MediaTypes

/// Converts between program ticks and dates as in the playlists' `EXT-X-PROGRAM-DATE-TIME`.
package struct ProgramCalendar: Sendable {
    /// Wall-clock time of tick 0, in nanoseconds since the Unix epoch.
    package var origin: Int64
    /// Ticks per second, 1…60.
    package var fps: Int64

    /// - Parameters:
    ///   - origin: Wall-clock time of tick 0, in nanoseconds since the Unix epoch.
    ///   - fps: Ticks per second, 1…60.
    package init(origin: Int64, fps: Int64) {
        self.origin = origin
        self.fps = fps
    }

    /// Date of a tick, in nanoseconds since the Unix epoch.
    package func date(of tick: Int64) -> Int64 {
        self.origin &+ TimeMath.scale(tick, by: TimeMath.nanoseconds, over: self.fps)
    }

    /// The first tick at or after the date.
    package func tick(at date: Int64) -> Int64 {
        TimeMath.scale(date &- self.origin, by: self.fps, over: TimeMath.nanoseconds, rounding: .up)
    }

    /// Parses an RFC 3339 date-time: `2026-01-31T20:00:00.5Z`, or with an offset such as `+09:00`.
    ///
    /// - Returns: Nanoseconds since the Unix epoch; nil if the text has another form.
    package static func parse(_ text: String) -> Int64? {
        if let date = ProgramDate.parse(text) { return date }
        let bytes = Array(text.utf8)
        guard bytes.count > 6, bytes[bytes.count - 3] == UInt8(ascii: ":"),
            let sign = [UInt8(ascii: "+"): Int64(1), UInt8(ascii: "-"): -1][bytes[bytes.count - 6]],
            let hours = Self.pair(bytes, bytes.count - 5), hours < 24, let minutes = Self.pair(bytes, bytes.count - 2),
            minutes < 60,
            let local = ProgramDate.parse(String(decoding: bytes.dropLast(6), as: UTF8.self) + "Z")
        else { return nil }
        return local &- sign &* (hours * 3600 + minutes * 60) &* TimeMath.nanoseconds
    }

    private static func pair(_ bytes: [UInt8], _ index: Int) -> Int64? {
        let digits = bytes[index..<index + 2]
        guard digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
}
