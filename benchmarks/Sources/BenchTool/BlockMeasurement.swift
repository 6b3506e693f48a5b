/// Live heap blocks of an offline room after each segment, counted by `floor/blocks.c`, less one for each event in the room's log,
/// which keeps thousands. A room whose window is full and which deletes what leaves the window needs no more blocks after sixty
/// segments than after twenty.
struct BlockResult: Codable {
    /// Blocks after segment 1, 2, ….
    var afterSegment: [Int]
    /// Medians around segment 20 and around segment 60: at the moment of one segment, more or fewer frames are on their way.
    var early: Double
    var late: Double
    /// `late` divided by `early`, minus 1.
    var growth: Double

    static let (earlySegment, lateSegment) = (20, 60)
    /// Number of segments before and after these whose blocks are part of the median.
    private static let reach = 4
    static var segments: Int { self.lateSegment + self.reach + 2 }

    init(afterSegment: [Int]) throws(BenchError) {
        guard afterSegment.count >= Self.lateSegment + Self.reach else {
            throw BenchError("the room wrote \(afterSegment.count) segments, not \(Self.lateSegment + Self.reach)")
        }
        func median(around segment: Int) -> Double {
            let near = afterSegment[segment - 1 - Self.reach...segment - 1 + Self.reach].sorted()
            return Double(near[Self.reach])
        }
        self.afterSegment = afterSegment
        self.early = median(around: Self.earlySegment)
        self.late = median(around: Self.lateSegment)
        self.growth = (self.late / max(1, self.early) - 1).rounded(digits: 5)
    }
}

/// Measures ``BlockResult``: the run with the median growth.
struct BlockMeasurement {
    let tandem: String
    let ffmpeg: String
    /// Directory for its files.
    let work: String
    /// Path of `blocks.so`.
    let library: String

    private static let gopFrames = 32
    private static let fps = 30
    /// Number of runs: the growth of one varies by a quarter of a percent.
    private static let runs = 3

    func measure() throws(BenchError) -> BlockResult {
        let directory = "\(self.work)/blocks"
        try Files.emptyDirectory(directory)
        for (name, frequency) in [("a", 440), ("b", 660)] { try self.makeSource("\(directory)/\(name).flv", frequency) }
        try Files.write(text: self.pipeline(directory), to: "\(directory)/pipeline.json")
        var results: [BlockResult] = []
        for _ in 0..<Self.runs { results.append(try self.run(directory)) }
        return results.sorted { $0.growth < $1.growth }[Self.runs / 2]
    }

    private func run(_ directory: String) throws(BenchError) -> BlockResult {
        try Files.emptyDirectory("\(directory)/out")
        let file = ChildProcess.path(directory) + "/blocks.txt"
        let name = self.tandem.split(separator: "/").last.map { String($0) } ?? self.tandem
        let usage = try ChildProcess.run(
            [self.tandem, "run", "\(directory)/pipeline.json", "--log-level", "error"],
            environment: [
                "LD_PRELOAD": ChildProcess.path(self.library), "BLOCKS_PROGRAM": name, "BLOCKS_FILE": file,
            ], output: "\(directory)/events")
        guard usage.status == 0 else { throw BenchError("the room for heap blocks ended with status \(usage.status)") }
        return try BlockResult(
            afterSegment: Self.blocks(Files.text(at: file), events: Files.text(at: "\(directory)/events")))
    }

    /// A source that is longer than the program, since a file that is opened again has other numbers of blocks on their way.
    private func makeSource(_ file: String, _ frequency: Int) throws(BenchError) {
        let made = try ChildProcess.run([
            self.ffmpeg, "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=\(Self.fps)",
            "-f",
            "lavfi", "-i", "sine=frequency=\(frequency):sample_rate=48000", "-t", "\(Self.seconds + 5)", "-c:v",
            "libx264",
            "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-bf", "0", "-g", "60", "-b:v", "200k", "-c:a", "aac", "-ac",
            "2",
            "-b:a", "64k", "-f", "flv", file,
        ])
        guard made.status == 0 else { throw BenchError("\(file) could not be made") }
    }

    /// Maximum number of events of this type in a room's log (`EventLog.momentCapacity`).
    private static let (moment, mostMoments) = ("audio.levels", 64)

    /// The blocks after each video segment, in order, without those of the log.
    ///
    /// - Parameters:
    ///   - text: Lines of a file's name and a number.
    ///   - events: The room's events, one per line.
    static func blocks(_ text: String, events: String) -> [Int] {
        var logged: [Int] = []
        var (events, moments) = (events.split(separator: "\n")[...], 0)
        var others = 0
        while let line = events.popFirst() {
            if line.contains("\"type\":\"\(self.moment)\"") { moments += 1 } else { others += 1 }
            if line.contains("\"type\":\"segment.published\"") {
                logged.append(others + min(moments, self.mostMoments))
            }
        }
        let counts = text.split(separator: "\n").compactMap { line -> Int? in
            let words = line.split(separator: " ")
            return words.count == 2 && words[0].hasPrefix("video-") ? Int(words[1]) : nil
        }
        return zip(counts, logged).map { $0 - $1 }
    }

    private static var seconds: Double { Double(BlockResult.segments * self.gopFrames) / Double(self.fps) }

    private func pipeline(_ directory: String) -> String {
        """
        {
          "room": { "roomId": "blocks" }, "clock": "offline", "durationSeconds": \(Self.seconds.rounded(digits: 3)),
          "sources": [
            { "uid": "a", "type": "file", "path": "\(directory)/a.flv" },
            { "uid": "b", "type": "file", "path": "\(directory)/b.flv" }
          ],
          "canvas": { "width": 320, "height": 180, "fps": \(Self.fps) },
          "scenes": [ { "sceneId": "pk", "layout": "sideBySide", "uids": ["a", "b"] } ],
          "renditions": [ { "name": "video", "width": 320, "height": 180, "video": { "bitrate": 300000 } } ],
          "outputs": [ {
            "path": "\(directory)/out", "playlistType": "live", "windowSeconds": 6, "deleteGraceSeconds": 3,
            "gopFrames": \(Self.gopFrames), "segmentGops": 1
          } ]
        }
        """
    }
}
