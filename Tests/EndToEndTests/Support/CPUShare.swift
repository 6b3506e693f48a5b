import Foundation

/// Limits the CPU of one process with the kernel's CPU quota, like a container's limit.
final class CPUShare {
    /// Directory of the quota, and whether it belongs to the unified hierarchy.
    private let directory: String
    private let isUnified: Bool
    private static let period = 100_000

    /// Moves the process to a control group of its own; nil if this process may not create one.
    init?(pid: Int32) {
        let places = [("/sys/fs/cgroup/cpu", false), ("/sys/fs/cgroup/cpu,cpuacct", false), ("/sys/fs/cgroup", true)]
        for (root, isUnified) in places {
            let quota = isUnified ? "cpu.max" : "cpu.cfs_quota_us"
            let directory = "\(root)/tandem-test-\(pid)"
            guard mkdir(directory, 0o755) == 0 else { continue }
            guard access("\(directory)/\(quota)", W_OK) == 0,
                Self.put(String(pid), "\(directory)/cgroup.procs")
            else {
                rmdir(directory)
                continue
            }
            self.directory = directory
            self.isUnified = isUnified
            return
        }
        return nil
    }

    /// Sets the limit.
    ///
    /// - Parameter cores: The limit; nil: none.
    /// - Returns: Whether the kernel accepted it.
    func set(cores: Double?) -> Bool {
        let quota = cores.map { max(1_000, Int($0 * Double(Self.period))) }
        guard self.isUnified else {
            return Self.put(String(Self.period), "\(self.directory)/cpu.cfs_period_us")
                && Self.put(quota.map(String.init) ?? "-1", "\(self.directory)/cpu.cfs_quota_us")
        }
        return Self.put("\(quota.map(String.init) ?? "max") \(Self.period)", "\(self.directory)/cpu.max")
    }

    /// The process must have ended, since only an empty control group can be removed.
    deinit { rmdir(self.directory) }

    private static func put(_ text: String, _ path: String) -> Bool {
        guard let file = fopen(path, "w") else { return false }
        let isWritten = fputs(text, file) >= 0
        return fclose(file) == 0 && isWritten
    }
}
