/// Decides which optional work stops because the machine cannot keep up. The work stops before the first step of ``Overload``,
/// or with it if the lag runs away.
package struct OptionalWorkPause: Sendable {
    /// Work that the program does not need, in the order in which it stops.
    package enum Work: Int, CaseIterable, Sendable {
        /// Overlays that are played over the program.
        case overlays
        /// Stills of the sources.
        case stills
        /// Clients that receive the program's audio.
        case audioTap

        /// Time with the lag above the limit after which the work stops, in nanoseconds. It is shorter than
        /// ``Overload/Rules/shortObservation``, after which ``Overload`` takes its first step.
        fileprivate var patience: Int64 {
            switch self {
            case .overlays: 250_000_000
            case .stills: 350_000_000
            case .audioTap: 450_000_000
            }
        }
    }

    private var since: Int64?

    package init() {}

    /// Returns the work that is stopped now.
    ///
    /// - Parameter now: Monotonic time in nanoseconds.
    package mutating func step(_ overload: Overload, at now: Int64) -> Set<Work> {
        self.since = overload.lag > overload.rules.limit ? self.since ?? now : nil
        guard overload.taken == 0 else { return Set(Work.allCases) }
        guard let since = self.since else { return [] }
        return Set(Work.allCases.filter { now &- since >= $0.patience })
    }
}
