import Threading

/// Finds the control groups (cgroups) of a process, in whose directories the kernel shows limits and statistics.
package enum ControlGroup {
    /// Possible cgroup directories of a process for a controller, the most likely first.
    ///
    /// Spec: cgroups(7), `/proc/pid/cgroup`: `HIERARCHY:CONTROLLERS:PATH`; version 2 has `0::PATH`. In a container the
    /// path may be a path of the host, while the container's own cgroup is mounted as the root.
    ///
    /// - Parameter membership: Content of the process's `/proc/pid/cgroup`.
    package static func directories(
        of controller: String, membership: String
    ) -> [(path: String, isVersion2: Bool)] {
        membership.split(separator: "\n").flatMap { line -> [(path: String, isVersion2: Bool)] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].hasPrefix("/"), !parts[2].contains("..") else { return [] }
            let isVersion2 = parts[0] == "0" && parts[1].isEmpty
            guard isVersion2 || parts[1].split(separator: ",").contains(Substring(controller)) else { return [] }
            let root = isVersion2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/\(parts[1])"
            return ((parts[2] == "/" ? [] : ["\(root)\(parts[2])"]) + [root]).map { ($0, isVersion2) }
        }
    }

    /// The content of a small kernel file, at most its last 4 KiB; empty if it cannot be read.
    package static func text(_ path: String) -> String {
        String(decoding: FileReading.tail(of: path, limit: 4_096), as: UTF8.self)
    }
}
