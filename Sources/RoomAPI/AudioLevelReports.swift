package import Program

/// A queue of audio level reports between the program thread, which must not allocate memory, and the thread that emits
/// them as events.
package struct AudioLevelReports: Sendable {
    /// Largest number of waiting reports. In a live room, the life thread takes them about every 50 ms or sooner; an
    /// offline room takes them at every tick.
    package static let limit = 16

    /// The last measurement; nil before the first.
    package private(set) var latest: AudioLevels?
    private var untold: [AudioLevels] = []

    package init() { self.untold.reserveCapacity(Self.limit) }

    /// Records a measurement as ``latest``, and queues it unless ``limit`` reports are waiting already. Does not
    /// allocate.
    package mutating func note(_ levels: AudioLevels) {
        self.latest = levels
        if self.untold.count < Self.limit { self.untold.append(levels) }
    }

    /// Whether a report is waiting.
    package var hasUntold: Bool { !self.untold.isEmpty }

    /// Takes the waiting reports, in order.
    ///
    /// - Parameter storage: An empty array with capacity for ``limit`` reports, which becomes the queue; receives the
    ///   reports.
    package mutating func takeUntold(leaving storage: inout [AudioLevels]) { swap(&storage, &self.untold) }
}
