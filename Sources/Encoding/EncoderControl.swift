package import MediaTypes
import Synchronization

/// Lets the room observe and control the encoders while they run.
package final class EncoderControl: Sendable {
    private struct State {
        /// By track, the newest tick whose frame has entered the encoder.
        var entered: [Int64?]
        /// Tracks that are to be encoded by their siblings (cheaper encoders) from the next IDR frame on.
        var thrifty: Set<Int> = []
        /// Tracks that are encoded by their siblings (cheaper encoders) now.
        var cheap: Set<Int> = []
        /// Tracks whose siblings (cheaper encoders) would need another initialization segment, so that they are never
        /// used.
        var refused: Set<Int> = []
        /// By track, bit rates that differ from those the encoder was opened with.
        var rates: [Int: BitRates] = [:]
        /// Tracks whose next frame must be an IDR frame, whether or not the GOP grid has one there.
        var asked: Set<Int> = []
    }

    private let state: Mutex<State>
    private let held = Atomic<Int64>(.min)
    private let keepsMotion = Atomic<Bool>(false)
    /// Ticks between two frames that are still encoded while frames are dropped. That is six to eight frames per
    /// second: viewers still see motion, while a frame shown for 250 ms looks frozen. A multiple of 4 where possible,
    /// so that renditions with half or a quarter of the canvas rate have frames at these ticks.
    let stride: Int64

    /// Creates the control of a ladder's encoders.
    ///
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

    /// Requests that a track be encoded by its sibling, a cheaper encoder, or by its full encoder again. The exchange
    /// happens at the next IDR frame of the GOP grid; the change to the sibling happens at once while frames are
    /// dropped.
    package func setThrifty(_ isThrifty: Bool, track: Int) {
        self.state.withLock { state in
            if isThrifty { state.thrifty.insert(track) } else { state.thrifty.remove(track) }
        }
    }

    /// Encodes a track with these bit rates from its next IDR frame of the GOP grid on. The caller must have checked
    /// that the rates fit the initialization segment (``EncodingStage/takes(_:track:)``).
    package func setRates(_ rates: BitRates, track: Int) { self.state.withLock { $0.rates[track] = rates } }

    /// Tracks that are encoded by their siblings (cheaper encoders) now.
    package var cheapTracks: Set<Int> { self.state.withLock { $0.cheap } }

    /// Whether a requested exchange of an encoder is pending: it waits for an IDR frame, or for the end of passthrough.
    package var isExchanging: Bool {
        self.state.withLock { $0.thrifty.subtracting($0.refused) != $0.cheap }
    }

    /// Drops the frames before `tick`: the frame before them is encoded again for each of them, which takes almost no
    /// time. Encoders that are to be replaced by their siblings (cheaper encoders) are replaced at once, and the frames
    /// inside them are treated the same way.
    ///
    /// - Parameter keepsMotion: Whether to encode six to eight of the dropped frames per second nevertheless.
    package func dropPictures(before tick: Int64, keepsMotion: Bool) {
        self.keepsMotion.store(keepsMotion, ordering: .relaxed)
        self.held.store(tick, ordering: .relaxed)
    }

    /// Makes the next frame of a track an IDR frame, in addition to those of the GOP grid. During passthrough, the
    /// request waits until the rendition is encoded again.
    package func requestKeyframe(track: Int) { self.state.withLock { _ = $0.asked.insert(track) } }

    // MARK: Called by the encoders

    /// Whether an IDR frame was requested since the last call.
    func takeKeyframeRequest(_ track: Int) -> Bool { self.state.withLock { $0.asked.remove(track) != nil } }

    /// Whether six to eight frames per second of the dropped backlog are encoded nevertheless.
    var isMotionKept: Bool { self.keepsMotion.load(ordering: .relaxed) }

    /// Whether the frame of a tick belongs to a dropped backlog.
    func drops(_ tick: Int64) -> Bool { tick < self.held.load(ordering: .relaxed) }

    /// Whether the frame of a tick is replaced by the previous frame, because it is dropped.
    func holds(_ tick: Int64) -> Bool {
        self.drops(tick) && (tick % self.stride != 0 || !self.isMotionKept)
    }

    func entered(_ tick: Int64, track: Int) {
        self.state.withLock { if $0.entered.indices.contains(track) { $0.entered[track] = tick } }
    }

    func wantsSibling(_ track: Int) -> Bool {
        self.state.withLock { $0.thrifty.contains(track) && !$0.refused.contains(track) }
    }

    /// Returns the bit rates that were set for a track; `nil`: those that its encoder was opened with.
    func rates(_ track: Int) -> BitRates? { self.state.withLock { $0.rates[track] } }

    func note(_ track: Int, isCheap: Bool) {
        self.state.withLock { state in
            if isCheap { state.cheap.insert(track) } else { state.cheap.remove(track) }
        }
    }

    func refuse(_ track: Int) { self.state.withLock { _ = $0.refused.insert(track) } }
}
