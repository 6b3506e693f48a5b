import Synchronization

/// Decides which requests are still answered when the room has ended and only its viewers are served.
final class LeavingRoom: Sendable {
    private let hasBegun = Atomic(false)

    func begin() { self.hasBegun.store(true, ordering: .releasing) }

    /// Why a request is refused; nil if it is answered.
    func refusal(of route: ControlRoute?) -> ControlFailure? {
        guard self.hasBegun.load(ordering: .acquiring) else { return nil }
        switch route {
        case .end, .drain: return nil
        case .some(let route) where route.isProbe: return nil
        default: return Self.over
        }
    }

    private static let over = ControlFailure.roomExited(
        "the room has ended; only its viewers are still served",
        fix: "use GET /livez, or POST /v1/room:end to stop serving viewers")
}
