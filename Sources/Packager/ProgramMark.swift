package import HLS

/// Something of the program begins with a picture, and what of its kind was on before ends there.
package struct ProgramMark: Sendable, Hashable {
    /// Ranges of classes that begin with this outlive a worker: the next one goes on with them.
    package static let lastingClass = "live.tandem.state."

    /// `CLASS` of the date range it becomes; of each class one is open at a time.
    package var rangeClass: String
    /// The first picture that shows it, counted from the room's origin.
    package var tick: Int64
    /// Somebody named the tick; otherwise it is as soon as can be, and takes back what was to come even later.
    package var isScheduled: Bool
    /// What the range says; `nil`: nothing of the class follows.
    package var attributes: [DateRange.Attribute]?
    /// Nanoseconds it is expected to last.
    package var plannedDuration: Int64?

    package init(
        rangeClass: String, tick: Int64, isScheduled: Bool = false, attributes: [DateRange.Attribute]?,
        plannedDuration: Int64? = nil
    ) {
        self.rangeClass = rangeClass
        self.tick = tick
        self.isScheduled = isScheduled
        self.attributes = attributes
        self.plannedDuration = plannedDuration
    }
}
