import Program

/// Audio level reports on their way from the program thread, which must not allocate memory for them, to the thread that emits them
/// as events.
struct AudioLevelReports: Sendable {
    /// Reports that may wait. The life's thread looks twenty times a second; the shortest interval is a block of audio.
    static let limit = 16

    /// The last measurement; `nil` before the first.
    private(set) var latest: AudioLevels?
    private var untold: [AudioLevels] = []

    init() { self.untold.reserveCapacity(Self.limit) }

    /// Notes a measurement; drops the report of it if ``limit`` of them wait. No allocation.
    mutating func note(_ levels: AudioLevels) {
        self.latest = levels
        if self.untold.count < Self.limit { self.untold.append(levels) }
    }

    var hasUntold: Bool { !self.untold.isEmpty }

    /// Takes the reports that wait, in order.
    ///
    /// - Parameter storage: An empty array with room for ``limit`` reports, which is filled from now on.
    mutating func takeUntold(leaving storage: inout [AudioLevels]) { swap(&storage, &self.untold) }
}
