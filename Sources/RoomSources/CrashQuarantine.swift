import Control
package import MediaTypes
import Program

/// The sources that earlier workers of the room were decoding when they crashed, and which of them are refused. Pure.
///
/// One crash may be an accident. A source with two crashes within a minute is refused, so that the third worker runs without it.
package struct CrashQuarantine: Sendable, Hashable {
    /// A crash of an earlier worker in the decoder of a source.
    package struct Crash: Sendable, Hashable {
        package var source: SourceID
        package var codec: String
        /// Milliseconds since the Unix epoch.
        package var at: Int64

        package init(source: SourceID, codec: String, at: Int64) {
            (self.source, self.codec, self.at) = (source, codec, at)
        }
    }

    /// A source that is refused.
    package struct Quarantine: Sendable, Hashable {
        package var source: SourceID
        /// The codec of the last crash.
        package var codec: String
        /// Milliseconds since the Unix epoch.
        package var until: Int64

        package init(source: SourceID, codec: String, until: Int64) {
            (self.source, self.codec, self.until) = (source, codec, until)
        }
    }

    /// The file's name, in the directory of the room's state.
    package static let name = "crashes.jsonl"
    /// Two crashes of one source this near to each other are its doing; milliseconds.
    package static let window: Int64 = 60_000
    /// How long the source is refused after the second; milliseconds.
    package static let term: Int64 = 300_000
    /// Lines beyond these are no record of crashes.
    private static let maximum = 64

    /// The crashes that still count, in file order.
    package private(set) var crashes: [Crash] = []

    /// - Parameters:
    ///   - text: One JSON object per line. A line written by a crashing worker has no time. Lines that cannot be read are skipped.
    ///   - modified: When the file was last written, in milliseconds since the Unix epoch: the time of lines that have none.
    ///   - now: Milliseconds since the Unix epoch. Older crashes than those that count are dropped; later times become this time.
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

    /// The sources that are refused at `now`, in the order of their names.
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

    /// The line of a source in the file, without a time.
    package static func mark(_ source: SourceID, _ codec: CodecName) -> JSONValue { DecoderMark.line(source, codec) }

    /// The file's content.
    package var text: String {
        self.crashes.map { crash in
            JSONValue.object([
                .init("uid", .string(crash.source.uid)), .init("streamType", .string(crash.source.streamType.rawValue)),
                .init("codec", .string(crash.codec)), .init("at", .integer(crash.at)),
            ]).text + "\n"
        }.joined()
    }
}
