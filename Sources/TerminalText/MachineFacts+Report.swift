import MediaTypes

extension MachineFacts {
    private typealias Finding = DoctorReport.Finding

    /// Open files below which a room has few viewers: each HTTP/1.1 viewer has about one connection.
    private static let comfortableFiles = 4096
    /// Memory in bytes below which a room with the default renditions does not fit.
    private static let leastMemory: Int64 = 512 << 20
    /// Duration of a durable write in nanoseconds above which the disk is slow.
    private static let slowWrite: Int64 = 50_000_000
    /// Duration of a durable write in nanoseconds above which the disk is too slow for a live room, whose segments are
    /// published after they are written.
    private static let hangingWrite: Int64 = 1_000_000_000
    /// Free bytes below which a disk's space is low, which is a warning.
    private static let lowSpace: Int64 = 1 << 30
    /// Free bytes below which a disk has too little space for a room, which is an error.
    private static let noSpace: Int64 = 64 << 20
    /// 2024-01-01 in seconds since 1970: an earlier clock was never set.
    private static let oldest: Int64 = 1_704_067_200

    /// The findings, in a fixed order.
    package var report: DoctorReport {
        DoctorReport(
            findings: self.libraryFindings + self.fontFindings + self.limitFindings + self.clockFindings
                + self.portFindings + self.diskFindings + self.networkFindings)
    }

    private var libraryFindings: [Finding] {
        [Finding(.ok, "ffmpeg", "FFmpeg \(self.ffmpeg)")] + Self.parts(self.libraries, "ffmpeg")
            + self.hardwareFindings
    }

    /// One finding for the hardware encoders that open, and one for each other. A room that does not name one needs
    /// none, so none is a warning.
    private var hardwareFindings: [Finding] {
        let open = self.hardwareEncoders.filter { $0.problem == nil }.map(\.name)
        let list = open.isEmpty ? [] : [Finding(.ok, "encoders", "\(open.joined(separator: ", ")): opens")]
        return list
            + self.hardwareEncoders.compactMap { part in
                part.problem.map { Finding(.ok, "encoders", "\(part.name): not here: \($0.what)") }
            }
    }

    private var fontFindings: [Finding] { Self.parts(self.fonts, "fonts") }

    /// One finding for all parts without a problem, and one for each other.
    private static func parts(_ parts: [Part], _ area: String) -> [Finding] {
        let working = parts.filter { $0.problem == nil }.map(\.name)
        let list = working.isEmpty ? [] : [Finding(.ok, area, working.joined(separator: ", "))]
        return list
            + parts.compactMap { part in
                part.problem.map {
                    Finding(part.isRequired ? .error : .warning, area, "\(part.name): \($0.what)", fix: $0.fix)
                }
            }
    }

    private var limitFindings: [Finding] {
        let files = "\(self.openFiles) open files"
        let raise = "raise it: ulimit -n 65536, LimitNOFILE= of a systemd unit, or --ulimit nofile= of a container"
        var findings: [Finding] = []
        if self.openFiles < self.neededFiles {
            findings.append(Finding(.error, "limits", "\(files), and a room needs \(self.neededFiles)", fix: raise))
        } else if self.openFiles < Self.comfortableFiles {
            findings.append(Finding(.warning, "limits", "\(files) allow only few viewers and publishers", fix: raise))
        } else {
            findings.append(Finding(.ok, "limits", files))
        }
        if let memory = self.memory {
            let text = "\(EventValue.size(memory)) of memory"
            findings.append(
                memory < Self.leastMemory
                    ? Finding(
                        .warning, "limits", text,
                        fix: "allow more, or use fewer renditions; tandem plan FILE prints what a room needs")
                    : Finding(.ok, "limits", text))
        }
        let cores = "\(self.cores) core\(self.cores == 1 ? "" : "s")"
        if let quota = self.quota, quota < Int64(clamping: self.cores) * 1000 {
            let share =
                "\(cores), of which the cgroup's quota allows \(SpecText.decimal(Int(clamping: quota), over: 1000))"
            findings.append(
                Finding(
                    .warning, "limits", share,
                    fix: "remove the CPU limit: the kernel stops a room that has used up its quota, so frames are late")
            )
        } else {
            findings.append(
                self.cores < 2
                    ? Finding(
                        .warning, "limits", cores,
                        fix: "use a machine with two cores or more; tandem plan FILE prints what a room needs")
                    : Finding(.ok, "limits", cores))
        }
        return findings
    }

