/// Measures the parts one after the other and writes them to a result file, each with the machine's load before it.
struct Measuring {
    static let parts = [
        "kernels", "instructions", "blocks", "r1", "pairs", "places", "quality", "allocations", "live", "passthrough",
        "growth", "search",
    ]

    let path: String

    private var tandem: String { Variables["TANDEM"] ?? "../.build/release/tandem" }
    private var ffmpeg: String { Variables["FFMPEG"] ?? "ffmpeg" }
    private var sources: String { "\(BenchTool.work)/r1" }

    static func kernels() -> KernelMeasurement {
        let hasValgrind = Peers.succeeds(["valgrind", "--version"])
        if !hasValgrind {
            Terminal.say("SKIPPED: instructions and allocations per item are not counted: valgrind is not installed")
        }
        return KernelMeasurement(
            runner: "../.build/release/KernelRunner", work: BenchTool.work, countsInstructions: hasValgrind)
    }

    func measure(_ part: String) throws(BenchError) {
        var result = try Files.read(BenchResult.self, from: self.path)
        let isFull = result.mode == "full"
        switch part {
        case "kernels":
            self.note(part, in: &result)
            result.kernels = try Self.kernels().measureAll()
            for kernel in result.kernels { Terminal.say("  " + self.line(kernel)) }
        case "r1":
            self.note("r1", self.sides(isFull: isFull).map(self.command), in: &result)
            let whole = result
            result.r1 = try self.r1(isFull: isFull, before: Variables["R1_MORE"] == nil ? nil : result.r1) {
                (made: R1Result) throws(BenchError) in
                var partial = whole
                partial.r1 = made
                try Files.write(partial, to: self.path)
            }
        case "instructions":
            self.note(part, in: &result)
            try self.instructions(into: &result)
        case "blocks":
            let library = "\(BenchTool.work)/blocks.so"
            guard Files.exists(library) else {
                return Terminal.say("SKIPPED: live heap blocks: floor/blocks.c could not be compiled")
            }
            self.note(part, in: &result)
            let blocks = try BlockMeasurement(
                tandem: self.tandem, ffmpeg: self.ffmpeg, work: BenchTool.work, library: library
            ).measure()
            Terminal.say(
                "  live heap blocks: \(blocks.early) around segment \(BlockResult.earlySegment), \(blocks.late) around "
                    + "\(BlockResult.lateSegment): \(blocks.growth) more")
            result.blocks = blocks
        case "pairs":
            let cores = Machine.allowedCores
            guard cores.count >= 2 else {
                result.skipped = (result.skipped ?? []) + ["pairs: they need two cores"]
                break
            }
            let neighbour = Neighbour.find()
            let others = ["work/floor DIR", neighbour.command.joined(separator: " ")]
            self.note(part, isFull ? others.map { "taskset --cpu-list CORE \($0)" } : [], in: &result)
            let rounds = Variables["PAIRS"].flatMap { Int($0) } ?? (isFull ? 10 : 2)
            result.pairs = try PairMeasurement(
                script: "./r1.sh", work: self.sources, rounds: max(2, rounds + rounds % 2), cores: (cores[0], cores[1]),
                floor: Peers.find(work: BenchTool.work).floor, isFull: isFull
            ).measure()
            for row in result.pairs?.rows ?? [] {
                for (name, spread) in row.ratios.sorted(by: { $0.key < $1.key }) {
                    let interval = spread.interval95.map { ", 95 %: \($0[0])…\($0[1])" } ?? ""
                    Terminal.say(
                        "  pairs \(row.name) \(name): \(spread.median) (\(spread.min)…\(spread.max)\(interval))")
                }
            }
        case "places":
            let library = "\(BenchTool.work)/where.so"
            guard Files.exists(library) else {
                return Terminal.say("SKIPPED: places of R1: floor/where.c could not be compiled")
            }
            self.note(part, in: &result)
            result.r1?.places = try PlaceMeasurement(
                script: "./r1.sh", work: self.sources, library: library, rounds: isFull ? 3 : 1
            ).measure()
            if let places = result.r1?.places {
                Terminal.say("  R1: \(places.outsideLibav) of \(places.samples) samples outside the codec libraries")
            }
        case "quality":
            guard let judge = Peers.find(work: BenchTool.work).newFFmpeg else {
                return Terminal.say("SKIPPED: quality: it needs an FFmpeg with libvmaf")
            }
            self.note(part, in: &result)
            result.quality = try self.quality(result.r1, isFull: isFull, judge: judge)
        case "allocations":
            let library = "\(BenchTool.work)/allocs.so"
            guard Files.exists(library) else {
                return Terminal.say("SKIPPED: allocations per tick: floor/allocs.c could not be compiled")
            }
            self.note(part, in: &result)
            result.allocations = try AllocationMeasurement(
                tandem: self.tandem, ffmpeg: self.ffmpeg, work: self.sources, library: library
            ).measure()
            for (stage, count) in (result.allocations?.perTick ?? [:]).sorted(by: { $0.key < $1.key }) {
                Terminal.say("  \(stage): \(count) allocations per tick outside the codec libraries")
            }
        case "live":
            self.note(part, in: &result)
            let seconds = Variables["LIVE_SECONDS"].flatMap { Double($0) } ?? (isFull ? 20 : 8)
            let minutes = Variables["LIVE_MINUTES"].flatMap { Double($0) } ?? (isFull ? 1 : 0)
            result.live = try LiveMeasurement(
                tandem: self.tandem, ffmpeg: self.ffmpeg, script: "./r1.sh", work: self.sources,
                seconds: max(4, seconds), mostRooms: isFull ? 8 : 1, memoryMinutes: max(0, minutes), isFull: isFull
            ).measure()
        case "passthrough":
            self.note(part, PassthroughMeasurement.commands, in: &result)
            result.passthrough = try PassthroughMeasurement(
                script: "./passthrough.sh", work: self.sources,
                rounds: Variables["PAIRS"].flatMap { Int($0) } ?? (isFull ? Spread.fewestForInterval : 1)
            ).measure()
            for (job, spread) in (result.passthrough?.ratios ?? [:]).sorted(by: { $0.key < $1.key }) {
                Terminal.say("  \(job)/FFmpeg cpu: \(spread.median) (\(spread.min)…\(spread.max))")
            }
        case "growth":
            self.note(part, in: &result)
            result.growth = try GrowthMeasurement(
                tandem: self.tandem, ffmpeg: self.ffmpeg, work: self.sources, seconds: 5
            ).measure()
        case "search":
            guard let judge = Peers.find(work: BenchTool.work).newFFmpeg else {
                return Terminal.say("SKIPPED: search: it needs an FFmpeg with libvmaf")
            }
            self.note(part, EncoderSearch.commands, in: &result)
            result.search = try EncoderSearch(
                plan: Files.read(EncoderSearch.Plan.self, from: Variables["SEARCH_PLAN"] ?? "searches.json"),
                ffmpeg: self.ffmpeg, judge: judge,
                work: BenchTool.work,
                clips: Array(
                    EncoderSearch.clips(directory: Variables["SEARCH_CLIPS"]).prefix(
                        Variables["SEARCH_MOST"].flatMap { Int($0) } ?? 100)),
                seconds: Variables["SEARCH_SECONDS"].flatMap { Double($0) } ?? 8
            ).measure()
            for point in result.search?.points ?? [] {
                Terminal.say(
                    "  \(point.isBest ? "*" : " ") \(point.name): CPU \(point.cpu), VMAF-NEG \(point.vmafNeg) (worst clip "
                        + "\(point.vmafNegWorst)), SSIM \(point.ssim), BD-rate \(point.bdRate.map { "\($0) %" } ?? "-")"
                )
                for (name, scores) in (point.renditions ?? [:]).sorted(by: { $0.key > $1.key }) {
                    Terminal.say(
                        "      \(name): CPU \(scores.cpu), VMAF-NEG \(scores.vmafNeg) (worst clip \(scores.vmafNegWorst)), "
                            + "SSIM \(scores.ssim), BD-rate \(scores.bdRate.map { "\($0) %" } ?? "-")")
                }
                if let refused = point.refused, refused > 0 {
                    Terminal.say(
                        "      REFUSED: \(refused) streams of another size, up to \(point.sizeWorst ?? 0) of the reference's"
                    )
                }
            }
        default:
            throw BenchError("unknown part \(part); known: \(Self.parts.joined(separator: ", "))")
        }
        try Files.write(result, to: self.path)
        Terminal.say("Wrote benchmarks/\(self.path)")
    }

