/// What happens with a picture of the program, on its way into the media of every rendition.
package struct ProgramCue: Sendable, Hashable {
    /// The picture, counted from the room's origin.
    package let frame: Int64
    /// For the fragment that holds it.
    package let message: EventMessage
    /// For the coded picture; `nil` where pictures carry none.
    package let userData: String?

    package init(frame: Int64, message: EventMessage, userData: String? = nil) {
        self.frame = frame
        self.message = message
        self.userData = userData
    }
}

/// The cues of one track that its media has not reached.
///
/// Invariants: (1) each goes out once; (2) with the part and the picture its frame lies in, or with the next ones where those
/// are gone already.
package struct TrackCues: Sendable {
    /// Cues that may wait; the oldest give way.
    private static let mostWaiting = 1_024
    /// H.264 reorders no more pictures (§A.3.1, `MaxDpbFrames`).
    private static let deepestReorder: Int64 = 16

    private var messages: [(frame: Int64, message: EventMessage)] = []
    private var texts: [(frame: Int64, text: String)] = []
    package var plan: UserDataPlan?

    package init() {}

    /// - Parameter hasMessages: The track's fragments carry them.
    package mutating func add(_ cue: ProgramCue, hasMessages: Bool) {
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

    /// Lets go of what no picture from `frame` on says.
    mutating func forget(before frame: Int64, step: Int64) {
        let oldest = frame - Self.deepestReorder * step
        self.texts.removeAll { $0.frame < oldest }
        self.plan?.forget(before: oldest)
    }

    /// The messages of a part.
    ///
    /// - Parameter isBefore: The frame lies before the part's end.
    mutating func takeMessages(_ isBefore: (Int64) -> Bool) -> [EventMessage] {
        guard !self.messages.isEmpty else { return [] }
        let count = self.messages.firstIndex { !isBefore($0.frame) } ?? self.messages.count
        defer { self.messages.removeFirst(count) }
        return self.messages.prefix(count).map(\.message)
    }

    /// The NAL units of a picture; pictures come in decoding order.
    ///
    /// - Parameter step: Frames from one picture of the track to the next.
    package mutating func takeUnits(at frame: Int64, isKey: Bool, step: Int64) -> [[UInt8]] {
        guard let plan = self.plan else { return [] }
        let oldest = frame - Self.deepestReorder * step
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
        return units
    }
}
