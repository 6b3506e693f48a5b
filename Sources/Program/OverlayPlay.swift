import Dispatch
import LibAV
import MediaKernels
import MediaTypes
import Synchronization
import Threading

/// One play of an animation: a thread that decodes it ahead of the program, and the frames and audio that wait for their
/// ticks. The program thread never waits for it.
final class OverlayPlay: Sendable {
    /// What the program thread does with the play at a tick.
    enum Step {
        /// The play has not started.
        case early
        /// The play is on air; `nil`: it has no frame for this tick.
        case shows(Picture.Overlay?)
        /// The play is over. `nil`: it was played to its end.
        case over(MediaError?)
    }

    /// Largest number of decoded frames that wait.
    private static let mostFrames = 8
    /// How far the audio is read ahead, in nanoseconds.
    private static let audioAhead: Int64 = 700_000_000
    /// Longest play in nanoseconds, all loops together.
    static let longest: Int64 = 60_000_000_000
    /// Number of sample pairs of audio that can wait: 2.7 s at 48 kHz.
    private static let ringPairs = 1 << 17

    private struct State {
        var frames: [(time: Int64, overlay: Picture.Overlay)] = []
        var shown: Picture.Overlay?
        /// Time of the tick that was run last, from the start of the play, in nanoseconds; negative before it.
        var elapsed: Int64
        /// When the last frame and the whole play end; `nil` while this is not known.
        var end: (video: Int64, all: Int64)?
        var failure: MediaError?
        var isStopped = false
        var ring = AudioRing(fade: 240, size: OverlayPlay.ringPairs)
        var hasAudio = false
        var audio: [Float] = []
    }

    let id: Int64
    let request: OverlayRequest
    let startTick: Int64
    private let fps: Int64
    private let sampleRate: Int64
    private let state: Mutex<State>
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameter tick: The current tick.
    init(_ start: OverlayLineup.Start, now tick: Int64, fps: Int, sampleRate: Int) {
        (self.id, self.request, self.startTick) = (start.id, start.request, start.tick)
        (self.fps, self.sampleRate) = (Int64(max(1, fps)), Int64(max(1, sampleRate)))
        self.state = Mutex(
            State(
                elapsed: TimeMath.scale(
                    tick &- start.tick, by: TimeMath.nanoseconds, over: Int64(max(1, fps)))))
    }

    /// Starts the thread that decodes the animation.
    func start() -> StageThread { StageThread("overlay") { self.run() } }

    /// Ends a play that has no thread at its first tick.
    func fail(_ error: MediaError) { self.state.withLock { $0.failure = error } }

    /// Ends the thread as soon as it has finished its current packet.
    func stop() {
        self.state.withLock { state in
            state.isStopped = true
            (state.frames, state.shown) = ([], nil)
        }
        self.wake.signal()
    }

    // MARK: The program thread

    /// Advances to a tick. Does not block.
    func advance(to tick: Int64) -> Step {
        let elapsed = TimeMath.scale(tick &- self.startTick, by: TimeMath.nanoseconds, over: self.fps)
        // Times of files are rounded, some to milliseconds.
        let due = elapsed &+ TimeMath.nanoseconds / self.fps / 4
        let (step, hasSpace) = self.state.withLock { state -> (Step, Bool) in
            state.elapsed = elapsed
            guard elapsed >= 0 else { return (.early, false) }
            var hasSpace = false
            while let next = state.frames.first, next.time <= due {
                state.shown = next.overlay
                state.frames.removeFirst()
                hasSpace = true
            }
            if let failure = state.failure, state.frames.isEmpty { return (.over(failure), hasSpace) }
            if let end = state.end {
                if due >= end.all { return (.over(nil), hasSpace) }
                if due >= end.video, state.frames.isEmpty { state.shown = nil }
            }
            if elapsed >= Self.longest {
                let limit = MediaError(
                    .rejected, "the animation is longer than \(Self.longest / TimeMath.nanoseconds) s",
                    at: "overlay[\(self.request.name)]", fix: "use a shorter one, or fewer loops")
                return (.over(limit), hasSpace)
            }
            return (.shows(state.shown), hasSpace)
        }
        if hasSpace { self.wake.signal() }
        return step
    }

