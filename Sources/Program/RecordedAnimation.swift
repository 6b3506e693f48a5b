package import MediaKernels

/// A decoded animation that is kept, so that it can be played again without decoding. The times are those of the decoded
/// file, in nanoseconds from its first frame.
package struct RecordedAnimation: Sendable {
    package struct Frame: Sendable {
        package var time: Int64
        package var frame: PackedFrame
    }

    /// Decoded audio: interleaved stereo. `time` is that of its first pair and may be negative.
    package struct Audio: Sendable {
        package var time: Int64
        package var samples: [Float]
    }

    /// In order of their times.
    package private(set) var frames: [Frame] = []
    /// In the order in which they were decoded.
    package private(set) var audio: [Audio] = []
    /// Left and top edge of the frames, from those of the rectangle that they were fitted into.
    package var x = 0
    package var y = 0
    /// End of the last frame.
    package var videoEnd: Int64 = 0
    /// End of the audio; 0 without audio.
    package var audioEnd: Int64 = 0
    /// Number of bytes of memory that it needs.
    package private(set) var bytes = 0

    /// Bytes of memory that an element of a list needs beside its samples.
    private static let overhead = 64

    package init() {}

    package mutating func add(_ frame: PackedFrame, at time: Int64) {
        self.frames.append(Frame(time: time, frame: frame))
        self.bytes += frame.byteCount + Self.overhead
    }

    package mutating func add(_ samples: [Float], at time: Int64) {
        self.audio.append(Audio(time: time, samples: samples))
        self.bytes += samples.count * MemoryLayout<Float>.stride + Self.overhead
    }
}
