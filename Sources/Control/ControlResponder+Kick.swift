extension ControlResponder {
    /// Allowed values of `refuseSeconds`, in seconds; `usualRefusal` is its default.
    private static let refusalRange = 0...86_400
    private static let usualRefusal = 60

    func kick(_ uid: String, _ streamType: String, _ body: [UInt8]) throws(ControlFailure) -> String {
        let seconds = try FlatObject(body: body, keys: ["refuseSeconds"]).integer(
            "refuseSeconds", in: Self.refusalRange)
        return try self.room.kickSource(
            uid: uid, streamType: streamType, refuseSeconds: seconds ?? Self.usualRefusal)
    }
}
