/// Decides at each tick which renditions fall asleep or wake: only at segment boundaries of the room, so that every
/// playlist keeps the same segments. A sleeping rendition is neither scaled nor encoded.
///
/// States per rendition: awake → falling asleep, at the first tick of a segment from which the encoder gets no frames →
/// asleep, once the encoder has output everything before that tick → awake, at the first tick of a segment.
package struct RenditionSleep {
    /// A change that applies from the current tick on.
    package enum Change: Equatable {
        case sleep(track: Int)
        case wake(track: Int)
    }

    /// Ticks from one segment to the next in a room without passthrough.
    private let segmentTicks: Int64
    /// Renditions that get no frames.
    package private(set) var asleep: Set<Int> = []
    private var hasBegun = false

    package init(segmentTicks: Int) { self.segmentTicks = Int64(max(1, segmentTicks)) }

    /// Returns the changes at a tick. At the first tick of a run, renditions may fall asleep inside a segment.
    ///
    /// - Parameters:
    ///   - beginsSegment: Whether a segment begins at the tick; `nil`: as on the regular grid, because nothing cuts segments.
    ///   - wanted: Renditions that are to sleep.
    ///   - settled: Renditions whose encoder has output everything from before they fell asleep; others cannot wake.
    package mutating func step(
        _ tick: Int64, beginsSegment: Bool? = nil, wanted: @autoclosure () -> Set<Int>,
        settled: @autoclosure () -> Set<Int>
    ) -> [Change] {
        let isFirst = !self.hasBegun
        self.hasBegun = true
        guard isFirst || beginsSegment ?? tick.isMultiple(of: self.segmentTicks) else { return [] }
        let wanted = wanted()
        guard wanted != self.asleep else { return [] }
        let waking = self.asleep.subtracting(wanted).intersection(settled())
        let sleeping = wanted.subtracting(self.asleep)
        self.asleep.subtract(waking)
        self.asleep.formUnion(sleeping)
        return waking.sorted().map { .wake(track: $0) } + sleeping.sorted().map { .sleep(track: $0) }
    }
}
