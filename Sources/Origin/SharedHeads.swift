import HTTPListener
import Synchronization

/// The shared heads of replies with a whole object: one for each origin that needs its own, made by the first reply.
package final class SharedHeads: Sendable {
    /// Most heads to keep; replies for further origins do not share a head.
    private static let most = 16

    private let heads = Mutex<[String: SharedHead]>([:])

    package init() {}

    /// - Parameters:
    ///   - key: The value besides the object that the head depends on; empty for none.
    ///   - body: Body of the reply.
    ///   - make: Makes the complete reply with all its fields.
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