    /// Adds the audio of `range` onto `target`, interleaved stereo. Does not block.
    ///
    /// - Parameter isLast: Whether the audio fades out in this range.
    func mix(_ range: Range<Int64>, onto target: inout [Float], isLast: Bool) {
        self.state.withLock { state in
            guard state.hasAudio else { return }
            let count = range.count * 2
            if state.audio.count != count { state.audio = [Float](repeating: 0, count: count) }
            guard state.ring.take(range, into: &state.audio) > 0 else { return }
            AudioMix.add(
                state.audio, onto: &target, pairs: 0..<range.count, from: self.request.volume,
                to: isLast ? 0 : self.request.volume)
        }
    }

    // MARK: The decoding thread

    private var isStopped: Bool { self.state.withLock { $0.isStopped } }

    /// Position of the first sample pair of the play.
    private var position: Int64 { TimeMath.scale(self.startTick, by: self.sampleRate, over: self.fps, rounding: .down) }

    private func run() {
        do throws(MediaError) {
            var base: Int64 = 0
            for loop in 1...self.request.loops {
                guard let (video, audio) = try self.playOnce(from: base) else { return }
                let all = max(video, audio)
                guard video > 0 else {
                    throw MediaError(
                        .invalidData, "\(self.request.path) has no frame that can be decoded",
                        at: "overlay[\(self.request.name)]", fix: "give a WebM, APNG or MP4 file")
                }
                let (start, isLast) = (base, loop == self.request.loops)
                if isLast { self.state.withLock { $0.end = (start &+ video, start &+ all) } }
                base &+= all
            }
        } catch {
            self.state.withLock { $0.failure = error }
        }
    }

    /// Decodes the file once, as fast as the program shows it.
    ///
    /// - Parameter base: Time of its first frame from the start of the play, in nanoseconds.
    /// - Returns: The ends of video and audio from `base`, in nanoseconds; `nil` if the play was stopped.
    private func playOnce(from base: Int64) throws(MediaError) -> (Int64, Int64)? {
        let reader = try AnimationReader.open(
            path: self.request.path, alpha: self.request.alpha, box: self.request.box, sampleRate: Int(self.sampleRate),
            place: "overlay[\(self.request.name)]")
        let hasAudio = reader.hasAudio && self.request.volume > 0
        while true {
            let (isStopped, waiting, elapsed) = self.state.withLock { ($0.isStopped, $0.frames.count, $0.elapsed) }
            if isStopped { return nil }
            if reader.isOver { return (reader.videoEnd, hasAudio ? reader.audioEnd : 0) }
            let isAudioShort = hasAudio && base &+ reader.audioEnd &- elapsed < Self.audioAhead
            if reader.canRead, !reader.canDecode || isAudioShort {
                reader.read { samples, time in if hasAudio { self.put(samples, at: base &+ time, base) } }
            } else if waiting < Self.mostFrames, reader.canDecode {
                try reader.decode { frame in
                    let overlay = Picture.Overlay(frame.picture, x: reader.target.x, y: reader.target.y)
                    self.state.withLock { state in
                        if !state.isStopped { state.frames.append((base &+ frame.time, overlay)) }
                    }
                }
            } else {
                // Woken when a frame was shown; the timeout lets the audio be read ahead in between.
                _ = self.wake.wait(timeout: .now() + .milliseconds(100))
            }
        }
    }

    /// Keeps audio for the program. Audio before the first frame is left out.
    ///
    /// - Parameter time: Time of its first pair from the start of the play, in nanoseconds.
    private func put(_ samples: [Float], at time: Int64, _ base: Int64) {
        let first = TimeMath.scale(time, by: self.sampleRate, over: TimeMath.nanoseconds)
        let start = TimeMath.scale(base, by: self.sampleRate, over: TimeMath.nanoseconds)
        let skip = Int(clamping: max(0, start &- first))
        guard skip < samples.count / 2 else { return }
        let position = self.position &+ first &+ Int64(skip)
        self.state.withLock { state in
            state.hasAudio = true
            state.ring.write(skip == 0 ? samples : Array(samples[(2 * skip)...]), at: position)
        }
    }
}
