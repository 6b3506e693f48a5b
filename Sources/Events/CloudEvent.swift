package import MediaTypes

/// An event in the CloudEvents envelope that webhooks receive.
///
/// Spec: CloudEvents 1.0.2, JSON format, structured content mode of the HTTP binding.
package struct CloudEvent: Sendable, Hashable {
    package static let contentType = "application/cloudevents+json; charset=utf-8"

    /// Id of the event, identical for every attempt, so that a receiver can detect repetitions. It contains no full
    /// stop, because the signed text uses one as a separator.
    package let id: String
    /// The request body: the envelope with the event, as JSON.
    package let body: [UInt8]

    /// Creates the envelope of an event.
    package init(_ event: EventRecord, roomID: String) {
        let facts = EventFacts(event.line)
        // If journal and state are lost, incarnation and sequence start at 1 again; the time distinguishes those
        // events.
        let parts = [
            Self.plain(roomID), facts.incarnation.map { "\($0)" }, "\(event.sequence)",
            facts.time.map { time in time.filter { $0.isASCII && ($0.isNumber || $0.isLetter) } },
        ]
        self.id = parts.compactMap { $0 }.joined(separator: "-")
        let worker = facts.incarnation.map { "/incarnations/\($0)" } ?? ""
        var members: [JSONValue.Member] = [
            .init("specversion", "1.0"), .init("id", .string(self.id)),
            .init("source", .string("/tandem/rooms/\(roomID)\(worker)")),
            .init("type", .string("dev.tandem.\(event.type).v1")),
        ]
        if let uid = facts.uid { members.append(.init("subject", .string("sources/\(uid)"))) }
        if let time = facts.time { members.append(.init("time", .string(time))) }
        members.append(.init("datacontenttype", "application/json"))
        // The CloudEvents extension "sequence" is ordered by string comparison.
        members.append(.init("sequence", .string(event.sequence.padded(12))))
        let envelope = JSONValue.object(members).text
        self.body = Array("\(envelope.dropLast()),\"data\":\(event.line)}".utf8)
    }

    /// Name of the JSON schema that describes every event.
    package static let dataName = "AnyEvent"

    /// The JSON shape of the envelope.
    package static let shape = JSONShape.object([
        JSONField("specversion", .always("1.0")), JSONField("id", .string, "the same at every attempt"),
        JSONField("source", .string, "/tandem/rooms/, the room, /incarnations/ and the worker"),
        JSONField("type", .string, "dev.tandem., the event's type, and .v1"),
        JSONField("subject", .string, "sources/ and the uid, of an event about a source").optional,
        JSONField("time", .date).optional, JSONField("datacontenttype", .always("application/json")),
        JSONField("sequence", .string, "the event's number, with leading zeros"),
        JSONField("data", .named(Self.dataName)),
    ])

    private static func plain(_ roomID: String) -> String {
        String(roomID.map { $0 == "." ? "_" : $0 })
    }
}

/// The members of an event's JSON line that the envelope repeats.
struct EventFacts {
    private(set) var uid: String?
    private(set) var time: String?
    /// Run number of the worker that emitted the event.
    private(set) var incarnation: Int64?

    init(_ line: String) {
        self.time = Self.text(of: "time", in: line)
        self.uid = Self.text(of: "uid", in: line)
        self.incarnation = EventLine.number(after: Array(#","incarnation":"#.utf8), in: Array(line.utf8)[...])
    }

    /// Returns the value of the line's top-level member `name` if it is a string without escapes, as ids and times are;
    /// otherwise `nil`. Nested objects may have members of the same name: audio levels contain the uid of each source.
    private static func text(of name: String, in line: String) -> String? {
        let bytes = Array(line.utf8)
        let key = Array("\"\(name)\":\"".utf8)
        var depth = 0
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                if depth == 1, bytes[index...].starts(with: key) {
                    let value = bytes[(index + key.count)...].prefix { $0 != 0x22 }
                    return value.contains(0x5C) ? nil : String(decoding: value, as: UTF8.self)
                }
                index += 1
                while index < bytes.count, bytes[index] != 0x22 { index += bytes[index] == 0x5C ? 2 : 1 }
            default: break
            }
            index += 1
        }
        return nil
    }
}
