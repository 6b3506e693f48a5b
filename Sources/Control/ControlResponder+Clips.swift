import HTTPListener
import HTTPTypes
import MediaTypes

extension ControlResponder {
    private static let dispositionField = HTTPField.Name("Content-Disposition") ?? .from

    /// Answers with the MP4 file of a finished clip.
    ///
    /// - Throws: 404 for an unknown clip, 409 for a clip that is not finished or has failed.
    func clipFile(_ id: String) throws(ControlFailure) -> ListenerReply {
        let clip = JSONParser.parse(Array(try self.room.clipJSON(id).utf8)).root
        guard clip?[key: "state"]?.string == "ready", let path = clip?[key: "path"]?.string,
            let size = clip?[key: "bytes"]?.integer.flatMap({ Int(exactly: $0) }), size > 0
        else {
            throw .conflict(
                "the clip \"\(id.prefix(64))\" is not finished",
                fix: "wait for the event clip.ready, or request the clip again")
        }
        var fields: HTTPFields = [.contentType: "video/mp4", .cacheControl: "private, no-store"]
        let name = path.split(separator: "/").last.map { String($0.filter(Self.isQuotable)) }
        fields[Self.dispositionField] = "attachment; filename=\"\(name ?? "clip.mp4")\""
        return ListenerReply(.ok, fields: fields, body: .file(path: path, size: size, range: 0..<size))
    }

    /// Whether a character can stand in a quoted string of a header field as it is. Spec: RFC 9110 §5.6.4.
    private static func isQuotable(_ character: Character) -> Bool {
        guard let byte = character.asciiValue, character != "\r\n" else { return false }
        return (0x20..<0x7f).contains(byte) && character != "\"" && character != "\\"
    }
}
