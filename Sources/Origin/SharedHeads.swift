import HTTPListener
import Synchronization

/// The heads of the replies with an object whole: one for each origin that has a head of its own, made by its first reply.
package final class SharedHeads: Sendable {
    /// Heads kept; replies to further origins share none.
    private static let most = 16

    private let heads = Mutex<[String: SharedHead]>([:])

    package init() {}

    /// - Parameters:
    ///   - key: What the head depends on besides the object; empty for nothing.
    ///   - body: Of the reply.
    ///   - make: The reply with all its fields.
    func reply(for key: String, body: ListenerReply.Body, make: () -> ListenerReply) -> ListenerReply {
        let head = self.heads.withLock { heads -> SharedHead? in
            if let head = heads[key] { return head }
            guard heads.count < Self.most else { return nil }
            let head = SharedHead(make())
            heads[key] = head
            return head
        }
        return head.map { ListenerReply($0, body: body) } ?? make()
    }
}
