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
        /// By track, bit rates that replace those of the rendition's settings.
        var rates: [Int: BitRates] = [:]
        /// By track, why libx264 encodes it instead of the hardware encoder.
        var fallbacks: [Int: EncoderFallback] = [:]
        /// Tracks whose next frame must be an IDR frame, whether or not the GOP grid has one there.
        var asked: Set<Int> = []
        /// Tracks that are to sleep from the next segment on.
        var resting: Set<Int> = []
        /// Tracks that sleep, and whose encoder has output everything.
        var asleep: Set<Int> = []
        /// The newest tick that was passed over because every rendition sleeps, or at which one fell asleep or woke.
        var passed: Int64?
    }

    private let state: Mutex<State>
    private let held = Atomic<Int64>(.min)
    private let keepsMotion = Atomic<Bool>(false)
    /// By track, the number of ticks from one encoded frame to the next while a backlog is dropped and motion is kept.
    private let strides: [Int64]

    /// - Parameters:
    ///   - steps: By track, ticks from one of its frames to the next; see ``EncodedRendition/frameStep``.
    ///   - fps: The canvas rate.
    init(steps: [Int], fps: Int) {
        self.state = Mutex(State(entered: Array(repeating: nil, count: steps.count)))
        self.strides = steps.map { Int64($0 * Self.framesPerShown(fps: fps / max(1, $0))) }
    }

    /// Returns the number n for which every n-th frame of a dropped backlog is still encoded.
    ///
    /// This leaves six to eight frames per second where a whole number n does that, because viewers see a freeze if a
    /// frame is shown for 250 ms. At eight frames per second or fewer, all frames are encoded. n is a power of two where
    /// possible, so that a rendition at half the rate has its frames at the same ticks.
    ///
    /// - Parameter fps: Frames per second of the rendition.
    package static func framesPerShown(fps: Int) -> Int {
        let least = max(1, fps / 8 + (fps % 8 == 0 ? 0 : 1))
        var power = 1
        while power < least { power *= 2 }
        return fps / 6 >= power ? power : least
    }

    /// The newest tick whose frame has entered every encoder that does not sleep; `nil` until each of them has had its
    /// first frame. While all sleep, the newest tick that was passed over.
    package var enteredByAll: Int64? {
        self.state.withLock { state in
            let awake = state.entered.indices.filter { !state.asleep.contains($0) }
            if awake.isEmpty, !state.entered.isEmpty { return state.passed }
            let known = awake.compactMap { state.entered[$0] }
            return known.count == awake.count ? known.min() : nil
        }
    }

    /// Sets the tracks that sleep from the next segment on: they are neither scaled nor encoded. All other tracks wake at
    /// the next segment.
    package func setAsleep(_ tracks: Set<Int>) { self.state.withLock { $0.resting = tracks } }

    /// Tracks that sleep now.
    package var sleepingTracks: Set<Int> { self.state.withLock { $0.asleep } }

    /// Whether a track other than this one (`nil`: any track) is encoded, or is about to wake.
    package func encodes(otherThan track: Int? = nil) -> Bool {
        self.state.withLock { state in
            state.entered.indices.contains {
                $0 != track && !(state.asleep.contains($0) && state.resting.contains($0))
            }
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

    /// By track, why libx264 encodes it instead of the hardware encoder that the pipeline names.
    package var fallbacks: [Int: EncoderFallback] { self.state.withLock { $0.fallbacks } }

    /// Whether a requested exchange of an encoder is pending: it waits for an IDR frame, or for the end of passthrough.
    package var isExchanging: Bool {
        self.state.withLock { $0.thrifty.subtracting($0.refused).subtracting($0.asleep) != $0.cheap }
    }

    /// Drops the frames before `tick`: the frame before them is encoded again for each of them, which takes almost no
    /// time. Encoders that are to be replaced by their siblings (cheaper encoders) are replaced at once, and the frames
    /// inside them are treated the same way.
    ///
    /// - Parameter keepsMotion: Encodes some of these frames; see ``framesPerShown(fps:)``.
    package func dropPictures(before tick: Int64, keepsMotion: Bool) {
        self.keepsMotion.store(keepsMotion, ordering: .relaxed)
        self.held.store(tick, ordering: .relaxed)
    }

    /// Makes the next frame of a track an IDR frame, in addition to those of the GOP grid. During passthrough, the
    /// request waits until the rendition is encoded again.
    package func requestKeyframe(track: Int) { self.state.withLock { _ = $0.asked.insert(track) } }

    // MARK: Called by the encoders

    /// Tracks that were requested to sleep.
    var restingTracks: Set<Int> { self.state.withLock { $0.resting } }

    /// Notes that a track's encoder has output everything from before the track fell asleep.
    func fellAsleep(_ track: Int) {
        self.state.withLock { state in
            state.asleep.insert(track)
            state.cheap.remove(track)
        }
    }

    /// Notes a tick for which no frame is encoded, because every rendition sleeps, or at which one falls asleep or wakes.
    func passed(_ tick: Int64) { self.state.withLock { $0.passed = tick } }

    /// Notes that a track gets frames again, from `tick` on.
    func woke(_ track: Int, at tick: Int64) {
        self.state.withLock { state in
            state.asleep.remove(track)
            if state.entered.indices.contains(track) { state.entered[track] = tick - 1 }
        }
    }

    /// Whether an IDR frame was requested since the last call.
    func takeKeyframeRequest(_ track: Int) -> Bool { self.state.withLock { $0.asked.remove(track) != nil } }

    /// Whether some frames of a dropped backlog are encoded nevertheless; see ``framesPerShown(fps:)``.
    var isMotionKept: Bool { self.keepsMotion.load(ordering: .relaxed) }

    /// Whether the frame of a tick belongs to a dropped backlog.
    func drops(_ tick: Int64) -> Bool { tick < self.held.load(ordering: .relaxed) }

    /// Whether a track's frame of a tick repeats the previous one.
    func holds(_ tick: Int64, track: Int) -> Bool {
        self.drops(tick) && (tick % self.stride(track) != 0 || !self.isMotionKept)
    }

    /// Ticks from one frame of a dropped backlog that is encoded to the next; 1 or more.
    func stride(_ track: Int) -> Int64 { self.strides.indices.contains(track) ? max(1, self.strides[track]) : 1 }

    func entered(_ tick: Int64, track: Int) {
        self.state.withLock { if $0.entered.indices.contains(track) { $0.entered[track] = tick } }
    }

    func wantsSibling(_ track: Int) -> Bool {
        self.state.withLock { $0.thrifty.contains(track) && !$0.refused.contains(track) }
    }

    /// Returns the bit rates that were set for a track; `nil`: those of the rendition's settings.
    func rates(_ track: Int) -> BitRates? { self.state.withLock { $0.rates[track] } }

    func note(_ track: Int, isCheap: Bool) {
        self.state.withLock { state in
            if isCheap { state.cheap.insert(track) } else { state.cheap.remove(track) }
        }
    }

    /// Notes that libx264 encodes a track from now on, so that it has a sibling (a cheaper encoder) again.
    func note(_ fallback: EncoderFallback, track: Int) {
        self.state.withLock { state in
            state.fallbacks[track] = fallback
            state.refused.remove(track)
        }
    }

    func refuse(_ track: Int) { self.state.withLock { _ = $0.refused.insert(track) } }
}
