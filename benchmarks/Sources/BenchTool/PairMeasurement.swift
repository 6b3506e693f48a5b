#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// R1 by two programs at the same moment, each pinned to one core: whatever slows the machine down then slows both sides.
struct PairResult: Codable {
    /// One round: both programs ran once, on cores that are swapped in the next round.
    struct Round: Codable {
        /// Number of the core that Tandem was pinned to.
        var core: Int
        /// The run of Tandem, and that of the other side.
        var ours: R1Run
        var other: R1Run
    }

    /// Tandem compared with one side.
    struct Row: Codable {
        /// ``R1Side/name`` of the other side, with the suffix `Busy` if both cores had a neighbour.
        var name: String
        var title: String
        /// The program that kept each core busy meanwhile; `nil` if there was none.
        var neighbour: String?
        var rounds: [Round]
        /// Tandem's figures divided by the other side's of the same round: `cpu`, `bytes`, `peakMemory`.
        var ratios: [String: Spread]
    }

    /// Load average over one minute before the first round.
    var loadBefore: Double
    var rows: [Row]

    func row(_ name: String) -> Row? { self.rows.first { $0.name == name } }
}

/// Measures ``PairResult``.
struct PairMeasurement {
    /// Path of `r1.sh`.
    let script: String
    /// Directory for sources and outputs.
    let work: String
    /// Even, so that each side runs equally often on each core.
    let rounds: Int
    /// Two cores that this process may use.
    let cores: (Int, Int)
    /// Path of the floor's program, if it was built.
    let floor: String?
    /// False: only FFmpeg, without a neighbour.
    let isFull: Bool

    /// Seconds after which a neighbour ends by itself, in case this program is killed: more than a round takes.
    private static let longestRound = 600

    func measure() throws(BenchError) -> PairResult {
        var result = PairResult(loadBefore: Machine.load, rows: [])
        let sources = try ChildProcess.run([self.script, "sources", self.work])
        guard sources.status == 0 else { throw BenchError("r1.sh sources failed with status \(sources.status)") }
        let ffmpeg = R1Side(
            name: "ffmpeg", title: "FFmpeg, as users run it", arguments: [self.script, "ffmpeg", self.work],
            environment: ["OUT": "pairFFmpeg"], output: "pairFFmpeg")
        result.rows.append(try self.row("ffmpeg", ffmpeg.title, ffmpeg, neighbour: nil))
        guard self.isFull else { return result }
        if let floor = self.floor {
            let side = R1Side(name: "floor", title: "Floor: the bare codecs", arguments: [floor, self.work])
            result.rows.append(try self.row("floor", side.title, side, neighbour: nil))
        }
        result.rows.append(
            try self.row("ffmpegBusy", "FFmpeg, with a busy neighbour on each core", ffmpeg, neighbour: .find()))
        return result
    }

    private func row(
        _ name: String, _ title: String, _ other: R1Side, neighbour: Neighbour?
    ) throws(BenchError) -> PairResult.Row {
        var rounds: [PairResult.Round] = []
        for round in 1...self.rounds {
            let own = round.isMultiple(of: 2) ? self.cores.1 : self.cores.0
            let made = try self.round(round, own, own == self.cores.0 ? self.cores.1 : self.cores.0, other, neighbour)
            let ratio = (made.ours.cpuSeconds / max(made.other.cpuSeconds, 0.01)).rounded(digits: 4)
            Terminal.say(
                "  pair \(round)/\(self.rounds) \(name): \(made.ours.cpuSeconds) and \(made.other.cpuSeconds) CPU s: \(ratio)"
            )
            rounds.append(made)
        }
        return PairResult.Row(
            name: name, title: title, neighbour: neighbour?.name, rounds: rounds, ratios: Self.ratios(rounds))
    }

    private func round(
        _ number: Int, _ own: Int, _ theirs: Int, _ other: R1Side, _ neighbour: Neighbour?
    ) throws(BenchError) -> PairResult.Round {
        let ours = R1Side(
            name: "ours", title: "Tandem", arguments: [self.script, "ours", self.work],
            environment: ["OUT": "pairOurs"], output: "pairOurs")
        var busy: [pid_t] = []
        defer { for pid in busy { ChildProcess.end(pid) } }
        if let neighbour {
            for core in [own, theirs] {
                busy.append(
                    try ChildProcess.start(
                        ["timeout", "--foreground", "\(Self.longestRound)"] + Self.pinned(neighbour.command, to: core),
                        output: "/dev/null"))
            }
        }
        let usages = try ChildProcess.runTogether(
            [(ours, own), (other, theirs)].map { side, core in
                (
                    Self.pinned(side.arguments, to: core), side.environment,
                    R1Measurement.output(of: side, work: self.work)
                )
            })
        guard usages.count == 2 else { throw BenchError("a pair of R1 did not end") }
        return PairResult.Round(
            core: own, ours: try R1Measurement.run(of: ours, usages[0], round: number, work: self.work),
            other: try R1Measurement.run(of: other, usages[1], round: number, work: self.work))
    }

    private static func pinned(_ command: [String], to core: Int) -> [String] {
        ["taskset", "--cpu-list", "\(core)"] + command
    }

    static func ratios(_ rounds: [PairResult.Round]) -> [String: Spread] {
        let measures: [(String, (R1Run) -> Double?)] = [
            ("cpu", { $0.cpuSeconds }), ("peakMemory", { $0.peakMemoryMiB }),
            ("bytes", { $0.bytes.map { Double($0.values.reduce(0, +)) } }),
        ]
        var ratios: [String: Spread] = [:]
        for (name, value) in measures {
            let values = rounds.compactMap { round -> Double? in
                guard let own = value(round.ours), let their = value(round.other), own > 0, their > 0 else {
                    return nil
                }
                return own / their
            }
            if !values.isEmpty { ratios[name] = Spread(values) }
        }
        return ratios
    }
}

/// A program that keeps a core busy.
struct Neighbour {
    /// Display name.
    var name: String
    var command: [String]

    /// `stress-ng` if it is installed, otherwise a loop of the shell.
    static func find() -> Neighbour {
        let stress = ["stress-ng", "--cpu", "1", "--quiet"]
        return Peers.succeeds(["stress-ng", "--version"])
            ? Neighbour(name: stress.joined(separator: " "), command: stress)
            : Neighbour(name: "a loop of sh", command: ["sh", "-c", "while :; do :; done"])
    }
}
