/// The cues of a WebVTT segment and what is wrong with its text. Spec: W3C WebVTT §6, rfc8216bis §3.1.4.
struct WebVTTFacts: Sendable {
    /// Start of each cue in nanoseconds of the media's time, modulo ``wrap``, and its duration in nanoseconds.
    private(set) var cues: [(start: Int64, duration: Int64)] = []
    /// What is wrong with the text; `nil` if it is valid.
    private(set) var fault: String?

    /// Nanoseconds after which MPEG-2 times start again at 0: they have 33 bits of 90 kHz.
    static let wrap: Int64 = (1 << 33) * 100_000 / 9

    init(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            self.fault = "it is not UTF-8"
            return
        }
        let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
            .split(separator: "\n", omittingEmptySubsequences: false)
        let first = lines.first.map { $0.hasPrefix("\u{FEFF}") ? $0.dropFirst() : $0 } ?? ""
        guard first == "WEBVTT" || first.hasPrefix("WEBVTT ") || first.hasPrefix("WEBVTT\t") else {
            self.fault = "it does not begin with WEBVTT"
            return
        }
        let blocks = lines.split { $0.isEmpty }
        var shift: Int64 = 0
        for line in blocks.first ?? [] where line.hasPrefix("X-TIMESTAMP-MAP=") {
            guard let map = Self.map(line.dropFirst(16)) else {
                self.fault = "its X-TIMESTAMP-MAP cannot be read"
                return
            }
            shift = map
        }
        for block in blocks.dropFirst() {
            if ["NOTE", "STYLE", "REGION"].contains(where: { block.first?.hasPrefix($0) == true }) { continue }
            guard let line = block.prefix(2).first(where: { $0.contains("-->") }), let cue = Self.cue(line) else {
                self.fault = "\"\(block.first?.prefix(40) ?? "")\" begins a block without cue times"
                return
            }
            guard cue.end > cue.start else {
                self.fault = "a cue ends at its start or earlier"
                return
            }
            self.cues.append((Self.wrapped(cue.start &+ shift), cue.end &- cue.start))
        }
    }

    /// Returns a time in 0 ..< ``wrap``.
    private static func wrapped(_ time: Int64) -> Int64 {
        let rest = time % self.wrap
        return rest < 0 ? rest + self.wrap : rest
    }

    /// Whether a cue is shown at some time of an interval, with a tolerance.
    static func isShown(
        _ cue: (start: Int64, duration: Int64), from start: Int64, duration: Int64, slack: Int64
    ) -> Bool {
        // How far the cue's start is behind the interval's start, between -wrap/2 and wrap/2.
        var offset = self.wrapped(cue.start &- self.wrapped(start))
        if offset > self.wrap / 2 { offset -= self.wrap }
        return offset < duration &+ slack && offset &+ cue.duration > -slack
    }

    /// The difference of media times and cue times in nanoseconds.
    private static func map(_ text: Substring) -> Int64? {
        var (local, ticks): (Int64?, Int64?)
        for item in text.split(separator: ",") {
            let item = item.trimming(" ")
            if item.hasPrefix("LOCAL:") { local = self.time(item.dropFirst(6)) }
            if item.hasPrefix("MPEGTS:") { ticks = PlaylistScalars.integer(item.dropFirst(7)) }
        }
        guard let local, let ticks, ticks < 1 << 40 else { return nil }
        return ticks * 100_000 / 9 - local
    }

    private static func cue(_ line: Substring) -> (start: Int64, end: Int64)? {
        let words = line.split { $0 == " " || $0 == "\t" }
        guard words.count >= 3, words[1] == "-->", let start = self.time(words[0]), let end = self.time(words[2]) else {
            return nil
        }
        return (start, end)
    }

    /// Parses `HH:MM:SS.mmm` or `MM:SS.mmm` into nanoseconds.
    private static func time(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let last = parts.last else { return nil }
        let seconds = last.split(separator: ".", omittingEmptySubsequences: false)
        guard seconds.count == 2, seconds[0].utf8.count == 2, seconds[1].utf8.count == 3,
            parts[parts.count - 2].utf8.count == 2, let whole = PlaylistScalars.integer(seconds[0]), whole < 60,
            let milliseconds = PlaylistScalars.integer(seconds[1]),
            let minutes = PlaylistScalars.integer(parts[parts.count - 2]), minutes < 60
        else { return nil }
        let hours = parts.count == 3 ? PlaylistScalars.integer(parts[0]) : 0
        guard let hours, hours < 1_000_000 else { return nil }
        return (((hours * 60 + minutes) * 60 + whole) * 1_000 + milliseconds) * 1_000_000
    }
}

extension Substring {
    /// The text without a character at both ends.
    fileprivate func trimming(_ mark: Character) -> Substring {
        var text = self
        while text.first == mark { text.removeFirst() }
        while text.last == mark { text.removeLast() }
        return text
    }
}
