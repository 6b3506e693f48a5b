import Program
import Synchronization

/// What the program thread has measured, until the life's thread tells of it: a measurement takes nothing from the heap, an
/// event does.
final class SoundLevelDesk: Sendable {
    /// Reports that may wait. The life looks twenty times a second; the shortest interval is a block of sound.
    private static let limit = 16

    private struct State {
        var latest: SoundLevels?
        var untold: [SoundLevels] = []
    }

    private let state: Mutex<State>

    init() {
        var state = State()
        state.untold.reserveCapacity(Self.limit)
        self.state = Mutex(state)
    }

    /// As last measured; `nil` where nothing is.
    var latest: SoundLevels? { self.state.withLock { $0.latest } }

    /// No allocation.
    func note(_ levels: SoundLevels) {
        self.state.withLock { state in
            state.latest = levels
            if state.untold.count < Self.limit { state.untold.append(levels) }
        }
    }

    /// What has not been told, in order.
    func takeUntold() -> [SoundLevels] {
        guard self.state.withLock({ !$0.untold.isEmpty }) else { return [] }
        var taken: [SoundLevels] = []
        taken.reserveCapacity(Self.limit)
        self.state.withLock { swap(&taken, &$0.untold) }
        return taken
    }
}
