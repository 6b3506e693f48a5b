import Control
package import MediaTypes
import Program

/// The crashes of earlier workers while they decoded a source, and the sources that are refused because of them. Pure.
///
/// One crash may be an accident. A source with two crashes within a minute is refused for five minutes, so that the third
/// worker runs without it.
package struct CrashQuarantine: Sendable, Hashable {
    /// A crash of an earlier worker in the decoder of a source.
    package struct Crash: Sendable, Hashable {
        package var source: SourceID
        package var codec: String
        /// When the worker crashed, in milliseconds since the Unix epoch.
        package var at: Int64

        package init(source: SourceID, codec: String, at: Int64) {
            (self.source, self.codec, self.at) = (source, codec, at)
        }
    }

    /// A source that may not be published because of crashes.
    package struct Quarantine: Sendable, Hashable {
        package var source: SourceID
        /// The codec of the decoder in which the last crash occurred.
        package var codec: String
        /// When the source may be published again, in milliseconds since the Unix epoch.
        package var until: Int64

        package init(source: SourceID, codec: String, until: Int64) {
            (self.source, self.codec, self.until) = (source, codec, until)
        }
    }

    /// Name of the file with the crashes, in the directory of the HLS output.
    package static let name = "crashes.jsonl"
    /// If one source has two crashes within this time, in milliseconds, then it is quarantined.
    package static let window: Int64 = 60_000
    /// How long a source is refused after its second crash, in milliseconds.
    package static let term: Int64 = 300_000
    /// Number of lines of the file that are read, from its end.
    private static let maximum = 64

    /// The crashes that are recent enough to count, in the order of the file.
    package private(set) var crashes: [Crash] = []

    /// Reads the file of crashes.
    ///
    /// - Parameters:
    ///   - text: One JSON object per line. The line that a crashing worker writes has no time. Invalid lines are
    ///     skipped.
    ///   - modified: When the file was last written, in milliseconds since the Unix epoch: used for lines without a
    ///     time.
    ///   - now: The current time in milliseconds since the Unix epoch. Crashes that are too old to count are dropped,
    ///     and times in the future are replaced by the current time.
    package init(_ text: [UInt8], modified: Int64, now: Int64) {
        for line in text.split(separator: 0x0A).suffix(Self.maximum) {
            guard let values = try? FlatObject(body: Array(line), keys: ["uid", "streamType", "codec", "at"]),
                let uid = try? values.string("uid"),
                let streamType = SourceID.StreamType(rawValue: (try? values.string("streamType")) ?? "main")
            else { continue }
            let at = (try? values.integer("at", in: 0...Int.max)).map(Int64.init) ?? modified
            guard at > now - Self.window - Self.term else { continue }
            let codec = (try? values.string("codec")) ?? ""
            self.crashes.append(
                Crash(source: SourceID(uid: uid, streamType: streamType), codec: codec, at: min(at, now)))
        }
    }

    /// The sources that are refused at `now`, sorted by name.
    package func quarantined(now: Int64) -> [Quarantine] {
        var worst: [SourceID: Quarantine] = [:]
        for (source, crashes) in Dictionary(grouping: self.crashes, by: \.source) {
            let ordered = crashes.sorted { $0.at < $1.at }
            for (first, second) in zip(ordered, ordered.dropFirst()) where second.at - first.at <= Self.window {
                worst[source] = Quarantine(source: source, codec: second.codec, until: second.at + Self.term)
            }
        }
        return worst.values.filter { $0.until > now }.sorted { $0.source.description < $1.source.description }
    }

    /// The line that is written for a source if its decoder crashes. It has no time.
    package static func mark(_ source: SourceID, _ codec: CodecName) -> JSONValue { DecoderMark.line(source, codec) }

    /// The content of the file for the crashes that count.
    package var text: String {
        self.crashes.map { crash in
            JSONValue.object([
                .init("uid", .string(crash.source.uid)), .init("streamType", .string(crash.source.streamType.rawValue)),
                .init("codec", .string(crash.codec)), .init("at", .integer(crash.at)),
            ]).text + "\n"
        }.joined()
    }
}
