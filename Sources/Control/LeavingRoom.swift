import Synchronization

/// Which requests a room still answers that is over and serves its viewers on.
final class LeavingRoom: Sendable {
    private let hasBegun = Atomic(false)

    func begin() { self.hasBegun.store(true, ordering: .releasing) }

    /// - Returns: `nil` for a request that is answered.
    func refusal(of route: ControlRoute?) -> ControlFailure? {
        guard self.hasBegun.load(ordering: .acquiring) else { return nil }
        switch route {
        case .end, .drain: return nil
        case .some(let route) where route.isProbe: return nil
        default: return Self.over
        }
    }

    private static let over = ControlFailure.roomExited(
        "the room is over; only its viewers are served on",
        fix: "GET /livez, or POST /v1/room:end to end that, too")
}
