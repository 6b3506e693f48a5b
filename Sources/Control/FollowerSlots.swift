import Synchronization

/// Limits the number of clients that follow events, statistics or audio. Each keeps a connection open for as long as it likes,
/// and some connections must remain for other requests.
final class FollowerSlots: Sendable {
    /// The permission of one client to follow, which is returned when the last reference is released.
    final class Place: Sendable {
        private let places: FollowerSlots

        fileprivate init(_ places: FollowerSlots) { self.places = places }

        deinit { self.places.taken.withLock { $0 -= 1 } }
    }

    /// Default number of permissions, including those of ``reserved``.
    static let usual = 32
    /// Number of permissions that are reserved for clients with command access.
    static let reserved = 8

    private let most: Int
    private let taken = Mutex(0)

    init(most: Int = FollowerSlots.usual) { self.most = most }

    /// Takes a permission. nil if all are taken, or if only those reserved for command access are left.
    func take(isCommander: Bool = true) -> Place? {
        let most = isCommander ? self.most : self.most - Self.reserved
        let isFree = self.taken.withLock { taken in
            guard taken < most else { return false }
            taken += 1
            return true
        }
        return isFree ? Place(self) : nil
    }

    static let refusal = ControlFailure.limitExceeded(
        "too many clients follow this room: the limit is \(FollowerSlots.usual), of which \(FollowerSlots.reserved) "
            + "are reserved for clients with command access",
        fix: "close one of these connections, or poll GET /v1/events?after=N")
}
