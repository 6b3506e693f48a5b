/// How often, and for how long, the kernel stopped the process because its cgroup had used up its CPU quota.
///
/// Spec: Documentation/admin-guide/cgroup-v2.rst, `cpu.stat`; Documentation/scheduler/sched-bwc.rst for version 1.
package struct CPUThrottling: Sendable, Hashable {
    /// Number of scheduling periods; ``throttledPeriods`` counts those in which the cgroup used up its quota.
    package var periods: Int64 = 0
    package var throttledPeriods: Int64 = 0
    /// Time for which threads were stopped, in nanoseconds, summed over all CPUs.
    package var throttled: Int64 = 0

    package init() {}

    /// Parses the kernel's `cpu.stat`.
    ///
    /// - Parameter text: Content of the file. A value that is missing, for instance because there is no quota, counts
    ///   as 0.
    package init(statistics text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let value = Int64(words[1]), value >= 0 else { continue }
            switch words[0] {
            case "nr_periods": self.periods = value
            case "nr_throttled": self.throttledPeriods = value
            case "throttled_usec":
                let (nanoseconds, isOver) = value.multipliedReportingOverflow(by: 1_000)
                self.throttled = isOver ? .max : nanoseconds
            case "throttled_time": self.throttled = value
            default: continue
            }
        }
    }

    /// Possible paths of a process's `cpu.stat`, the most likely first.
    ///
    /// - Parameter membership: Content of the process's `/proc/pid/cgroup`.
    package static func places(membership: String) -> [String] {
        ControlGroup.directories(of: "cpu", membership: membership).map { "\($0.path)/cpu.stat" }
    }

    /// The values of this process so far; 0 if its cgroup has no CPU statistics.
    static var ofThisProcess: CPUThrottling {
        for place in self.places(membership: ControlGroup.text("/proc/self/cgroup")) {
            let statistics = ControlGroup.text(place)
            if statistics.contains("nr_periods") { return CPUThrottling(statistics: statistics) }
        }
        return CPUThrottling()
    }
}
