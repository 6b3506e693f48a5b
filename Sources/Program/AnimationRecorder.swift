import LibAV
import MediaKernels
import Synchronization

/// The cache of decoded animations, shared by the threads of all plays. The program thread does not use it.
final class SharedAnimations: Sendable {
    private let cache: Mutex<AnimationCache>

    init(_ cache: AnimationCache) { self.cache = Mutex(cache) }

    func withLock<R: Sendable>(_ body: (inout AnimationCache) -> R) -> R { self.cache.withLock { body(&$0) } }
}

/// Records an animation while it is decoded. Used by one thread.
struct AnimationRecorder {
    /// Largest number of frames, and of blocks of audio: a play lasts a minute at most.
    private static let mostParts = 8192

    private let cache: SharedAnimations
    /// `nil`: nothing is recorded, or the recording was finished or cancelled.
    private var key: AnimationCache.Key?
    private var animation = RecordedAnimation()
    /// Number of bytes for which the cache has reserved space.
    private var reserved = 0
    private var scratch: [UInt8] = []

    /// - Parameter key: The animation that is recorded if the cache wants it; `nil`: none.
    init(_ key: AnimationCache.Key?, _ cache: SharedAnimations) {
        self.cache = cache
        if let key, cache.withLock({ $0.begin(key) }) { self.key = key }
    }

    /// Adds a frame.
    ///
    /// - Returns: The packed frame, which is drawn with the same result; `nil` if nothing is recorded.
    mutating func add(_ frame: AnimationReader.Frame) -> PackedFrame? {
        guard self.key != nil else { return nil }
        guard self.animation.frames.count < Self.mostParts, let packed = frame.picture.packed(scratch: &self.scratch)
        else {
            self.cancel()
            return nil
        }
        self.animation.add(packed, at: frame.time)
        return packed
    }

    mutating func add(_ samples: [Float], at time: Int64) {
        guard self.key != nil else { return }
        guard self.animation.audio.count < Self.mostParts else {
            self.cancel()
            return
        }
        self.animation.add(samples, at: time)
    }

    /// Reserves space for what was added; without space, the recording is cancelled.
    ///
    /// - Parameter now: Program time in nanoseconds.
    mutating func reserve(now: Int64) {
        let added = self.animation.bytes - self.reserved
        guard let key = self.key, added > 0 else { return }
        self.reserved += added
        if !self.cache.withLock({ $0.grow(key, by: added, now: now) }) { self.cancel() }
    }

    /// Adds the animation to the cache.
    ///
    /// - Parameters:
    ///   - video: End of the last frame, in nanoseconds. `audio`: that of the audio; 0: there is none.
    ///   - x: Left edge of the frames, from that of their rectangle. `y`: in the same way.
    ///   - until: When the play ends, in program time.
    mutating func finish(video: Int64, audio: Int64, x: Int, y: Int, until: Int64) {
        guard let key = self.key, video > 0 else { return }
        (self.animation.videoEnd, self.animation.audioEnd) = (video, audio)
        (self.animation.x, self.animation.y) = (x, y)
        let animation = self.animation
        self.cache.withLock { $0.finish(key, animation, until: until) }
        self.key = nil
    }

    /// Frees what was recorded, unless the recording was finished.
    mutating func cancel() {
        guard let key = self.key else { return }
        self.cache.withLock { $0.cancel(key) }
        self.key = nil
        self.animation = RecordedAnimation()
    }
}
