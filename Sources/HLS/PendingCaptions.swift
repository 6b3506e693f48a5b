package import MediaTypes

/// The closed captions of one track that wait for their frames to be encoded. Each is sent at most once, with its frame
/// or, in a track at a lower frame rate, with the next one; those of a frame that is never encoded are dropped.
struct PendingCaptions: Sendable {
    /// Maximum number of frames whose captions wait; beyond it the earliest are dropped.
    private static let mostWaiting = 1_024

    private var frames: [(frame: Int64, pairs: [CaptionPair])] = []
    /// Whether the track passes a publisher's packets through, which have their own captions.
    private var isPassed = false

    var isEmpty: Bool { self.frames.isEmpty }

    /// Adds the captions of a frame; frames are added in increasing order.
    mutating func add(_ pairs: [CaptionPair], at frame: Int64) {
        guard !pairs.isEmpty else { return }
        self.frames.append((frame, pairs))
        if self.frames.count > Self.mostWaiting { self.frames.removeFirst() }
    }

    /// Removes the captions of a frame that will not be encoded.
    mutating func remove(at frame: Int64) { self.frames.removeAll { $0.frame == frame } }

    mutating func forget(before frame: Int64) { self.frames.removeAll { $0.frame < frame } }

    /// Sets whether the following packets are passed through.
    mutating func setPassed(_ isPassed: Bool) { self.isPassed = isPassed }

    /// Removes the captions of a frame and returns them as an SEI NAL unit; `nil` if there are none, or if the frame is
    /// passed through.
    ///
    /// - Parameter step: Ratio of the program's frame rate to the track's: 2 for a track at half the frame rate, whose
    ///   frames also carry the captions of the program frame before.
    mutating func takeUnit(at frame: Int64, step: Int64) -> [UInt8]? {
        var pairs: [CaptionPair] = []
        self.frames.removeAll { item in
            guard item.frame > frame - step, item.frame <= frame else { return false }
            pairs += item.pairs
            return true
        }
        guard !pairs.isEmpty, !self.isPassed else { return nil }
        // CEA-608 comes first (CTA-708 §4.3).
        return CaptionUnit.bytes(pairs.filter(\.isLine21) + pairs.filter { !$0.isLine21 })
    }
}

extension PendingFrameMetadata {
    /// Adds the closed captions of a program frame that no encoder has received yet; frames are added in increasing
    /// order.
    package mutating func add(captions pairs: [CaptionPair], at frame: Int64) {
        self.captions.add(pairs, at: frame)
    }

    /// Removes the closed captions of a frame that was lost.
    package mutating func removeCaptions(at frame: Int64) { self.captions.remove(at: frame) }

    /// Sets whether the following packets are a publisher's own, which keep their captions and get no others.
    package mutating func setPassed(_ isPassed: Bool) { self.captions.setPassed(isPassed) }
}
