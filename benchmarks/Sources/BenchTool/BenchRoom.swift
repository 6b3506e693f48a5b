import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A room in its own process with its publishers, and their CPU time and memory.
final class BenchRoom {
    /// The part of a room's closing summary that is measured here.
    struct Summary: Decodable {
        struct Ticks: Decodable {
            var frames: Int
            var late: Int
            var lost: Int
            var longestSwapUs: Int
        }
        struct Percentiles: Decodable {
            var p50: Double
            var p95: Double?
            var p99: Double?
        }
        var ticks: Ticks
        var switches: Int
        var cpuSeconds: Double
        var peakMemoryMiB: Double
        var partLatencyMs: Percentiles?
        var sendToPartMs: Percentiles?
    }

    private struct Event: Decodable {
        var type: String
        var rtmp: String?
        var control: String?
        var summary: Summary?
    }

    let pid: pid_t
    /// Time from its start to the event `room.ready`.
    let readyMs: Double
    let rtmp: String
    let control: String
    private let events: String
    private let started: Double
    private var publishers: [pid_t] = []
    private var isRunning = true

    /// Starts a room and waits until it is ready.
    ///
    /// - Parameters:
    ///   - pipeline: JSON text; it is written to the directory of the events.
    ///   - directory: An existing directory for this room only.
    ///   - environment: Additional environment variables of the room.
    init(
        tandem: String, pipeline: String, directory: String, environment: [String: String] = [:]
    ) throws(BenchError) {
        let file = "\(directory)/pipeline.json"
        try Files.write(text: pipeline, to: file)
        self.events = "\(directory)/events"
        self.started = ChildProcess.now()
        self.pid = try ChildProcess.start(
            [tandem, "run", file, "--log-level", "error"], environment: environment, output: self.events)
        var ready: Event?
        while ready == nil, ChildProcess.now() - self.started < 20 {
            usleep(1_000)
            ready = Self.event("room.ready", in: self.events)
        }
        self.readyMs = ((ChildProcess.now() - self.started) * 1000).rounded(digits: 1)
        self.rtmp = ready?.rtmp ?? ""
        self.control = ready?.control ?? ""
        guard ready != nil else {
            throw BenchError("a room was not ready within 20 s; see \(self.events)")
        }
    }

    /// Ends all processes if a measurement fails.
    deinit {
        guard self.isRunning else { return }
        for child in [self.pid] + self.publishers {
            kill(child, SIGKILL)
            _ = try? ChildProcess.wait(child, name: "child", since: self.started)
        }
    }

    /// Publishes a file with FFmpeg, without transcoding.
    func publish(_ file: String, key: String, ffmpeg: String, paced: Bool = true) throws(BenchError) {
        self.publishers.append(
            try ChildProcess.start(
                [ffmpeg, "-v", "quiet", "-nostdin"] + (paced ? ["-re", "-stream_loop", "-1"] : []) + [
                    "-i", file, "-c", "copy", "-f", "flv", "\(self.rtmp)/live/\(key)",
                ], output: "/dev/null"))
    }

    /// Waits for an event of this type.
    func waits(for type: String, seconds: Double = 15) throws(BenchError) {
        let end = ChildProcess.now() + seconds
        while Self.event(type, in: self.events) == nil {
            guard ChildProcess.now() < end else {
                throw BenchError("no \(type) within \(seconds) s; see \(self.events)")
            }
            usleep(10_000)
        }
    }

    /// The room's state of work at one moment.
    struct Work {
        /// Number of frames so far that were late or lost.
        var late: Int
        var lost: Int
        /// Number of overload steps currently active.
        var steps: Int
        /// Number of events so far about such steps, both directions.
        var changes: Int
    }

    func work() throws(BenchError) -> Work {
        struct State: Decodable {
            struct Ticks: Decodable {
                var late: Int
                var lost: Int
            }
            struct Overload: Decodable { var steps: [String] }
            var ticks: Ticks
            var overload: Overload
        }
        let answer = try LoopbackHTTP.exchange("GET", self.control, "/v1/state")
        guard answer.status == 200, let state = try? JSONDecoder().decode(State.self, from: Data(answer.body.utf8))
        else {
            throw BenchError("GET /v1/state returned \(answer.status)")
        }
        let events = try Files.text(at: self.events).split(separator: "\n")
        return Work(
            late: state.ticks.late, lost: state.ticks.lost, steps: state.overload.steps.count,
            changes: events.count { $0.contains("\"encoder.overload_step\"") })
    }

    /// CPU seconds so far of the room and of its publishers.
    func cpuSeconds() -> (room: Double, publishers: Double) {
        func seconds(_ pid: pid_t) -> Double {
            var threads = ThreadTimes(pid: pid)
            threads.sample()
            return threads.secondsByName.values.reduce(0, +)
        }
        return (seconds(self.pid), self.publishers.reduce(0) { $0 + seconds($1) })
    }

    /// Current resident memory in MiB: proc(5), `VmRSS`.
    var residentMiB: Double {
        let text = (try? Files.text(at: "/proc/\(self.pid)/status")) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let value = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Double($0) }
        return (value ?? 0) / 1024
    }

    /// Ends the room with the API, then its publishers.
    ///
    /// - Returns: The room's summary, its resource usage from the kernel, and the publishers' CPU seconds.
    func end() throws(BenchError) -> (summary: Summary, usage: ChildUsage, publisherCPU: Double) {
        _ = try LoopbackHTTP.request("POST", self.control, "/v1/room:end")
        let usage = try ChildProcess.wait(self.pid, name: "tandem", since: self.started)
        self.isRunning = false
        var cpu = 0.0
        for publisher in self.publishers {
            kill(publisher, SIGTERM)
            cpu += try ChildProcess.wait(publisher, name: "publisher", since: self.started).cpuSeconds
        }
        guard usage.status == 0, let summary = Self.event("room.closed", in: self.events)?.summary else {
            throw BenchError("a room ended with status \(usage.status) or without a summary; see \(self.events)")
        }
        return (summary, usage, cpu)
    }

    private static func event(_ type: String, in file: String) -> Event? {
        guard let text = try? Files.text(at: file) else { return nil }
        for line in text.split(separator: "\n") where line.contains("\"\(type)\"") {
            if let event = try? JSONDecoder().decode(Event.self, from: Data(line.utf8)), event.type == type {
                return event
            }
        }
        return nil
    }
}
