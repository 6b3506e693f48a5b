package import MediaTypes

/// A still of a source in the CloudEvents envelope that a moderation webhook receives.
///
/// Spec: CloudEvents 1.0.2, JSON format with `data_base64` (§3.1.1), structured content mode of the HTTP binding.
package struct SourceStillEvent: Sendable, Hashable {
    package static let type = "dev.tandem.source.still.v1"

    /// Id of the still, unique in the room. It contains no full stop.
    package let id: String
    /// The request body: the envelope with the JPEG file in base64, as JSON.
    package let body: [UInt8]

    /// Makes the envelope.
    ///
    /// - Parameters:
    ///   - sequence: Counts the stills of this worker, from 1.
    ///   - time: When the frame arrived at the worker, as a date-time.
    ///   - programTimeMs: Program time at which the frame is shown, in milliseconds; nil before the program runs.
    ///   - ageMs: Milliseconds since the frame arrived.
    ///   - origin: Makes the id unique among the room's workers, for example the worker's start time.
    package init(
        room: String, incarnation: Int64, origin: Int64, sequence: Int64, source: SourceID, time: String,
        programTimeMs: Int64?, ageMs: Int64, jpeg: [UInt8]
    ) {
        let plain = String(room.map { $0 == "." ? "_" : $0 })
        self.id = "\(plain)-\(incarnation)-\(origin)-still-\(sequence)"
        var members: [JSONValue.Member] = [
            .init("specversion", "1.0"), .init("id", .string(self.id)),
            .init("source", .string("/tandem/rooms/\(room)/incarnations/\(incarnation)")),
            .init("type", .string(Self.type)), .init("subject", .string("sources/\(source)")),
            .init("time", .string(time)), .init("datacontenttype", "image/jpeg"),
            // Extension attributes: names of lower-case letters, and integers of 32 bits.
            .init("sequence", .string(sequence.padded(12))), .init("roomid", .string(room)),
            .init("uid", .string(source.uid)), .init("streamtype", .string(source.streamType.rawValue)),
            .init("agems", .integer(min(ageMs, Int64(Int32.max)))),
        ]
        // As text, because the program may run for longer than 32 bits of milliseconds.
        if let programTimeMs { members.append(.init("programtimems", .string("\(programTimeMs)"))) }
        let envelope = JSONValue.object(members).text
        // Base64 needs no escapes.
        self.body =
            Array(envelope.utf8.dropLast()) + Array(",\"data_base64\":\"".utf8) + Base64.digits(jpeg)
            + Array("\"}".utf8)
    }
}
