/// The reply to a command, and whether the command changed the room.
package struct CommandReply: Sendable, Hashable {
    /// One JSON object.
    package let json: String
    /// False if the room already was what the command asks for, or if the command only tried something out.
    package let changed: Bool

    package init(_ json: String, changed: Bool) {
        self.json = json
        self.changed = changed
    }
}
