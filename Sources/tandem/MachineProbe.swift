import LibAV
import Libc
import MediaTypes
import NIOCore
import PipelineSpec
import Room
import RoomAPI
import Synchronization
import TerminalText
import Threading

/// Measures this machine for `tandem doctor`.
enum MachineProbe {
    /// Measures everything. Blocks while it opens the hardware encoders, and while it makes up to twenty small durable
    /// writes to the directory's disk.
    ///
    /// - Parameters:
    ///   - pipeline: The pipeline whose ports are tried; `nil`: none.
    ///   - directory: The directory whose disk is measured.
    static func facts(pipeline: Pipeline?, directory: String) -> MachineFacts {
        // Hardware encoders that do not open print why.
        LibAV.setNativeLogging(false)
        var facts = MachineFacts()
        let clock = SystemClock()
        let start = clock.now()
        facts.ffmpeg = LibAV.version
        facts.libraries = self.libraries
        facts.hardwareEncoders = H264Implementation.allCases.filter(\.isHardware).map { encoder in
            .init(encoder.rawValue, self.problem(of: encoder))
        }
        facts.fonts = self.fonts
        let limits = ProcessLimits.ofThisProcess(openFiles: LibAV.raiseOpenFiles())
        facts.openFiles = Int(clamping: limits.openFiles ?? 0)
        facts.cores = System.coreCount
        facts.neededFiles = Int(clamping: ProcessLimits.Need.room(cores: facts.cores, memory: 0).openFiles)
        let memory = sysconf(Int32(_SC_PHYS_PAGES)).multipliedReportingOverflow(by: sysconf(Int32(_SC_PAGESIZE)))
        let installed = memory.overflow || memory.partialValue <= 0 ? nil : Int64(memory.partialValue)
        facts.memory = [installed, limits.group, limits.addressSpace].compactMap { $0 }.min()
        facts.quota = self.quota
        facts.isClockSynchronized = LibAV.isClockSynchronized
        facts.wallSeconds = SystemClock.wallClock() / TimeMath.nanoseconds
        if let pipeline {
            facts.ports = FreePorts.problems(pipeline).map { place, listen, error in
                MachineFacts.Part(
                    "\(place) \(listen)", error.map { .init($0.what, fix: $0.fix) }, isRequired: true)
            }
        }
        facts.directory = directory
        facts.disk = self.disk(directory, clock)
        facts.hasLoopback4 = FreePorts.canListen(host: "127.0.0.1")
        facts.hasLoopback6 = FreePorts.canListen(host: "::1")
        self.addAddresses(to: &facts)
        facts.monotonic = clock.now() - start
        return facts
    }

    /// Why a hardware encoder does not open; `nil` if it does. Waits for a limited time, because a driver can block
    /// without end.
    private static func problem(of encoder: H264Implementation) -> MachineFacts.Problem? {
        let found = Mutex<MediaError?>(nil)
        let thread = StageThread("hw") {
            let error = LibAV.problem(of: encoder)
            found.withLock { $0 = error }
        }
        guard thread.join(within: 10 * TimeMath.nanoseconds) else {
            return MachineFacts.Problem("it did not open in 10 s", fix: encoder.remedy)
        }
        return found.withLock { $0 }.map { MachineFacts.Problem($0.what, fix: $0.fix) }
    }

