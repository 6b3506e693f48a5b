import MediaTypes

/// The answer of a moderation service to a still: what to do with the source, and why.
///
/// A JSON object: `{"action": "cover", "reason": "nudity"}`. `action` is `none`, `cover`, `mute` or `kick`, or an array of
/// them; without it nothing is done. `refuseSeconds` (0 to 86,400, default 60) is for a kick. Other members are ignored.
package struct ModerationAnswer: Sendable, Hashable {
    /// A command for the source. They are carried out in this order.
    package enum Action: String, Sendable, CaseIterable {
        /// Hides the source's video.
        case cover
        /// Makes the source inaudible.
        case mute
        /// Disconnects the publisher.
        case kick
    }

    /// Largest answer in bytes.
    package static let largest = 16 << 10
    /// Longest reason in Unicode scalars, without control characters; the rest is left out.
    package static let longestReason = 200

    package var actions: [Action] = []
    package var reason = ""
    /// Seconds for which the publisher is refused after a kick.
    package var refuseSeconds = 60

    package init() {}

    /// Parses the body of a response with a 2xx status.
    ///
    /// - Returns: nil if the body is longer than ``largest``, or is neither blank nor such an object.
    package init?(_ body: [UInt8]) {
        guard body.count <= Self.largest else { return nil }
        let isBlank = body.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        if isBlank { return }
        guard let root = JSONParser.parse(body).root, case .object = root.content else { return nil }
        if let node = root[key: "action"] {
            var words: [String?] = [node.string]
            if case .array(let nodes) = node.content { words = nodes.map(\.string) }
            var actions: Set<Action> = []
            for word in words where word != "none" {
                guard let action = word.flatMap({ Action(rawValue: $0) }) else { return nil }
                actions.insert(action)
            }
            self.actions = Action.allCases.filter { actions.contains($0) }
        }
        if let reason = root[key: "reason"]?.string {
            let shown = reason.unicodeScalars.filter {
                switch $0.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator: false
                default: true
                }
            }
            self.reason = String(String.UnicodeScalarView(shown.prefix(Self.longestReason)))
        }
        if let seconds = root[key: "refuseSeconds"] {
            guard let value = seconds.integer, (0...86_400).contains(value) else { return nil }
            self.refuseSeconds = Int(value)
        }
    }
}
