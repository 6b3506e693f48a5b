import Synchronization

/// How many clients may follow what happens at once: each keeps a connection for as long as it likes, and some are to be left
/// for those who ask and go.
final class FollowerPlaces: Sendable {
    /// One client's place; free again when nothing holds it any more.
    final class Place: Sendable {
        private let places: FollowerPlaces

        fileprivate init(_ places: FollowerPlaces) { self.places = places }

        deinit { self.places.taken.withLock { $0 -= 1 } }
    }

    static let usual = 32
    /// Of those, for who may command.
    static let reserved = 8

    private let most: Int
    private let taken = Mutex(0)

    init(most: Int = FollowerPlaces.usual) { self.most = most }

    /// `nil`: all are taken, or all but those for who may command.
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
        "\(FollowerPlaces.usual) clients follow this room already, or all but the \(FollowerPlaces.reserved) who may command",
        fix: "close one of them, or ask for GET /v1/events?after=N")
}
