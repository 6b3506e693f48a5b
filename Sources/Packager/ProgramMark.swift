package import HLS

/// A change of the program at a frame. It ends the open date range of the same class and may begin a new one.
package struct ProgramMark: Sendable, Hashable {
    /// Prefix of classes whose ranges outlive a worker: the next worker continues them.
    package static let lastingClass = "live.tandem.state."

    /// `CLASS` of the date range; one range per class is open at a time.
    package var rangeClass: String
    /// The first frame that shows the change, counted from the room's origin.
    package var tick: Int64
    /// The caller named the tick. Otherwise the change takes effect as soon as possible and cancels changes planned for
    /// later frames.
    package var isScheduled: Bool
    /// Attributes of the range; `nil`: only ends the open range of the class.
    package var attributes: [DateRange.Attribute]?
    /// Expected length in nanoseconds.
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
