/// How often a source's key pictures come, as far as two of them tell.
struct KeyRhythm: Sendable, Equatable {
    /// A picture may stand still for so long while the next one is awaited, in nanoseconds.
    static let longest: Int64 = 4_000_000_000

    private var last: Int64?
    private var interval: Int64?

    /// - Parameter time: Of the key picture, on the program, in nanoseconds.
    mutating func note(_ time: Int64) {
        self.interval = self.last.map { time &- $0 }
        self.last = time
    }

    /// Whether the next one can be waited for: they come often enough, and none is overdue.
    func isRegular(at time: Int64) -> Bool {
        guard let last = self.last, let interval = self.interval else { return false }
        return (1...Self.longest).contains(interval) && time &- last <= interval &* 3 / 2
    }

    /// Whether nothing says that another one comes: there was but one, or the next is late.
    func isOverdue(at time: Int64) -> Bool {
        guard let last = self.last, let interval = self.interval, interval > 0 else { return true }
        return time &- last > interval &* 3 / 2
    }
}
