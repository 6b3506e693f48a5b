import Libc
package import Control
import Threading

/// Statistics of this process from the kernel.
package enum ProcessFacts {
    /// Largest resident size of the process so far, in KiB.
    package static var peakMemoryKiB: Int64 {
        var usage = rusage()
        getrusage(0, &usage)  // RUSAGE_SELF, which the C module shows with another type
        return Int64(usage.ru_maxrss)
    }

    /// Resident memory now, in bytes; 0 if the kernel does not report it.
    ///
    /// Spec: proc(5), /proc/pid/statm.
    static var residentBytes: Int64 {
        let fields = String(decoding: FileReading.tail(of: "/proc/self/statm", limit: 256), as: UTF8.self).split(
            separator: " ")
        guard fields.count > 1, let pages = Int64(fields[1]) else { return 0 }
        return pages.multipliedReportingOverflow(by: Int64(sysconf(Int32(_SC_PAGESIZE)))).partialValue
    }

    /// Open file descriptors now.
    static var openFiles: Int64 {
        guard let directory = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(directory) }
        var count: Int64 = 0
        while readdir(directory) != nil { count += 1 }
        // Not counted: `.`, `..`, and the descriptor that reads the directory.
        return max(0, count - 3)
    }

    /// Adds metrics of the process, with the names that the Prometheus client libraries use.
    ///
    /// - Parameters:
    ///   - cpu: CPU time so far, in nanoseconds.
    ///   - startTime: Start of the worker, in nanoseconds since the Unix epoch.
    package static func add(to metrics: inout MetricsText, cpu: Int64, startTime: Int64) {
        metrics.family("process_cpu_seconds_total", .counter, "CPU time of this process.")
        metrics.seconds("process_cpu_seconds_total", nanoseconds: cpu)
        metrics.family("process_resident_memory_bytes", .gauge, "Resident memory of this process.")
        metrics.sample("process_resident_memory_bytes", self.residentBytes)
        metrics.family("process_open_fds", .gauge, "Open file descriptors of this process.")
        metrics.sample("process_open_fds", self.openFiles)
        metrics.family("process_start_time_seconds", .gauge, "When this process began, since the Unix epoch.")
        metrics.seconds("process_start_time_seconds", nanoseconds: startTime)
        self.addThrottling(to: &metrics)
    }

    private static func addThrottling(to metrics: inout MetricsText) {
        let throttling = CPUThrottling.ofThisProcess
        metrics.family(
            "tandem_cpu_periods_total", .counter, "Periods in which the cgroup ran under its CPU limit; 0 without one.")
        metrics.sample("tandem_cpu_periods_total", throttling.periods)
        metrics.family(
            "tandem_cpu_throttled_periods_total", .counter, "Periods in which the cgroup used up its CPU limit.")
        metrics.sample("tandem_cpu_throttled_periods_total", throttling.throttledPeriods)
        metrics.family(
            "tandem_cpu_throttled_seconds_total", .counter,
            "Time for which threads of the cgroup could not run because of its CPU limit.")
        metrics.seconds("tandem_cpu_throttled_seconds_total", nanoseconds: throttling.throttled)
    }
}
