import MediaTypes

extension ControlResponder {
    func putRelay(
        _ uid: String, _ streamType: String, _ relayID: String, _ body: [UInt8]
    ) throws(ControlFailure) -> String {
        guard let url = try FlatObject(body: body, keys: ["url"]).string("url") else {
            throw .invalidFormat("the body has no \"url\"", fix: "send {\"url\":\"rtmp://host/app/key\"}")
        }
        guard Self.isRelayID(relayID) else {
            throw .invalidFormat(
                "the relay's id is invalid", fix: "use 1 to 64 letters, digits, _ . or -", status: 422)
        }
        return try self.room.putRelay(uid: uid, streamType: streamType, relayID: relayID, url: url)
    }

    func deleteRelay(
        _ uid: String, _ streamType: String, _ relayID: String, _ body: [UInt8]
    ) throws(ControlFailure) -> String {
        _ = try FlatObject(body: body, keys: [])
        try self.room.deleteRelay(uid: uid, streamType: streamType, relayID: relayID)
        return (["id": .string(relayID), "deleted": true] as JSONValue).text
    }

    private static func isRelayID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.isPlain(marks: "_.-")
    }
}
