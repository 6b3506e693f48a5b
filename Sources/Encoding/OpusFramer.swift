import LibAV

/// Divides the mixer's audio into the frames of Opus, which have another length. A pure value.
package struct OpusFramer: Sendable {
    /// A frame of ``OpusEncoder/frameLength`` pairs.
    package struct Frame: Sendable, Equatable {
        /// Interleaved stereo.
        package var samples: ArraySlice<Float>
        /// Position of the first pair in the program's audio.
        package var position: Int64
        /// Whether the frame follows the previous one directly.
        package var isContinued: Bool
    }

    /// Longest gap that is filled with silence, in sample pairs: half a second. After a longer one, the frames begin anew.
    private static let longestGap: Int64 = 24_000

    /// Interleaved stereo that does not fill a frame yet.
    private var pending: [Float] = []
    /// Position of the first pair in ``pending``; nil before the first block.
    private var position: Int64?
    private var isContinued = false

    package init() {}

    /// Adds a block of interleaved stereo.
    ///
    /// - Parameter position: Position of the block's first pair. A gap before it is filled with silence, and pairs before
    ///   the end of the previous block are ignored; if the difference is more than half a second, the frames begin anew.
    /// - Returns: The frames that are complete now, in order.
    package mutating func add(_ samples: [Float], at position: Int64) -> [Frame] {
        let expected = self.position.map { $0 + Int64(self.pending.count / 2) }
        let gap = position - (expected ?? position)
        if expected == nil || gap.magnitude > UInt64(Self.longestGap) {
            self.reset()
            self.position = position
            self.pending += samples
        } else {
            if gap > 0 { self.pending += repeatElement(0, count: Int(gap) * 2) }
            self.pending += samples.dropFirst(Int(max(0, -gap)) * 2)
        }
        var frames: [Frame] = []
        var start = 0
        let length = OpusEncoder.frameLength * 2
        while self.pending.count - start >= length, let first = self.position {
            frames.append(
                Frame(samples: self.pending[start..<start + length], position: first, isContinued: self.isContinued))
            start += length
            self.position = first + Int64(OpusEncoder.frameLength)
            self.isContinued = true
        }
        self.pending.removeFirst(start)
        return frames
    }

    /// Forgets everything: the next block begins anew.
    package mutating func reset() {
        self.pending.removeAll(keepingCapacity: true)
        self.position = nil
        self.isContinued = false
    }
}
