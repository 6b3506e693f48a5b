import HTTPListener
import Synchronization

/// A cache of response heads for an object that is sent as a whole: one head for each CORS origin that needs its own,
/// made by the first reply.
package final class SharedHeads: Sendable {
    /// Maximum number of cached heads; replies for further origins are made each time.
    private static let most = 16

    private let heads = Mutex<[String: SharedHead]>([:])

    package init() {}

    /// Returns a reply with a cached head, which is made first if necessary.
    ///
    /// - Parameters:
    ///   - key: The CORS key that the head depends on, see ``CORSPolicy/key(origin:)``; empty for none.
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
