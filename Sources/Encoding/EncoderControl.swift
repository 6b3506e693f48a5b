package import MediaTypes
import Synchronization

/// Lets the room observe and control the encoders while they run.
package final class EncoderControl: Sendable {
    private struct State {
        /// By track, the newest tick whose frame has entered the encoder.
        var entered: [Int64?]
        /// Tracks whose encoders are to be replaced by their cheaper siblings at the next IDR frame.
        var thrifty: Set<Int> = []
        /// Tracks that use their siblings.
        var cheap: Set<Int> = []
        /// Tracks whose siblings would need another initialization segment, so that they are never used.
        var refused: Set<Int> = []
        /// By track, bit rates that differ from those the encoder was opened with.
        var rates: [Int: BitRates] = [:]
        /// Tracks whose next frame must be an IDR frame, whether or not the GOP grid has one there.
        var asked: Set<Int> = []
    }

    private let state: Mutex<State>
    private let held = Atomic<Int64>(.min)
    private let keepsMotion = Atomic<Bool>(false)
    /// While frames are dropped, those at multiples of so many ticks are encoded: six to eight per second, since
    /// viewers still see motion then, and a freeze if a frame is shown for 250 ms. A multiple of 4 where possible, so
    /// that renditions with half or a quarter of the canvas rate have frames at these ticks.
    let stride: Int64

    /// - Parameter fps: The canvas rate.
    init(tracks: Int, fps: Int) {
        self.state = Mutex(State(entered: Array(repeating: nil, count: tracks)))
        let wanted = fps / 6
        self.stride = Int64(wanted < 4 ? 2 : wanted & ~3)
    }

    /// The newest tick whose frame has entered every encoder; `nil` until every encoder has had its first frame.
    package var enteredByAll: Int64? {
        self.state.withLock { state in
            let known = state.entered.compactMap { $0 }
            return known.count == state.entered.count ? known.min() : nil
        }
    }

    /// Replaces the encoder of a track by its cheaper sibling, at the next IDR frame of the grid, or at once while
    /// frames are held; or back, at the next IDR frame of the grid.
    package func setThrifty(_ isThrifty: Bool, track: Int) {
        self.state.withLock { state in
            if isThrifty { state.thrifty.insert(track) } else { state.thrifty.remove(track) }
        }
    }

    /// Encodes a track with these bit rates from its next IDR frame of the grid on. The caller must have checked that
    /// they fit (``EncodingStage/takes(_:track:)``).
    package func setRates(_ rates: BitRates, track: Int) { self.state.withLock { $0.rates[track] = rates } }

    /// Tracks that are encoded by their siblings now.
    package var cheapTracks: Set<Int> { self.state.withLock { $0.cheap } }

    /// An encoder exchange is pending: it waits for an IDR frame, or for the end of passthrough.
    package var isExchanging: Bool {
        self.state.withLock { $0.thrifty.subtracting($0.refused) != $0.cheap }
    }

    /// For the waiting frames up to `tick`, encodes the previous one again, which takes almost no time. Encoders that
    /// are to be replaced by their siblings are replaced at once, and the frames inside them are treated the same way.
    ///
    /// - Parameter keepsMotion: Encodes six to eight of these frames per second.
    package func dropPictures(before tick: Int64, keepsMotion: Bool) {
        self.keepsMotion.store(keepsMotion, ordering: .relaxed)
        self.held.store(tick, ordering: .relaxed)
    }

    /// Makes the next frame of a track an IDR frame, in addition to those of the grid. During passthrough, the
    /// request waits until the rendition is encoded again.
    package func requestKeyframe(track: Int) { self.state.withLock { _ = $0.asked.insert(track) } }

    // MARK: Called by the encoders

    /// Whether an IDR frame was requested since the last call.
    func takeKeyframeRequest(_ track: Int) -> Bool { self.state.withLock { $0.asked.remove(track) != nil } }

    /// Whether some frames of the dropped backlog are shown.
    var isMotionKept: Bool { self.keepsMotion.load(ordering: .relaxed) }

    /// Whether the frame of a tick belongs to a dropped backlog.
    func drops(_ tick: Int64) -> Bool { tick < self.held.load(ordering: .relaxed) }

    /// Whether the frame of a tick repeats the previous one.
    func holds(_ tick: Int64) -> Bool {
        self.drops(tick) && (tick % self.stride != 0 || !self.isMotionKept)
    }

    func entered(_ tick: Int64, track: Int) {
        self.state.withLock { if $0.entered.indices.contains(track) { $0.entered[track] = tick } }
    }

    func wantsSibling(_ track: Int) -> Bool {
        self.state.withLock { $0.thrifty.contains(track) && !$0.refused.contains(track) }
    }

    /// The track's bit rates; `nil`: those it was opened with.
    func rates(_ track: Int) -> BitRates? { self.state.withLock { $0.rates[track] } }

    func note(_ track: Int, isCheap: Bool) {
        self.state.withLock { state in
            if isCheap { state.cheap.insert(track) } else { state.cheap.remove(track) }
        }
    }

    func refuse(_ track: Int) { self.state.withLock { _ = $0.refused.insert(track) } }
}
