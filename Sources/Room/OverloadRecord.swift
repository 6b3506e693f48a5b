import Control
import MediaTypes

/// The overload level at which a worker could keep up, saved for its successor as `overload.json` in the HLS output
/// directory.
///
/// The file exists only while the room leaves something out. Without it, a worker starts with nothing left out.
package struct OverloadRecord: Sendable, Hashable {
    /// Name of the file with the saved overload level.
    package static let name = "overload.json"
    /// A record older than this, in milliseconds, is ignored because the load may have ended.
    package static let age: Int64 = 300_000
    private static let version = 1
    private static let longestDistance = 86_400_000

    /// Name of the last step that was taken. All steps before it in the order of steps were taken, too.
    package var level: String
    /// Time from a step to the next attempt to undo it, in milliseconds.
    package var distanceMs: Int64
    /// When the record was written, in milliseconds since the Unix epoch.
    package var writtenAt: Int64

    package init(level: String, distanceMs: Int64, writtenAt: Int64) {
        self.level = level
        self.distanceMs = distanceMs
        self.writtenAt = writtenAt
    }

    /// Reads a record; nil if the file is damaged, of another version, or written more than ``age`` before or after `now`.
    ///
    /// - Parameter now: Milliseconds since the Unix epoch.
    package init?(_ bytes: [UInt8], now: Int64) {
        let keys = ["version", "level", "distanceMs", "writtenAt"]
        guard let values = try? FlatObject(body: bytes, keys: keys),
            (try? values.integer("version", in: 0...Int.max)) == Self.version,
            let level = try? values.string("level"),
            let distance = try? values.integer("distanceMs", in: 0...Self.longestDistance),
            let written = try? values.integer("writtenAt", in: 0...Int.max),
            (-Self.age...Self.age).contains(now &- Int64(written))
        else { return nil }
        self.init(level: level, distanceMs: Int64(distance), writtenAt: Int64(written))
    }

    /// The record as JSON text with a final line break.
    package var json: String {
        JSONValue.object([
            .init("version", JSONValue(Self.version)), .init("level", .string(self.level)),
            .init("distanceMs", .integer(self.distanceMs)), .init("writtenAt", .integer(self.writtenAt)),
        ]).text + "\n"
    }
}
