import MediaTypes

/// The body of `POST /v1/clips`.
package struct ClipRequest: Sendable, Hashable {
    /// Program date-times, as received.
    package let from: String
    package let to: String
    /// Name of the rendition to cut from; nil for the first rendition that is always encoded.
    package let rendition: String?
    /// A plain file name without extension; nil for a generated name.
    package let name: String?

    /// Parses the body.
    ///
    /// - Throws: ``ControlFailure`` if a member is missing or unknown, or if the name is not a plain file name.
    package init(body: [UInt8]) throws(ControlFailure) {
        let values = try FlatObject(body: body, keys: ["from", "to", "rendition", "name"])
        guard let from = try values.string("from"), let to = try values.string("to") else {
            throw .invalidFormat(
                "\"from\" and \"to\" are required", fix: "send both as program date-times", status: 422)
        }
        self.from = from
        self.to = to
        self.rendition = try values.string("rendition")
        self.name = try values.string("name")
        if let name = self.name, !Self.isPlain(name) {
            throw .invalidFormat(
                "\"name\" is not a plain file name",
                fix: "use 1 to 64 letters, digits, _ . or -, and begin with a letter or a digit", status: 422)
        }
    }

    private static func isPlain(_ name: String) -> Bool {
        guard (1...64).contains(name.utf8.count), let first = name.utf8.first else { return false }
        return (first.isLetter || first.isDigit) && name.isPlain(marks: "._-")
    }
}
