/// Measures what passthrough saves: one publisher, and a room with a PK for 30 % of its time, compared with FFmpeg at veryfast.
struct PassthroughMeasurement {
    /// Path of `passthrough.sh`.
    let script: String
    /// Directory for sources and outputs.
    let work: String
    let rounds: Int

    /// The jobs of a round, in order.
    private static let jobs: [(name: String, word: String, environment: [String: String])] = [
        ("solo", "solo", ["PRESET": "tandem-faster"]), ("ffmpeg", "ffmpeg", [:]),
        ("soloSame", "solo", ["PRESET": "veryfast"]), ("ffmpegPK", "ffmpegPK", [:]),
        ("room", "room", ["PRESET": "tandem-faster"]), ("ffmpegLive", "ffmpeg", ["PACED": "20"]),
        ("ffmpegPKLive", "ffmpegPK", ["PACED": "20"]),
    ]
    /// The commands of the jobs in readable form.
    static var commands: [String] {
        self.jobs.map { job in
            let variables = job.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value) " }.joined()
            return "\(variables)benchmarks/passthrough.sh \(job.word) DIR"
        }
    }

    /// Fraction of the room's time in which one publisher fills the canvas.
    private static let soloShare = 0.7

    func measure() throws(BenchError) -> PassthroughResult {
        let sources = try ChildProcess.run([self.script, "sources", self.work])
        guard sources.status == 0 else {
            throw BenchError("passthrough.sh sources failed with status \(sources.status)")
        }
        var runs: [PassthroughResult.Run] = []
        for round in 1...max(1, self.rounds) {
            for job in Self.jobs {
                let run = try self.run(job.name, [self.script, job.word, self.work], job.environment, round)
                Terminal.say("  passthrough \(round)/\(self.rounds) \(job.name): \(run.cpuPerSecond) CPU s per second")
                runs.append(run)
            }
        }
        return PassthroughResult(runs: runs, ratios: Self.ratios(runs))
    }

    private func run(
        _ name: String, _ arguments: [String], _ environment: [String: String], _ round: Int
    ) throws(BenchError) -> PassthroughResult.Run {
        let file = "\(self.work)/passthrough.txt"
        let usage = try ChildProcess.run(arguments, environment: environment, output: file)
        let words = try Files.text(at: file).split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard usage.status == 0, words.count == 2, words[0] > 0, words[1] > 1 else {
            throw BenchError("\(arguments.joined(separator: " ")) failed with status \(usage.status)")
        }
        return PassthroughResult.Run(job: name, round: round, cpuPerSecond: (words[0] / words[1]).rounded(digits: 4))
    }

    private static func mixed(_ solo: Double, _ pk: Double) -> Double {
        Self.soloShare * solo + (1 - Self.soloShare) * pk
    }

    /// Tandem's figures divided by FFmpeg's of the same round.
    static func ratios(_ runs: [PassthroughResult.Run]) -> [String: Spread] {
        func cost(_ job: String, _ round: Int) -> Double? {
            runs.first { $0.job == job && $0.round == round }?.cpuPerSecond
        }
        var values: [String: [Double]] = [:]
        for round in Set(runs.map(\.round)).sorted() {
            guard let solo = cost("ffmpeg", round), let pk = cost("ffmpegPK", round), solo > 0 else { continue }
            if let own = cost("solo", round) { values["solo", default: []].append(own / solo) }
            if let own = cost("soloSame", round) { values["soloSame", default: []].append(own / solo) }
            guard let own = cost("room", round) else { continue }
            values["roomToBatch", default: []].append(own / Self.mixed(solo, pk))
            // A mostly idle machine takes more CPU time for the same work than a busy one, so live jobs are compared with live
            // jobs.
            guard let liveSolo = cost("ffmpegLive", round), let livePK = cost("ffmpegPKLive", round) else { continue }
            values["room", default: []].append(own / Self.mixed(liveSolo, livePK))
        }
        return values.mapValues { Spread($0) }
    }
}

/// The result of ``PassthroughMeasurement``.
struct PassthroughResult: Codable {
    /// Minimum number of rounds for the thresholds. The jobs of a round are one minute apart. If the machine's speed changes by
    /// 10 % from minute to minute, then the median of three rounds cannot distinguish results that are closer than that.
    static let fewestRounds = 5

    struct Run: Codable {
        /// `solo` and `room` at the named preset, `soloSame` at veryfast; `ffmpeg` and `ffmpegPK`, all renditions at veryfast.
        var job: String
        var round: Int
        /// CPU seconds per second of media.
        var cpuPerSecond: Double
    }

    var runs: [Run]
    /// Tandem's figures divided by FFmpeg's, by job; the room's divided by 70 % of `ffmpeg` plus 30 % of `ffmpegPK`.
    var ratios: [String: Spread]

    var rounds: Int { Set(self.runs.map(\.round)).count }
}
