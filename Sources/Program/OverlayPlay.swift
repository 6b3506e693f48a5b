import Dispatch
import LibAV
import MediaKernels
import MediaTypes
import Synchronization
import Threading

/// One play of an animation: a thread that decodes it ahead of the program or finds it in the cache, and the frames and
/// audio that wait for their ticks. The program thread never waits for it.
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
    /// Largest number of blocks of recorded audio that are passed on at once.
    private static let mostAudio = 64
    /// Longest play in nanoseconds, all loops together.
    static let longest: Int64 = 60_000_000_000
    /// Number of sample pairs of audio that can wait: 2.7 s at 48 kHz.
    private static let ringPairs = 1 << 17

    private struct State {
        var frames: [(time: Int64, overlay: Picture.Overlay)] = []
        /// The recorded animation that is played after `frames`; `nil`: it is decoded.
        var replay: AnimationReplay?
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
    private let cache: SharedAnimations
    private let state: Mutex<State>
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameter tick: The current tick.
    init(_ start: OverlayLineup.Start, now tick: Int64, fps: Int, sampleRate: Int, cache: SharedAnimations) {
        self.cache = cache
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
            (state.frames, state.shown, state.replay) = ([], nil, nil)
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
            if state.frames.isEmpty, let frame = state.replay?.frame(by: due), let animation = state.replay?.animation {
                let box = self.request.box
                state.shown = Picture.Overlay(frame, x: box.x + animation.x, y: box.y + animation.y)
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
            if state.replay != nil {
                let end = TimeMath.scale(
                    range.upperBound &- self.position, by: TimeMath.nanoseconds, over: self.sampleRate)
                self.putRecorded(before: end &+ Self.audioAhead, &state)
            }
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
                // Another play, or the loop before, may have recorded it.
                let key = self.key
                if let key, self.replay(key, from: base, loops: self.request.loops - loop + 1) { return }
                guard let (video, audio) = try self.playOnce(from: base, recording: key) else { return }
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

    private var hasAudio: Bool { self.request.volume > 0 }

    /// The file's key in the cache; `nil` if there is no such file.
    private var key: AnimationCache.Key? {
        guard let version = FileVersion(path: self.request.path) else { return nil }
        return AnimationCache.Key(
            path: self.request.path, version: version, alpha: self.request.alpha, width: self.request.box.width,
            height: self.request.box.height, hasAudio: self.hasAudio)
    }

    /// Returns the program time of a time of the play; both in nanoseconds.
    private func programTime(_ time: Int64) -> Int64 {
        TimeMath.scale(self.startTick, by: TimeMath.nanoseconds, over: self.fps) &+ min(time, Self.longest)
    }

    /// Lets the program thread play the animation from the cache.
    ///
    /// - Parameter base: Time of its first frame from the start of the play, in nanoseconds.
    /// - Returns: `false` if the animation is not in the cache.
    private func replay(_ key: AnimationCache.Key, from base: Int64, loops: Int) -> Bool {
        let animation = self.cache.withLock { cache in
            cache.find(key) { self.programTime(AnimationReplay($0, from: base, loops: loops).end.all) }
        }
        guard let animation else { return false }
        self.state.withLock { state in
            guard !state.isStopped else { return }
            let replay = AnimationReplay(animation, from: base, loops: loops)
            state.end = replay.end
            state.replay = replay
            // The first write allocates the ring's memory, which the program thread should not do.
            self.putRecorded(before: max(0, state.elapsed) &+ Self.audioAhead, &state)
        }
        return true
    }

    /// Decodes the file once, as fast as the program shows it, and records it if the cache has space.
    ///
    /// - Parameters:
    ///   - base: Time of its first frame from the start of the play, in nanoseconds.
    ///   - key: The file's key in the cache; `nil`: it is not recorded.
    /// - Returns: The ends of video and audio from `base`, in nanoseconds; `nil` if the play was stopped.
    private func playOnce(from base: Int64, recording key: AnimationCache.Key?) throws(MediaError) -> (Int64, Int64)? {
        let reader = try AnimationReader.open(
            path: self.request.path, alpha: self.request.alpha, box: self.request.box, sampleRate: Int(self.sampleRate),
            place: "overlay[\(self.request.name)]")
        let hasAudio = reader.hasAudio && self.hasAudio
        var recorder = AnimationRecorder(key, self.cache)
        defer { recorder.cancel() }
        while true {
            let (isStopped, waiting, elapsed) = self.state.withLock { ($0.isStopped, $0.frames.count, $0.elapsed) }
            if isStopped { return nil }
            if reader.isOver {
                let (video, audio) = (reader.videoEnd, hasAudio ? reader.audioEnd : 0)
                recorder.finish(
                    video: video, audio: audio, x: reader.target.x - self.request.box.x,
                    y: reader.target.y - self.request.box.y, until: self.programTime(base &+ max(video, audio)))
                return (video, audio)
            }
            let isAudioShort = hasAudio && base &+ reader.audioEnd &- elapsed < Self.audioAhead
            if reader.canRead, !reader.canDecode || isAudioShort {
                reader.read { samples, time in
                    guard hasAudio else { return }
                    recorder.add(samples, at: time)
                    self.state.withLock { self.put(samples, at: base &+ time, base, &$0) }
                }
                recorder.reserve(now: self.programTime(elapsed))
            } else if waiting < Self.mostFrames, reader.canDecode {
                try reader.decode { frame in
                    let (x, y) = (reader.target.x, reader.target.y)
                    // The packed frame needs less memory, and less time to be drawn.
                    let packed = recorder.add(frame)
                    let overlay =
                        packed.map { Picture.Overlay($0, x: x, y: y) } ?? Picture.Overlay(frame.picture, x: x, y: y)
                    self.state.withLock { state in
                        if !state.isStopped { state.frames.append((base &+ frame.time, overlay)) }
                    }
                }
                recorder.reserve(now: self.programTime(elapsed))
            } else {
                // Woken when a frame was shown; the timeout lets the audio be read ahead in between.
                _ = self.wake.wait(timeout: .now() + .milliseconds(100))
            }
        }
    }

    /// Keeps the recorded audio for the program that begins before `time`, in nanoseconds from the start of the play.
    private func putRecorded(before time: Int64, _ state: inout State) {
        // Both the program thread and a play's thread call this under the lock, so it must be short for any file.
        for _ in 0..<Self.mostAudio {
            guard let next = state.replay?.nextAudio(before: time) else { return }
            self.put(next.audio.samples, at: next.base &+ next.audio.time, next.base, &state)
        }
    }

    /// Keeps audio for the program. Audio before the first frame is left out.
    ///
    /// - Parameter time: Time of its first pair from the start of the play, in nanoseconds.
    private func put(_ samples: [Float], at time: Int64, _ base: Int64, _ state: inout State) {
        let first = TimeMath.scale(time, by: self.sampleRate, over: TimeMath.nanoseconds)
        let start = TimeMath.scale(base, by: self.sampleRate, over: TimeMath.nanoseconds)
        let skip = Int(clamping: max(0, start &- first))
        guard skip < samples.count / 2 else { return }
        let position = self.position &+ first &+ Int64(skip)
        state.hasAudio = true
        state.ring.write(skip == 0 ? samples : Array(samples[(2 * skip)...]), at: position)
    }
}