    private static var libraries: [MachineFacts.Part] {
        func part(
            _ name: String, _ exists: Bool, _ what: String, _ fix: String, isRequired: Bool = false
        ) -> MachineFacts.Part {
            .init(name, exists ? nil : .init(what, fix: fix), isRequired: isRequired)
        }
        let debian = "install another FFmpeg (Debian's has it)"
        let encoders = [
            part("libx264", LibAV.hasEncoder("libx264"), "no encoder for video", debian, isRequired: true),
            part("AAC encoder", LibAV.hasEncoder("aac"), "no encoder for audio", debian, isRequired: true),
            part("libopus", LibAV.hasEncoder("libopus"), "no audio for outputs of type webrtc", debian),
            part("drawtext", LibAV.hasFilter("drawtext"), "texts are drawn with built-in capitals only", debian),
            part("arnndn", LibAV.hasFilter("arnndn"), "noiseSuppression: model does nothing", debian),
            part("SRT", LibAV.hasProtocol("srt"), "SRT publishers cannot be received", debian),
        ]
        let decoders: [(name: String, codec: CodecName, isRequired: Bool)] = [
            ("H.264", .h264, true), ("AAC", .aac, true), ("Opus", .opus, false), ("VP8", .vp8, false),
            ("VP9", .vp9, false), ("HEVC", .hevc, false), ("AV1", .av1, false),
        ]
        return encoders
            + decoders.map { name, codec, isRequired in
                part(
                    "\(name) decoder", LibAV.hasDecoder(codec), "publishers with \(name) cannot be decoded", debian,
                    isRequired: isRequired)
            }
    }

    /// Fonts of this machine, with which texts without fonts of their own are drawn, tried with a word of each script.
    private static var fonts: [MachineFacts.Part] {
        let checks = RoomChecks.here(wall: SystemWallClock())
        let words = [
            ("Latin", "Aé1"), ("Korean", "한국어"), ("Chinese", "中文"), ("Japanese", "日本かな"), ("Arabic", "عربي"),
            ("emoji", "😀"),
        ]
        return words.map { script, word in
            .init(script, checks.text(word, []).map { .init($0.what, fix: $0.fix) })
        }
    }

    /// The quota of this process's cgroup in thousandths of a core; `nil`: none.
    private static var quota: Int64? {
        let groups = ControlGroup.directories(of: "cpu", membership: ControlGroup.text("/proc/self/cgroup"))
        return groups.lazy.compactMap { path, isVersion2 in
            isVersion2
                ? MachineFacts.quota(cpuMax: ControlGroup.text("\(path)/cpu.max"))
                : MachineFacts.quota(
                    microseconds: ControlGroup.text("\(path)/cpu.cfs_quota_us"),
                    period: ControlGroup.text("\(path)/cpu.cfs_period_us"))
        }.first
    }

    /// Maximum number of durable writes with which a disk is measured.
    private static let writes = 20
    /// Time in nanoseconds after which no further durable write begins.
    private static let longestMeasurement: Int64 = 5_000_000_000

    private static func disk(_ directory: String, _ clock: SystemClock) -> MachineFacts.Disk {
        // A signal would leave the file behind. It is ignored while the disk is measured, usually for less than a second.
        let signals = [SIGINT, SIGTERM, SIGHUP].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in signals { signal(number, handler) } }
        let path = "\(directory)/.tandem-doctor-\(getpid())"
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            return .failed(errno == ENOENT ? "there is no such directory" : "cannot be written (errno \(errno))")
        }
        defer {
            close(file)
            unlink(path)
        }
        let block = [UInt8](repeating: 0x54, count: 4096)
        var latencies: [Int64] = []
        let first = clock.now()
        while latencies.count < Self.writes {
            let start = clock.now()
            if start - first > Self.longestMeasurement { break }
            guard FileWriting.write(block, to: file), fsync(file) == 0 else {
                return .failed("a write failed (errno \(errno))")
            }
            latencies.append(clock.now() - start)
        }
        var space = statvfs()
        let isKnown = statvfs(directory, &space) == 0
        let free = UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize))
        return .measured(
            latencies: latencies.sorted(),
            free: isKnown ? Int64(clamping: free.overflow ? .max : free.partialValue) : nil)
    }

    /// Adds the addresses of this machine's interfaces; see ``MachineFacts/add(address:)``.
    private static func addAddresses(to facts: inout MachineFacts) {
        for device in (try? System.enumerateDevices()) ?? [] {
            if let text = device.address?.ipAddress { facts.add(address: text) }
        }
    }
}
