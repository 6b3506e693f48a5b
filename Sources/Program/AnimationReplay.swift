package import MediaKernels

/// One play of a recorded animation: which frame is shown when, and which audio is due. A value; times are nanoseconds from
/// the start of the play.
package struct AnimationReplay: Sendable {
    package let animation: RecordedAnimation
    /// Largest number of frames that ``frame(by:)`` passes over, so that it needs little time for any file.
    private static let mostSteps = 4096

    private let base: Int64
    private let loops: Int
    /// The frame that comes next, and the audio.
    private var video = (loop: 0, index: 0)
    private var audio = (loop: 0, index: 0)

    /// - Parameters:
    ///   - base: Time of the first frame.
    ///   - loops: How often the animation is played in a row, 1…100.
    package init(_ animation: RecordedAnimation, from base: Int64, loops: Int) {
        self.animation = animation
        self.base = base
        self.loops = min(100, max(1, loops))
    }

    /// Duration of one loop: that of the longer of video and audio.
    private var length: Int64 { max(self.animation.videoEnd, self.animation.audioEnd) }

    /// When the last frame and the whole play end.
    package var end: (video: Int64, all: Int64) {
        let last = self.start(of: self.loops - 1)
        return (last &+ self.animation.videoEnd, last &+ self.length)
    }

    private func start(of loop: Int) -> Int64 { self.base &+ Int64(loop) &* self.length }

    /// Returns the last frame that is due by `time`; `nil` if none is since the last call.
    package mutating func frame(by time: Int64) -> PackedFrame? {
        var newest: PackedFrame?
        for _ in 0..<Self.mostSteps {
            guard self.video.loop < self.loops else { break }
            guard self.video.index < self.animation.frames.count else {
                self.video = (self.video.loop + 1, 0)
                continue
            }
            let next = self.animation.frames[self.video.index]
            guard self.start(of: self.video.loop) &+ next.time <= time else { break }
            newest = next.frame
            self.video.index += 1
        }
        return newest
    }

    /// Returns the next audio that begins before `time`, with the start of its loop; `nil` if there is none.
    package mutating func nextAudio(before time: Int64) -> (audio: RecordedAnimation.Audio, base: Int64)? {
        guard !self.animation.audio.isEmpty else { return nil }
        while self.audio.loop < self.loops {
            guard self.audio.index < self.animation.audio.count else {
                self.audio = (self.audio.loop + 1, 0)
                continue
            }
            let next = self.animation.audio[self.audio.index]
            let base = self.start(of: self.audio.loop)
            guard base &+ next.time < time else { return nil }
            self.audio.index += 1
            return (next, base)
        }
        return nil
    }
}
