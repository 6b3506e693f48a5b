import Threading

/// How often, and for how long, a process might not run because the CPU time its cgroup may take was used up.
///
/// Spec: Documentation/admin-guide/cgroup-v2.rst, `cpu.stat`; Documentation/scheduler/sched-bwc.rst for version 1.
package struct CPUThrottling: Sendable, Hashable {
    /// Periods in which the cgroup ran under its limit, and those of them in which it used it up.
    package var periods: Int64 = 0
    package var throttledPeriods: Int64 = 0
    /// Nanoseconds, of all CPUs together.
    package var throttled: Int64 = 0

    package init() {}

    /// - Parameter text: The kernel's `cpu.stat`. What is not in it, as where there is no limit, counts as 0.
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

    /// Where the `cpu.stat` of a process may be, the likeliest first.
    ///
    /// Spec: cgroups(7), `/proc/pid/cgroup`: `HIERARCHY:CONTROLLERS:PATH`, of version 2 `0::PATH`. In a container the path may be one of
    /// the machine while its own cgroup is mounted as the root.
    ///
    /// - Parameter membership: The process's `/proc/pid/cgroup`.
    package static func places(membership: String) -> [String] {
        var places: [String] = []
        for line in membership.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].hasPrefix("/"), !parts[2].contains("..") else { continue }
            let directory: String
            if parts[0] == "0", parts[1].isEmpty {
                directory = "/sys/fs/cgroup"
            } else if parts[1].split(separator: ",").contains("cpu") {
                directory = "/sys/fs/cgroup/\(parts[1])"
            } else {
                continue
            }
            if parts[2] != "/" { places.append("\(directory)\(parts[2])/cpu.stat") }
            places.append("\(directory)/cpu.stat")
        }
        return places
    }

    /// Of this process until now.
    static var ofThisProcess: CPUThrottling {
        func text(_ path: String) -> String {
            String(decoding: FileReading.tail(of: path, limit: 4_096), as: UTF8.self)
        }
        for place in self.places(membership: text("/proc/self/cgroup")) {
            let statistics = text(place)
            if statistics.contains("nr_periods") { return CPUThrottling(statistics: statistics) }
        }
        return CPUThrottling()
    }
}
