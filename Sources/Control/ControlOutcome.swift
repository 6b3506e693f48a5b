package import HTTPListener
import HTTPTypes

/// The HTTP reply to a request of the control API, and whether the request changed the room.
package struct ControlOutcome: Sendable {
    package var reply: ListenerReply
    /// Whether the command changed something; ``CommandRevisions`` counts such commands. Not used for reading requests.
    package var changed: Bool

    /// - Parameter changed: True by default, because most commands do not report whether they changed something.
    package init(_ reply: ListenerReply, changed: Bool = true) {
        self.reply = reply
        self.changed = changed
    }

    /// A reply with a JSON body.
    static func json(_ status: HTTPResponse.Status, _ text: String) -> ControlOutcome {
        ControlOutcome(.json(status, text))
    }

    /// The reply to a command that reports whether it changed something.
    static func command(_ status: HTTPResponse.Status, _ reply: some CommandReply) -> ControlOutcome {
        ControlOutcome(.json(status, reply.json.text), changed: reply.changed)
    }
}
