package import MediaTypes
package import Program

/// Who speaks, and a queue of changes between the program thread and the thread that emits them as events.
package struct SpeakingReports: Sendable {
    /// Largest number of waiting changes. If there are more, the oldest are not reported.
    package static let limit = 256

    /// The sources that speak now.
    package private(set) var speakers: Set<SourceID> = []
    private var untold: [SpeakingChange] = []

    package init() {}

    /// Records a change, and queues it for the events.
    package mutating func note(_ change: SpeakingChange) {
        if change.isSpeaking { self.speakers.insert(change.source) } else { self.speakers.remove(change.source) }
        if self.untold.count >= Self.limit { self.untold.removeFirst() }
        self.untold.append(change)
    }

    /// Whether a change is waiting.
    package var hasUntold: Bool { !self.untold.isEmpty }

    /// Returns the waiting changes, in order, and removes them from the queue.
    package mutating func takeUntold() -> [SpeakingChange] {
        defer { self.untold = [] }
        return self.untold
    }
}
