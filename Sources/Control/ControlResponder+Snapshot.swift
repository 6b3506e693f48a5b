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

    /// Allowed widths of a source's still in pixels, and the default.
    private static let stillWidths = 16...1_280
    private static let defaultStillWidth = 320

    private static let ageField = HTTPField.Name("X-Tandem-Age-Ms") ?? .from

    /// Answers with a still of one source, when it is made. A client that sends the tag of the still that it has gets 304
    /// while the frame is the same.
    func still(
        of uid: String, _ query: [(name: String, value: String)], _ head: HTTPRequest,
        _ answer: @escaping @Sendable (ListenerReply) -> Void
    ) throws(ControlFailure) {
        try Self.refuseUnknown(query, known: ["width", "live", "streamType"])
        var width = Self.defaultStillWidth
        if let text = query.last(where: { $0.name == "width" })?.value {
            guard let value = Int(text), Self.stillWidths.contains(value) else {
                throw .invalidFormat("\"\(text.prefix(32))\" is not a valid width", fix: "use 16 to 1280 pixels")
            }
            width = value
        }
        var isLive = false
        if let text = query.last(where: { $0.name == "live" })?.value {
            guard let value = Bool(text) else {
                throw .invalidFormat("\"\(text.prefix(32))\" is not a valid value of live", fix: "use true or false")
            }
            isLive = value
        }
        let streamType = query.last { $0.name == "streamType" }?.value ?? Self.defaultStreamType
        let known = head.headerFields[.ifNoneMatch].map { $0.hasPrefix("W/") ? String($0.dropFirst(2)) : $0 }
        self.room.still(of: (uid, streamType), width: width, isLive: isLive, known: known) { result in
            switch result {
            case .failure(let failure): answer(.problem(failure))
            case .success(let still):
                var fields: HTTPFields = [.cacheControl: "private, no-cache", .eTag: still.tag]
                fields[Self.ageField] = "\(still.ageMs)"
                guard let bytes = still.bytes else { return answer(ListenerReply(.notModified, fields: fields)) }
                fields[.contentType] = "image/jpeg"
                answer(ListenerReply(.ok, fields: fields, body: .bytes(bytes)))
            }
        }
    }
}
