#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The machine that a result was measured on.
struct Machine: Codable {
    var processor: String
    var cores: Int
    var memoryMiB: Int
    var kernel: String
    var ffmpeg: String
    var swift: String
    /// Load average over one minute before the first measurement: above 0.5, other processes affect the times.
    var loadBefore: Double

    /// Instruction counts are compared only between machines of one architecture.
    static var architecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "aarch64"
        #else
            "other"
        #endif
    }

    static func current(scratch: String) throws(BenchError) -> Machine {
        let cpuInfo = try Files.text(at: "/proc/cpuinfo")
        let model = cpuInfo.split(separator: "\n").first { $0.hasPrefix("model name") }
        let memory = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        let ffmpeg = getenv("FFMPEG").map { String(cString: $0) } ?? "ffmpeg"
        func firstLine(_ arguments: [String]) throws(BenchError) -> String {
            String(try ChildProcess.output(of: arguments, scratch: scratch).split(separator: "\n").first ?? "")
        }
        return Machine(
            processor: model?.split(separator: ":").last.map { String($0.dropFirst()) } ?? Self.architecture,
            cores: Self.cores, memoryMiB: memory >> 20,
            kernel: try firstLine(["uname", "-sr"]), ffmpeg: try firstLine([ffmpeg, "-hide_banner", "-version"]),
            swift: try firstLine(["swift", "--version"]), loadBefore: Self.load)
    }

    static var cores: Int { Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Number of the first core that this process may run on.
    static var firstCore: Int? { self.allowedCores.first }

    /// Numbers of the cores that this process may run on, ascending: proc(5), `Cpus_allowed_list`.
    static var allowedCores: [Int] {
        let lines = (try? Files.text(at: "/proc/self/status"))?.split(separator: "\n") ?? []
        let list = lines.first { $0.hasPrefix("Cpus_allowed_list:") }?.split(separator: "\t").last ?? ""
        return list.split(separator: ",").flatMap { range -> [Int] in
            let ends = range.split(separator: "-").compactMap { Int($0) }
            guard let low = ends.first, let high = ends.last, low <= high else { return [] }
            return Array(low...high)
        }
    }

    /// CPU seconds used since boot by all processes, the kernel and other guests of the host: proc(5), `/proc/stat`.
    static var busySeconds: Double {
        let line = (try? Files.text(at: "/proc/stat"))?.split(separator: "\n").first ?? ""
        // user nice system idle iowait irq softirq steal; user already includes guest time.
        let ticks = line.split(separator: " ").dropFirst().prefix(8).map { Double($0) ?? 0 }
        guard ticks.count == 8 else { return 0 }
        return (ticks.reduce(0, +) - ticks[3] - ticks[4]) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    }

    /// Load average of the last minute.
    static var load: Double {
        (try? Files.text(at: "/proc/loadavg"))?.split(separator: " ").first.flatMap { Double($0) } ?? 0
    }
}
