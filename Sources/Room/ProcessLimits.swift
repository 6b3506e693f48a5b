import Libc
package import MediaTypes
import RoomAPI

/// Limits that the operating system sets for this process. They are checked before the first thread and event loop
/// start, because without enough file descriptors or memory the process would be killed without an error message.
package struct ProcessLimits: Sendable, Equatable {
    /// The resources that a process needs.
    package struct Need: Sendable, Equatable {
        /// What the process is called in the error message, such as `this room`.
        package var whose: String
        /// Number of files that the process may have open at once.
        package var openFiles: Int64
        /// Resident memory in bytes; 0 if memory is not checked.
        package var memory: Int64

        package init(whose: String, openFiles: Int64, memory: Int64 = 0) {
            self.whose = whose
            self.openFiles = openFiles
            self.memory = memory
        }

        /// The need of a room: three file descriptors for each event loop (one per core and eight more), and 34 for
        /// signals, listeners, files and at least ten connections.
        package static func room(cores: Int, memory: Int64) -> Need {
            Need(whose: "this room", openFiles: 3 * Int64(cores + 8) + 34, memory: memory)
        }

        /// The need of a command that only connects to a server: `ctl`, `healthcheck`, `lint-hls` or `publish`.
        package static func client(cores: Int) -> Need {
            Need(whose: "this command", openFiles: 3 * Int64(cores + 2) + 16)
        }
    }

    /// Files that may be open at once (`RLIMIT_NOFILE`); nil if the limit is unknown.
    package var openFiles: Int64?
    /// Limit of the address space in bytes (`RLIMIT_AS`); nil if there is no limit.
    package var addressSpace: Int64?
    /// Size of the address space that is in use, in bytes.
    package var mapped: Int64 = 0
    /// Limit of private writable memory in bytes, including thread stacks (`RLIMIT_DATA`); nil if there is no limit.
    package var data: Int64?
    /// Memory limit of the process's cgroup in bytes, such as that of a container; nil if there is no limit.
    package var group: Int64?

    package init() {}

    /// Address space for thread stacks and library mappings, which is reserved and hardly used, in bytes.
    private static let reserve: Int64 = 64 << 20
    /// Data size of a room's thread stacks, in bytes.
    private static let stacks: Int64 = 128 << 20

    /// The error for a process that could not run within these limits; nil if the limits suffice.
    ///
    /// - Returns: ``MediaError/Code/unavailable`` with the name of the limit, its value and the required value.
    package func refusal(_ need: Need) -> MediaError? {
        func error(_ limit: String, _ value: String, _ needed: String, fix: String) -> MediaError {
            MediaError(
                .unavailable, "the limit of \(limit) is \(value), and \(need.whose) needs at least \(needed)",
                at: "process", fix: fix)
        }
        if let openFiles, openFiles < need.openFiles {
            return error(
                "open files (ulimit -n, RLIMIT_NOFILE)", "\(openFiles)", "\(need.openFiles)",
                fix: "raise it: ulimit -n 65536, LimitNOFILE= of a systemd unit, or --ulimit nofile= of a container")
        }
        guard need.memory > 0 else { return nil }
        if let addressSpace, addressSpace < self.mapped + need.memory + Self.reserve {
            return error(
                "address space (ulimit -v, RLIMIT_AS)", Self.mebibytes(addressSpace),
                Self.mebibytes(self.mapped + need.memory + Self.reserve),
                fix: "raise it, or limit memory by MemoryMax= of a systemd unit or by a container's limit instead")
        }
        if let data, data < need.memory + Self.stacks {
            return error(
                "data (ulimit -d, RLIMIT_DATA)", Self.mebibytes(data), Self.mebibytes(need.memory + Self.stacks),
                fix: "raise it, or limit memory by MemoryMax= of a systemd unit or by a container's limit instead")
        }
        // `need.memory` is the peak that `tandem plan` computes. A room cannot run with less than half of it.
        if let group, group < need.memory / 2 {
            return error(
                "memory of its control group (memory.max)", Self.mebibytes(group), Self.mebibytes(need.memory / 2),
                fix: "raise the container's or the unit's memory limit; `tandem plan` shows how much the room needs")
        }
        return nil
    }

    private static func mebibytes(_ bytes: Int64) -> String { "\((bytes + (1 << 20) - 1) >> 20) MiB" }

    /// Possible paths of the memory limit of a process's cgroup, the most likely first.
    ///
    /// Spec: cgroups(7); Documentation/admin-guide/cgroup-v2.rst, `memory.max`; cgroup-v1/memory.rst, `memory.limit_in_bytes`.
    ///
    /// - Parameter membership: The content of the process's `/proc/pid/cgroup`.
    package static func groupPlaces(membership: String) -> [String] {
        ControlGroup.directories(of: "memory", membership: membership).map {
            "\($0.path)/\($0.isVersion2 ? "memory.max" : "memory.limit_in_bytes")"
        }
    }

    /// Parses a cgroup memory limit.
    ///
    /// - Parameter text: Content of `memory.max` or `memory.limit_in_bytes`.
    /// - Returns: The limit in bytes; nil for `max` and for the value that means no limit in cgroup version 1.
    package static func groupLimit(_ text: String) -> Int64? {
        guard let line = text.split(separator: "\n").first, let bytes = Int64(line), bytes > 0, bytes < 1 << 60 else {
            return nil
        }
        return bytes
    }

    /// The limits of this process.
    ///
    /// - Parameter openFiles: The result of `LibAV.raiseOpenFiles()`; negative if it is unknown.
    package static func ofThisProcess(openFiles: Int) -> ProcessLimits {
        var limits = ProcessLimits()
        if openFiles >= 0 { limits.openFiles = Int64(openFiles) }
        func limit(_ resource: __rlimit_resource) -> Int64? {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return nil }
            return limit.rlim_cur < 1 << 60 ? Int64(limit.rlim_cur) : nil
        }
        limits.addressSpace = limit(RLIMIT_AS)
        limits.data = limit(RLIMIT_DATA)
        // Spec: proc(5), /proc/pid/statm: the first field is the size of the program, in pages.
        if let pages = ControlGroup.text("/proc/self/statm").split(separator: " ").first.flatMap({ Int64($0) }) {
            limits.mapped = pages.multipliedReportingOverflow(by: Int64(sysconf(Int32(_SC_PAGESIZE)))).partialValue
        }
        limits.group =
            Self.groupPlaces(membership: ControlGroup.text("/proc/self/cgroup")).lazy
            .compactMap { Self.groupLimit(ControlGroup.text($0)) }.first
        return limits
    }
}
