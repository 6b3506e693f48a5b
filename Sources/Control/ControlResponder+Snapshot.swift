import HTTPListener
import HTTPTypes

extension ControlResponder {
    /// Allowed widths of a snapshot in pixels.
    private static let widths = 16...1_920

    /// A snapshot as a JPEG file.
    ///
    /// - Parameter uid: The user whose source is shown; nil for the program.
    func snapshot(
        of uid: String?, _ query: [(name: String, value: String)]
    ) throws(ControlFailure) -> ListenerReply {
        try Self.refuseUnknown(query, known: uid == nil ? ["width"] : ["width", "streamType"])
        var width: Int?
        if let text = query.last(where: { $0.name == "width" })?.value {
            guard let value = Int(text), Self.widths.contains(value) else {
                throw .invalidFormat("\"\(text.prefix(32))\" is not a valid width", fix: "use 16 to 1920 pixels")
            }
            width = value
        }
        let streamType = query.last { $0.name == "streamType" }?.value ?? Self.defaultStreamType
        let bytes = try self.room.snapshot(of: uid.map { ($0, streamType) }, width: width)
        return ListenerReply(.ok, fields: [.contentType: "image/jpeg", .cacheControl: "no-store"], body: .bytes(bytes))
    }
}