    /// Counts the instructions of R1, or notes why they cannot be counted here.
    private func instructions(into result: inout BenchResult) throws(BenchError) {
        let made = try InstructionMeasurement(
            script: "./instructions.sh", work: "\(BenchTool.work)/instructions",
            runs: Variables["COUNTS"].flatMap { Int($0) } ?? (result.mode == "full" ? 3 : 1),
            isCounted: Variables["COUNTED"] != nil
        ).measure()
        guard let counts = made.result else {
            result.skipped = (result.skipped ?? []) + ["instructions: \(made.reason)"]
            return
        }
        result.instructions = counts
        Terminal.say(
            "  one second of R1: \(counts.total / 1e9) G instructions in \(counts.runs.count) runs, spread \(counts.spread)"
        )
        for (name, count) in counts.parts.sorted(by: { $0.value > $1.value }) {
            Terminal.say("    \(name): \((count / 1e6).rounded(digits: 1)) M")
        }
    }

    private func note(_ part: String, _ jobs: [String] = [], in result: inout BenchResult) {
        result.note(PartCommands.of(part, jobs: jobs) { Variables[$0] })
    }

    private func sides(isFull: Bool) -> [R1Side] {
        let peers = Peers.find(work: BenchTool.work)
        let all = R1Side.all(
            script: "./r1.sh", work: self.sources, isFull: isFull, newFFmpeg: peers.newFFmpeg,
            hasGStreamer: peers.hasGStreamer, floor: peers.floor)
        guard let wanted = Variables["R1_SIDES"]?.split(separator: ",").map(String.init) else { return all }
        return all.filter { wanted.contains($0.name) }
    }

