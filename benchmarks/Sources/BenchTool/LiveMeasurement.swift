#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// CPU time of other processes during a measurement, from the kernel's total.
private struct Others {
    private let busy = Machine.busySeconds
    private let start = ChildProcess.now()

    /// - Parameter ours: CPU seconds of the measured processes since then.
    func cores(ours: Double) -> Double {
        max(0, (Machine.busySeconds - self.busy - ours) / max(0.1, ChildProcess.now() - self.start)).rounded(digits: 2)
    }
}

/// Measures live rooms whose publishers only copy packets.
struct LiveMeasurement {
    let tandem: String
    let ffmpeg: String
    /// Path of `r1.sh`.
    let script: String
    /// Directory of R1's sources; rooms get directories next to them.
    let work: String
    /// Duration of the test with each number of rooms, in seconds.
    let seconds: Double
    /// Maximum number of rooms to try.
    let mostRooms: Int
    /// Duration of the memory measurement in minutes; 0: none.
    let memoryMinutes: Double
    /// False for the short form: start, one room, latency.
    let isFull: Bool

    func measure() throws(BenchError) -> LiveResult {
        let load = Machine.load
        let (starts, peers) = try self.starts()
        var result = LiveResult(
            loadBefore: load, startMs: starts, ffmpegStartMs: peers, rooms: [], roomsInRealTime: 0)
        Terminal.say(
            "  start to room.ready: \(BenchPercentiles(starts).p50) ms, FFmpeg for one frame:"
                + " \(BenchPercentiles(peers).p50) ms (medians)")
        result.rooms = try self.roomsUntilLate(Self.asR1)
        result.roomsInRealTime = Self.inRealTime(result.rooms)
        if self.isFull {
            let fast = try self.roomsUntilLate(#""preset": "tandem-faster""#)
            result.fastRooms = fast
            result.fastRoomsInRealTime = Self.inRealTime(fast)
            result.ffmpegJobs = try self.ffmpegJobsUntilLate()
        }
        (result.latency, result.switches) = try self.latencyAndSwitches()
        if let latency = result.latency {
            Terminal.say("  send to part: p50 \(latency.sendToPart.p50), p95 \(latency.sendToPart.p95 ?? 0) ms")
        }
        if self.isFull { result.ingest = try self.ingest() }
        if self.memoryMinutes > 0 { result.memory = try self.memory() }
        return result
    }

    // MARK: Parts

    /// Measures warm starts: a first run that does not count fills the page cache.
    private func starts() throws(BenchError) -> (rooms: [Double], ffmpeg: [Double]) {
        let onePicture = [
            self.ffmpeg, "-hide_banner", "-loglevel", "quiet", "-nostdin", "-f", "lavfi", "-i", "nullsrc=size=16x16",
            "-frames:v", "1", "-f", "null", "-",
        ]
        var rooms: [Double] = []
        var peers: [Double] = []
        for index in 0...(self.isFull ? 7 : 5) {
            let room = try self.room("start", Self.pk(""))
            _ = try room.end()
            let peer = try ChildProcess.run(onePicture)
            guard peer.status == 0 else { throw BenchError("FFmpeg's one picture ended with status \(peer.status)") }
            guard index > 0 else { continue }
            rooms.append(room.readyMs)
            peers.append((peer.wallSeconds * 1_000).rounded(digits: 1))
        }
        return (rooms, peers)
    }

    /// Adds one room at a time until a frame is late or a room reduces its work because of overload.
    private func roomsUntilLate(_ video: String) throws(BenchError) -> [LiveResult.Rooms] {
        var tried: [LiveResult.Rooms] = []
        for count in 1...max(1, self.mostRooms) {
            let rooms = try self.rooms(count, video)
            Terminal.say(
                "  \(count) PK rooms, \(video): \(rooms.late) late, \(rooms.lost) lost,"
                    + " \(rooms.steps ?? 0) steps against overload, \(rooms.roomCores) cores,"
                    + " publishers \(rooms.publisherCores)")
            tried.append(rooms)
            guard rooms.isInRealTime else { break }
        }
        return tried
    }

    /// Runs R1 with the FFmpeg command line from files, with more and more jobs at once until one takes longer than its 20 s.
    /// This shows what the machine can currently do with R1's settings.
    private func ffmpegJobsUntilLate() throws(BenchError) -> [LiveResult.Jobs] {
        var tried: [LiveResult.Jobs] = []
        for count in 1...max(1, self.mostRooms) {
            let start = ChildProcess.now()
            var running: [pid_t] = []
            for index in 0..<count {
                running.append(
                    try ChildProcess.start(
                        [self.script, "ffmpeg", self.work],
                        environment: ["OUT": "ffmpegJob\(index)", "FFMPEG": self.ffmpeg]))
            }
            var jobs = LiveResult.Jobs(jobs: count, wallSeconds: 0, cpuSeconds: 0)
            for pid in running {
                let usage = try ChildProcess.wait(pid, name: "FFmpeg's R1", since: start)
                guard usage.status == 0 else { throw BenchError("FFmpeg's R1 ended with status \(usage.status)") }
                jobs.wallSeconds = max(jobs.wallSeconds, usage.wallSeconds)
                jobs.cpuSeconds += usage.cpuSeconds
            }
            jobs.wallSeconds = jobs.wallSeconds.rounded(digits: 1)
            jobs.cpuSeconds = jobs.cpuSeconds.rounded(digits: 2)
            Terminal.say("  \(count) of FFmpeg's R1 at once: \(jobs.wallSeconds) s for 20 s, \(jobs.cpuSeconds) CPU s")
            tried.append(jobs)
            guard jobs.isInRealTime else { break }
        }
        return tried
    }

    private static func inRealTime(_ tried: [LiveResult.Rooms]) -> Int {
        tried.filter(\.isInRealTime).map(\.rooms).max() ?? 0
    }

    private func rooms(_ count: Int, _ video: String) throws(BenchError) -> LiveResult.Rooms {
        var rooms: [BenchRoom] = []
        for index in 0..<count {
            let room = try self.room("room\(index)", Self.pk("", video: video))
            try self.publishBoth(to: room)
            rooms.append(room)
        }
        // Start counting when all rooms are on air, all processes have started, and overload steps taken meanwhile are undone.
        for room in rooms { try room.waits(for: "program.started") }
        let settled = ChildProcess.now() + 20
        var steps = 0
        repeat {
            usleep(4_000_000)
            steps = 0
            for room in rooms { steps += try room.work().steps }
        } while steps > 0 && ChildProcess.now() < settled
        let others = Others()
        let start = ChildProcess.now()
        var before: [BenchRoom.Work] = []
        for room in rooms { before.append(try room.work()) }
        let used = rooms.map { $0.cpuSeconds() }
        usleep(useconds_t(self.seconds * 1e6))
        let usedThen = rooms.map { $0.cpuSeconds() }
        var after: [BenchRoom.Work] = []
        for room in rooms { after.append(try room.work()) }
        let wall = ChildProcess.now() - start
        var result = LiveResult.Rooms(
            rooms: count, seconds: self.seconds, late: 0, lost: 0, steps: 0, roomCores: 0, publisherCores: 0,
            othersCores: 0)
        steps = 0
        result.othersCores = others.cores(
            ours: zip(usedThen, used).reduce(0) { $0 + $1.0.room - $1.1.room + $1.0.publishers - $1.1.publishers })
        for (index, room) in rooms.enumerated() {
            let (summary, _, _) = try room.end()
            result.late += after[index].late - before[index].late
            result.lost += after[index].lost - before[index].lost
            steps += before[index].steps + after[index].changes - before[index].changes
            result.roomCores += (usedThen[index].room - used[index].room) / wall
            result.publisherCores += (usedThen[index].publishers - used[index].publishers) / wall
            result.partP99Ms = [result.partP99Ms, summary.partLatencyMs?.p99].compactMap { $0 }.max()
        }
        result.steps = steps
        result.roomCores = result.roomCores.rounded(digits: 2)
        result.publisherCores = result.publisherCores.rounded(digits: 3)
        return result
    }

    private func latencyAndSwitches() throws(BenchError) -> (LiveResult.Latency?, LiveResult.Switches?) {
        let others = Others()
        let calm = try self.room("latency", Self.pk(#""preset": "lowLatency","#))
        try self.publishBoth(to: calm)
        try calm.waits(for: "program.started")
        usleep(useconds_t(self.seconds * 1e6))
        let (quiet, used, published) = try calm.end()
        let othersCores = others.cores(ours: used.cpuSeconds + published)
        let latency = quiet.sendToPartMs.map {
            LiveResult.Latency(
                sendToPart: BenchPercentiles(p50: $0.p50, p95: $0.p95, p99: $0.p99),
                encoderToPart: BenchPercentiles(
                    p50: quiet.partLatencyMs?.p50 ?? 0, p95: nil, p99: quiet.partLatencyMs?.p99),
                partMs: 16_000.0 / 30, jitterBufferMs: 200, othersCores: othersCores)
        }
        // The switches have no threshold.
        guard self.isFull else { return (latency, nil) }
        let room = try self.room("switches", Self.pk(#""preset": "lowLatency","#))
        try self.publishBoth(to: room)
        try room.waits(for: "broadcast.active")
        var answers: [Double] = []
        let end = ChildProcess.now() + self.seconds
        while ChildProcess.now() < end {
            let start = ChildProcess.now()
            let scene = answers.count.isMultiple(of: 2) ? "solo" : "pk"
            let status = try LoopbackHTTP.request("PUT", room.control, "/v1/program", body: #"{"sceneId":"\#(scene)"}"#)
            guard status == 200 else { throw BenchError("PUT /v1/program answered \(status)") }
            answers.append((ChildProcess.now() - start) * 1000)
            usleep(400_000)
        }
        let busy = try room.end().summary
        return (
            latency,
            LiveResult.Switches(
                count: busy.switches, longestSwapMs: Double(busy.ticks.longestSwapUs) / 1000, late: busy.ticks.late,
                lost: busy.ticks.lost, answerMs: BenchPercentiles(answers))
        )
    }

    private func memory() throws(BenchError) -> LiveResult.Memory {
        let room = try self.room("memory", Self.pk(""))
        try self.publishBoth(to: room)
        try room.waits(for: "program.started")
        let start = ChildProcess.now()
        var samples: [[Double]] = []
        while case let time = ChildProcess.now() - start, time < self.memoryMinutes * 60 {
            samples.append([time.rounded(digits: 1), room.residentMiB.rounded(digits: 2)])
            usleep(2_000_000)
        }
        _ = try room.end()
        let late = samples.suffix(samples.count / 2).map { (x: $0[0] / 60, y: $0[1]) }
        let (meanX, meanY) = (
            late.reduce(0) { $0 + $1.x } / Double(max(1, late.count)),
            late.reduce(0) { $0 + $1.y } / Double(max(1, late.count))
        )
        let slope =
            late.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) }
            / max(1e-9, late.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) })
        return LiveResult.Memory(samples: samples, slopePerMinute: slope.rounded(digits: 3))
    }

    /// A source that is in no scene publishes as fast as the room reads; counts the CPU time of the network threads.
    private func ingest() throws(BenchError) -> LiveResult.Ingest? {
        let file = "\(self.work)/fat.flv"
        if !Files.exists(file) {
            // Incompressible noise at 300 Mbit/s, so that the cost of bytes, not of messages, is measured.
            let made = try ChildProcess.run([
                self.ffmpeg, "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i",
                "nullsrc=size=640x360:rate=30,geq=random(1)*255:128:128", "-t", "4", "-c:v", "libx264", "-preset",
                "ultrafast", "-qp", "4", "-g", "30", "-pix_fmt", "yuv420p", "-f", "flv", file,
            ])
            guard made.status == 0 else { throw BenchError("\(file) could not be made") }
        }
        let bytes = try Files.size(of: self.work) { $0 == "fat.flv" }
        let room = try self.room("ingest", Self.ingestRoom)
        var threads = ThreadTimes(pid: room.pid)
        threads.sample()
        let before = Self.network(threads)
        let start = ChildProcess.now()
        let rounds = 8
        for _ in 0..<rounds {
            let publisher = try ChildProcess.start(
                [
                    self.ffmpeg, "-v", "quiet", "-nostdin", "-i", file, "-c", "copy", "-f", "flv",
                    "\(room.rtmp)/live/b",
                ], output: "/dev/null")
            _ = try ChildProcess.wait(publisher, name: "publisher", since: start)
        }
        threads.sample()
        let used = Self.network(threads) - before
        _ = try room.end()
        let gigabytes = Double(bytes * rounds) / 1e9
        return LiveResult.Ingest(
            gigabytes: gigabytes.rounded(digits: 2), cpuSecondsPerGigabyte: (used / gigabytes).rounded(digits: 3))
    }

    private static func network(_ threads: ThreadTimes) -> Double {
        threads.secondsByName.filter { $0.key.hasPrefix("NIO") }.values.reduce(0, +)
    }

    // MARK: Rooms

    private func room(_ name: String, _ pipeline: String) throws(BenchError) -> BenchRoom {
        let directory = "\(self.work)/\(name)"
        try Files.emptyDirectory(directory)
        return try BenchRoom(
            tandem: self.tandem,
            pipeline: pipeline.split(separator: "%OUT%", omittingEmptySubsequences: false).joined(
                separator: "\(directory)/out"),
            directory: directory)
    }

    private func publishBoth(to room: BenchRoom) throws(BenchError) {
        for key in ["a", "b"] { try room.publish("\(self.work)/\(key).flv", key: key, ffmpeg: self.ffmpeg) }
    }

    /// The encoder settings of R1, equal for all programs.
    private static let asR1 = #""bFrames": 3, "lookaheadFrames": 10"#

    /// The PK room of R1, live.
    ///
    /// - Parameters:
    ///   - output: JSON members of the output, followed by a comma.
    ///   - video: JSON members of each rendition's `video`.
    static func pk(_ output: String, video: String? = nil) -> String {
        let video = video.map { ", " + $0 } ?? ""
        return """
            {
              "room": { "roomId": "bench" }, "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
              "sources": [ { "uid": "a", "streamKey": "a" }, { "uid": "b", "streamKey": "b" } ],
              "canvas": { "width": 1280, "height": 720 },
              "scenes": [
                { "sceneId": "pk", "layout": "sideBySide", "uids": ["a", "b"] },
                { "sceneId": "solo", "layout": "solo", "uids": ["a"] }
              ],
              "program": { "scene": "pk" },
              "renditions": [
                { "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2500000\(video) } },
                { "name": "480p", "width": 854, "height": 480, "video": { "bitrate": 1200000\(video) } },
                { "name": "360p", "width": 640, "height": 360, "video": { "bitrate": 700000\(video) } }
              ],
              "outputs": [ { "type": "hls", "path": "%OUT%", \(output) "http": { "listen": "127.0.0.1:0", "lingerSeconds": 0 } } ]
            }
            """
    }

    private static let ingestRoom = """
        {
          "room": { "roomId": "bench" }, "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
          "sources": [ { "uid": "a", "streamKey": "a" }, { "uid": "b", "streamKey": "b" } ],
          "canvas": { "width": 320, "height": 180 },
          "scenes": [ { "sceneId": "solo", "layout": "solo", "uids": ["a"] } ],
          "renditions": [ { "name": "180p", "width": 320, "height": 180, "video": { "bitrate": 300000 } } ],
          "outputs": [ { "type": "hls", "path": "%OUT%", "http": { "listen": "127.0.0.1:0", "lingerSeconds": 0 } } ]
        }
        """
}
