import Synchronization

/// The state of a room behind its lock; see ``RoomState``.
final class RoomValue: Sendable {
    private let state: Mutex<RoomState>

    init(_ state: RoomState) { self.state = Mutex(state) }

    func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout RoomState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.state.withLock { state throws(Failure) in try body(&state) }
    }

    /// Access to one part of the state, for a type that does not use the rest.
    func part<Part>(_ path: WritableKeyPath<RoomState, Part> & Sendable) -> RoomPart<Part> {
        RoomPart(value: self, path: path)
    }
}

/// Access to one part of a room's state, under the room's lock.
struct RoomPart<Part: Sendable>: Sendable {
    fileprivate let value: RoomValue
    fileprivate let path: WritableKeyPath<RoomState, Part> & Sendable

    /// Calls `body` with the part while the lock is held. See ``RoomState`` for what `body` must not do.
    func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout Part) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.value.withLock { state throws(Failure) in try body(&state[keyPath: self.path]) }
    }
}
