/// Metadata for one frame of the program, to be carried in every rendition.
package struct FrameMetadata: Sendable, Hashable {
    /// Frame number, counted from the room's origin.
    package let frame: Int64
    /// Timed metadata message (`emsg`) for the fragment that contains the frame.
    package let message: EventMessage
    /// Text for a user data SEI in the coded frame; `nil` if frames have no SEI.
    package let userData: String?

    package init(frame: Int64, message: EventMessage, userData: String? = nil) {
        self.frame = frame
        self.message = message
        self.userData = userData
    }
}

/// The metadata of one track that waits for its frames to be encoded.
///
/// Invariants: (1) each item is sent at most once; (2) with the part and the frame it belongs to, or with the next ones
/// if those are already sent.
package struct PendingFrameMetadata: Sendable {
    /// Maximum number of waiting messages, and of waiting texts; beyond it those for the earliest frames are dropped.
    private static let mostWaiting = 1_024
    /// Maximum number of frames that H.264 reorders (§A.3.1, `MaxDpbFrames`).
    private static let deepestReorder: Int64 = 16

    private var messages: [(frame: Int64, message: EventMessage)] = []
    private var texts: [(frame: Int64, text: String)] = []
    /// Content of the user data SEI messages; `nil` if frames have no SEI.
    package var plan: UserDataPlan?
    /// Closed captions that wait for their frames.
    var captions = PendingCaptions()
    /// Whether any frame may get an SEI message.
    var hasUnits: Bool { self.plan != nil || !self.captions.isEmpty }

    package init() {}

    /// Adds metadata for a frame.
    ///
    /// - Parameter hasMessages: Whether the track's fragments carry timed metadata.
    package mutating func add(_ cue: FrameMetadata, hasMessages: Bool) {
        if hasMessages {
            let place = self.messages.firstIndex { $0.frame > cue.frame } ?? self.messages.endIndex
            self.messages.insert((cue.frame, cue.message), at: place)
            if self.messages.count > Self.mostWaiting { self.messages.removeFirst() }
        }
        if let text = cue.userData, self.plan != nil {
            let place = self.texts.firstIndex { $0.frame > cue.frame } ?? self.texts.endIndex
            self.texts.insert((cue.frame, text), at: place)
            if self.texts.count > Self.mostWaiting { self.texts.removeFirst() }
        }
    }

    /// Drops all texts, captions and layouts that no frame from `frame` on needs, assuming the deepest reordering.
    mutating func forget(before frame: Int64, step: Int64) {
        let oldest = frame - Self.deepestReorder * step
        self.texts.removeAll { $0.frame < oldest }
        self.captions.forget(before: oldest)
        self.plan?.forget(before: oldest)
    }

    /// Removes and returns the timed metadata messages of a part.
    ///
    /// - Parameter isBefore: Whether a frame is before the part's end.
    mutating func takeMessages(_ isBefore: (Int64) -> Bool) -> [EventMessage] {
        guard !self.messages.isEmpty else { return [] }
        let count = self.messages.firstIndex { !isBefore($0.frame) } ?? self.messages.count
        defer { self.messages.removeFirst(count) }
        return self.messages.prefix(count).map(\.message)
    }

    /// Returns the SEI NAL units of a frame: its closed captions, and the texts that wait for it, which are removed, or
    /// else the layout if the plan has one for this frame. Call this in decoding order.
    ///
    /// - Parameter step: Ratio of the program's frame rate to the track's: 2 for a track at half the frame rate.
    package mutating func takeUnits(at frame: Int64, isKey: Bool, step: Int64) -> [[UInt8]] {
        guard self.hasUnits else { return [] }
        let oldest = frame - Self.deepestReorder * step
        var captions: [[UInt8]] = []
        if let unit = self.captions.takeUnit(at: frame, step: step) { captions.append(unit) }
        if isKey { self.captions.forget(before: oldest) }
        guard let plan = self.plan else { return captions }
        var units: [[UInt8]] = []
        if !self.texts.isEmpty {
            self.texts.removeAll { cue in
                let due = (cue.frame + step - 1) / step * step
                guard due == frame || due < oldest else { return false }
                units.append(plan.unit(at: frame, event: cue.text))
                return true
            }
        }
        if units.isEmpty, plan.isDue(at: frame, isKey: isKey, step: step) {
            units.append(plan.unit(at: frame, event: nil))
        }
        if isKey { self.plan?.forget(before: oldest) }
        return captions + units
    }
}