    private var clockFindings: [Finding] {
        var findings: [Finding] = []
        if self.monotonic <= 0 {
            findings.append(
                Finding(.error, "clock", "the monotonic clock does not advance", fix: "restart the virtual machine"))
        }
        let set = "set the clock: start systemd-timesyncd or chrony (on the host of a container)"
        if self.wallSeconds < Self.oldest {
            findings.append(Finding(.warning, "clock", "the date is before 2024", fix: set))
        }
        switch self.isClockSynchronized {
        case true?: findings.append(Finding(.ok, "clock", "synchronized"))
        case false?:
            findings.append(
                Finding(
                    .warning, "clock", "not synchronized: signed URLs and commands for a date may be early or late",
                    fix: set))
        case nil: findings.append(Finding(.ok, "clock", "the system does not say whether it is synchronized"))
        }
        return findings
    }

    private var portFindings: [Finding] { Self.parts(self.ports, "ports") }

    private var diskFindings: [Finding] {
        switch self.disk {
        case .failed(let reason):
            return [
                Finding(
                    .error, "disk", "\(self.directory): \(reason)",
                    fix: "create the directory, or give one that this user can write with --directory")
            ]
        case .measured(let latencies, let free):
            var findings: [Finding] = []
            let median = latencies.isEmpty ? 0 : latencies[latencies.count / 2]
            let longest = latencies.last ?? 0
            func milliseconds(_ time: Int64) -> String {
                "\(SpecText.decimal(Int(clamping: time / 1000), over: 1000)) ms"
            }
            let speed =
                "\(self.directory): a durable write takes \(milliseconds(median)), at most \(milliseconds(longest))"
            let fix = "use a local SSD for outputs[].path; network disks and SD cards delay segments"
            findings.append(
                median > Self.hangingWrite
                    ? Finding(.error, "disk", speed, fix: fix)
                    : median > Self.slowWrite || longest > Self.hangingWrite
                        ? Finding(.warning, "disk", speed, fix: fix) : Finding(.ok, "disk", speed))
            if let free {
                let text = "\(self.directory): \(EventValue.size(free)) free"
                let fix = "free space, or give another directory"
                findings.append(
                    free < Self.noSpace
                        ? Finding(.error, "disk", text, fix: fix)
                        : free < Self.lowSpace
                            ? Finding(.warning, "disk", text, fix: fix) : Finding(.ok, "disk", text))
            }
            return findings
        }
    }

    private var networkFindings: [Finding] {
        var findings: [Finding] = []
        if self.hasLoopback4 || self.hasLoopback6 {
            let families = (self.hasLoopback4 ? ["IPv4"] : []) + (self.hasLoopback6 ? ["IPv6"] : [])
            findings.append(Finding(.ok, "network", "loopback: \(families.joined(separator: " and "))"))
        }
        if !self.hasLoopback4 {
            findings.append(
                Finding(
                    .error, "network", "127.0.0.1 cannot be used, where control.listen is by default",
                    fix: "bring the interface lo up: ip link set lo up"))
        }
        let addresses = self.addresses4 + self.addresses6
        if addresses.isEmpty {
            findings.append(
                Finding(
                    .warning, "network", "no address that other machines could reach",
                    fix: "connect the machine or container to a network"))
        } else {
            findings.append(Finding(.ok, "network", addresses.joined(separator: ", ")))
        }
        return findings
    }
}
