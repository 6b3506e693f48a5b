package import HLS

/// A change of the program at a frame, listed as a date range. It ends the open date range of the same class and may
/// begin a new one.
package struct ProgramMark: Sendable, Hashable {
    /// Prefix of the classes of date ranges that outlive a worker: the next worker continues them.
    package static let lastingClass = "live.tandem.state."

    /// `CLASS` of the date range. Only one range per class is open at a time.
    package var rangeClass: String
    /// The first frame that shows the change, counted from the room's origin.
    package var tick: Int64
    /// Whether the caller chose the frame. Otherwise the change takes effect as soon as possible and cancels other
    /// unscheduled changes of its class that wait for later frames.
    package var isScheduled: Bool
    /// Attributes of the new date range; `nil`: the change only ends the open range of the class.
    package var attributes: [DateRange.Attribute]?
    /// Expected duration in nanoseconds (`PLANNED-DURATION`); `nil` if unknown.
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