    private func r1(
        isFull: Bool, before: R1Result?, keep: (R1Result) throws(BenchError) -> Void
    ) throws(BenchError) -> R1Result {
        Peers.find(work: BenchTool.work).sayMissing(isFull: isFull)
        let rounds = Variables["PAIRS"].flatMap { Int($0) } ?? (isFull ? 7 : 3)
        let result = try R1Measurement(
            script: "./r1.sh", work: self.sources, rounds: max(1, rounds), sides: self.sides(isFull: isFull),
            clips: Variables["R1_CLIPS"] == nil ? "generated" : "real clips (R1_CLIPS)"
        ).measure(before: before, keep: keep)
        for (side, ratios) in result.ratios.sorted(by: { $0.key < $1.key }) {
            for (name, spread) in ratios.sorted(by: { $0.key < $1.key }) {
                let interval = spread.interval95.map { ", 95 %: \($0[0])…\($0[1])" } ?? ""
                Terminal.say("  ours/\(side) \(name): \(spread.median) (\(spread.min)…\(spread.max)\(interval))")
            }
        }
        return result
    }

    private func quality(_ r1: R1Result?, isFull: Bool, judge: String) throws(BenchError) -> [QualityResult] {
        guard let r1 else { throw BenchError("quality needs the outputs of R1: measure r1 first") }
        let judged = self.sides(isFull: isFull).filter {
            // On one core, and with a limit of threads, the output is the same.
            isFull
                ? $0.output != nil && ![R1Side.oneCore.ours, R1Side.oneCore.ffmpeg, R1Side.threads].contains($0.name)
                : ["ours", "ffmpeg"].contains($0.name)
        }
        return try QualityMeasurement(
            script: "./r1.sh", work: self.sources, judge: judge, sides: judged,
            renditions: isFull ? R1Measurement.renditions : ["720p"], runs: r1.runs
        ).measure()
    }

    /// The command of a side in readable form.
    private func command(_ side: R1Side) -> String {
        let new = side.environment["FFMPEG"] == nil ? [] : ["FFMPEG=(imageio-ffmpeg's)"]
        let variables =
            new
            + side.environment.filter { $0.key != "FFMPEG" }.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let words = side.arguments.map {
            $0 == self.sources ? "DIR" : $0.hasPrefix("./") ? "benchmarks/" + $0.dropFirst(2) : $0
        }
        return (variables + words).joined(separator: " ")
    }

    private func line(_ kernel: KernelResult) -> String {
        var text = "\(kernel.name): \(kernel.gigaUnitsPerSecond) G\(kernel.unit)/s"
        if let times = kernel.timesReference { text += ", \(times) times as fast as the plain loop" }
        if let instructions = kernel.instructionsPerItem {
            text += ", \(instructions) instructions and \(kernel.allocationsPerItem ?? 0) allocations per item"
        }
        if let copied = kernel.copiedPerByte { text += ", \(copied) bytes copied per byte" }
        return text
    }
}
