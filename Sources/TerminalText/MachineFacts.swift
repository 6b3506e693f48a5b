/// What was measured on a machine, from which ``report`` draws its findings.
package struct MachineFacts: Sendable, Equatable {
    /// A problem of a part, and its remedy.
    package struct Problem: Sendable, Equatable {
        package var what: String
        package var fix: String

        package init(_ what: String, fix: String) {
            self.what = what
            self.fix = fix
        }
    }

    /// A part and its problem; `nil` if there is none.
    package struct Part: Sendable, Equatable {
        package var name: String
        package var problem: Problem?
        /// Whether rooms, or the room of the given pipeline, do not run without the part.
        package var isRequired: Bool

        package init(_ name: String, _ problem: Problem?, isRequired: Bool = false) {
            self.name = name
            self.problem = problem
            self.isRequired = isRequired
        }
    }

    /// Speed and space of a directory's disk.
    package enum Disk: Sendable, Equatable {
        /// Durations of small durable writes in nanoseconds, in rising order, and free bytes; `nil`: not known.
        case measured(latencies: [Int64], free: Int64?)
        /// Why the directory cannot be written.
        case failed(String)
    }

    package var ffmpeg = ""
    package var libraries: [Part] = []
    /// Hardware encoders; a problem says why one does not open. Rooms do not need any.
    package var hardwareEncoders: [Part] = []
    /// The scripts that were tried, such as `Latin`; a problem says that this machine's fonts lack characters of one.
    package var fonts: [Part] = []
    /// Maximum number of files that the process can open.
    package var openFiles = 0
    /// Number of open files that a room needs at least.
    package var neededFiles = 0
    /// Bytes of memory that the process may use; `nil`: not known.
    package var memory: Int64?
    /// Number of processor cores.
    package var cores = 0
    /// The quota of the process's cgroup in thousandths of a core; `nil`: no quota.
    package var quota: Int64?
    /// Whether the machine's clock is synchronized; `nil`: not known.
    package var isClockSynchronized: Bool?
    /// Nanoseconds that the monotonic clock has advanced while work was done.
    package var monotonic: Int64 = 0
    /// Seconds since 1970 by the machine's clock.
    package var wallSeconds: Int64 = 0
    /// Listeners whose ports were tried.
    package var ports: [Part] = []
    package var directory = "."
    package var disk = Disk.failed("not measured")
    /// Whether a listener can be opened at 127.0.0.1.
    package var hasLoopback4 = false
    /// Whether a listener can be opened at ::1.
    package var hasLoopback6 = false
    /// IPv4 addresses of the machine, without loopback and link-local ones.
    package var addresses4: [String] = []
    /// IPv6 addresses of the machine, without loopback and link-local ones.
    package var addresses6: [String] = []

    package init() {}

    /// Adds an address of the machine in its usual text form, unless it is loopback or link-local, so that clients and
    /// servers in other networks cannot reach it.
    ///
    /// Spec: RFC 3927 §2.1 (169.254.0.0/16), RFC 4291 §2.5.6 (fe80::/10).
    package mutating func add(address text: String) {
        if text.contains(":") {
            let first = UInt16(text.prefix { $0 != ":" }, radix: 16) ?? 0
            if text != "::1", first & 0xffc0 != 0xfe80 { self.addresses6.append(text) }
        } else if !text.hasPrefix("127."), !text.hasPrefix("169.254.") {
            self.addresses4.append(text)
        }
    }

    /// Returns the quota in thousandths of a core from the cgroup's file `cpu.max`; `nil` if there is none.
    ///
    /// Spec: Documentation/admin-guide/cgroup-v2.rst: `$MAX $PERIOD` in µs, `max` for no limit.
    package static func quota(cpuMax text: String) -> Int64? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2 else { return nil }
        return self.quota(microseconds: String(words[0]), period: String(words[1]))
    }

    /// Returns the quota in thousandths of a core from `cpu.cfs_quota_us` and `cpu.cfs_period_us` of cgroup version 1;
    /// `nil` if there is none (-1).
    package static func quota(microseconds: String, period: String) -> Int64? {
        func number(_ text: String) -> Int64? { Int64(text.filter { !$0.isWhitespace }) }
        guard let quota = number(microseconds), let period = number(period), quota > 0, period > 0,
            quota < 1 << 50
        else { return nil }
        return quota * 1000 / period
    }
}
