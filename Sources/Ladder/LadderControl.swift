package import MediaTypes
import Synchronization

/// What the room knows of the encoders and tells them while they run.
package final class LadderControl: Sendable {
    private struct State {
        /// By track, the newest tick that has entered its encoder.
        var entered: [Int64?]
        /// Tracks whose encoders are to be their siblings from their next IDR picture on.
        var thrifty: Set<Int> = []
        /// Those that are.
        var cheap: Set<Int> = []
        /// Those whose siblings would need another initialization segment, and are never used.
        var refused: Set<Int> = []
        /// By track, where they are not those it was opened with.
        var rates: [Int: BitRates] = [:]
        /// Those whose next picture is to be an IDR picture, whatever the grid says.
        var asked: Set<Int> = []
    }

    private let state: Mutex<State>
    private let held = Atomic<Int64>(.min)

    init(tracks: Int) { self.state = Mutex(State(entered: Array(repeating: nil, count: tracks))) }

    /// The newest tick that every encoder has begun with; `nil` before each has had its first.
    package var enteredByAll: Int64? {
        self.state.withLock { state in
            let known = state.entered.compactMap { $0 }
            return known.count == state.entered.count ? known.min() : nil
        }
    }

    /// Replaces the encoder of a track by its cheaper sibling at the next IDR picture of the grid, or at once where pictures
    /// are held; or back, at the next IDR picture.
    package func setThrifty(_ isThrifty: Bool, track: Int) {
        self.state.withLock { state in
            if isThrifty { state.thrifty.insert(track) } else { state.thrifty.remove(track) }
        }
    }

    /// Codes a track by these bit rates from its next IDR picture of the grid on. Whoever asks makes sure that they fit
    /// (``LadderStage/takes(_:track:)``).
    package func setRates(_ rates: BitRates, track: Int) { self.state.withLock { $0.rates[track] = rates } }

    /// Tracks that are coded by their siblings now.
    package var cheapTracks: Set<Int> { self.state.withLock { $0.cheap } }

    /// An encoder that is to be replaced waits for its IDR frame, or stands aside for a publisher's packets.
    package var isExchanging: Bool {
        self.state.withLock { $0.thrifty.subtracting($0.refused) != $0.cheap }
    }

    /// Codes the picture before once more for every picture that waits, up to `tick`: that is done in no time. Encoders that
    /// are to be their siblings are so at once, and what they hold is coded like that too.
    package func holdPictures(before tick: Int64) { self.held.store(tick, ordering: .relaxed) }

    /// Makes the next picture of a track that its encoder gets an IDR picture, besides those of the grid. Not while packets of a
    /// publisher stand for it.
    package func requestKeyframe(track: Int) { self.state.withLock { _ = $0.asked.insert(track) } }

    // MARK: The encoders' side

    /// Whether an IDR picture was asked for since the last call.
    func takeKeyframeRequest(_ track: Int) -> Bool { self.state.withLock { $0.asked.remove(track) != nil } }

    func holds(_ tick: Int64) -> Bool { tick < self.held.load(ordering: .relaxed) }

    func entered(_ tick: Int64, track: Int) {
        self.state.withLock { if $0.entered.indices.contains(track) { $0.entered[track] = tick } }
    }

    func wantsSibling(_ track: Int) -> Bool {
        self.state.withLock { $0.thrifty.contains(track) && !$0.refused.contains(track) }
    }

    /// `nil`: those it was opened with.
    func rates(_ track: Int) -> BitRates? { self.state.withLock { $0.rates[track] } }

    func note(_ track: Int, isCheap: Bool) {
        self.state.withLock { state in
            if isCheap { state.cheap.insert(track) } else { state.cheap.remove(track) }
        }
    }

    func refuse(_ track: Int) { self.state.withLock { _ = $0.refused.insert(track) } }
}
