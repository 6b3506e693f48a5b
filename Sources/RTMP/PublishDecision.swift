/// The answer to a publish request.
package enum PublishDecision: Sendable, Hashable {
    case accept
    case deny(PublishRefusal)
}
