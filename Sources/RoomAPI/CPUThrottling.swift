/// How often, and for how long, the kernel did not let the process run because its cgroup had used up its CPU time.
///
/// Spec: Documentation/admin-guide/cgroup-v2.rst, `cpu.stat`; Documentation/scheduler/sched-bwc.rst for version 1.
package struct CPUThrottling: Sendable, Hashable {
    /// Scheduling periods, and those in which the cgroup used up its CPU time.
    package var periods: Int64 = 0
    package var throttledPeriods: Int64 = 0
    /// Throttled time, in nanoseconds, summed over all CPUs.
    package var throttled: Int64 = 0

    package init() {}

    /// - Parameter text: The kernel's `cpu.stat`. Values that it does not have, for instance if there is no limit,
    ///   count as 0.
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

    /// Possible paths of a process's `cpu.stat`, the likeliest first.
    ///
    /// - Parameter membership: The process's `/proc/pid/cgroup`.
    package static func places(membership: String) -> [String] {
        ControlGroup.directories(of: "cpu", membership: membership).map { "\($0.path)/cpu.stat" }
    }

    /// The values of this process until now.
    static var ofThisProcess: CPUThrottling {
        for place in self.places(membership: ControlGroup.text("/proc/self/cgroup")) {
            let statistics = ControlGroup.text(place)
            if statistics.contains("nr_periods") { return CPUThrottling(statistics: statistics) }
        }
        return CPUThrottling()
    }
}
