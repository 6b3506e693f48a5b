/// Tests the guard: regressions are introduced on purpose, and the guard must find each of them.
enum SelfCheck {
    static func run() throws(BenchError) {
        let thresholds = try Files.read(Thresholds.self, from: BenchTool.thresholdsPath)
        try self.plantInResult(thresholds)
        try self.checkMissing(thresholds)
        try self.checkFewRounds()
        try self.checkArithmetic()
        try self.checkCommands()
        try self.checkTally()
        try self.checkCounts(thresholds)
        try self.checkSkips(thresholds)
        try self.checkAims(thresholds)
        try self.checkPlants()
        let measurement = Measuring.kernels()
        guard measurement.countsInstructions, let known = thresholds.kernels[Machine.architecture] else {
            // A missing valgrind is reported by the guard itself.
            Terminal.say("SKIPPED: the planted slowdown needs valgrind and thresholds for this architecture")
            return
        }
        for name in ["annexb-walk", "ingest-path"] where known[name] != nil {
            let planted = try measurement.count(name, planted: true)
            guard let first = Guard(thresholds: thresholds).kernelRegressions(in: [planted]).first else {
                throw BenchError("the guard did not find the planted slowdown of \(name)")
            }
            Terminal.say("The guard finds a planted slowdown: \(first)")
        }
    }

    /// Tests the statistics with known values: order statistics from tables, and a curve that needs 10 % more rate.
    private static func checkArithmetic() throws(BenchError) {
        let curve = [(1e6, 80.0), (2e6, 88.0), (3e6, 92.0), (4e6, 94.0)].map { (rate: $0.0, quality: $0.1) }
        let same = BDRate.percent(curve, over: curve)
        let dearer = BDRate.percent(curve.map { (rate: $0.rate * 1.1, quality: $0.quality) }, over: curve)
        // The number of values from each end of the interval, by the number of values.
        let ends = [5: 0, 6: 1, 8: 1, 9: 2, 11: 2, 12: 3, 15: 4, 17: 5]
        let wrong = ends.filter { count, end in
            let interval = Spread((1...count).reversed().map { Double($0) }).interval95
            return interval != (end == 0 ? nil : [Double(end), Double(count + 1 - end)])
        }
        guard let same, let dearer, abs(same) < 1e-9, abs(dearer - 10) < 1e-6, wrong.isEmpty,
            Spread([4, 1, 3, 2]).median == 2.5
        else {
            throw BenchError(
                "BD-rate or interval is computed wrong: \(same ?? 0), \(dearer ?? 0), \(wrong.keys.sorted())")
        }
    }

    /// A plant in the counts of R1's instructions and of heap blocks is found; counts of other versions are not compared.
    private static func checkCounts(_ thresholds: Thresholds) throws(BenchError) {
        var planted = thresholds
        let versions = ["ffmpeg": "1", "valgrind": "2"]
        planted.instructions = [
            Thresholds.Instructions(
                versions: versions, total: 100e6, spread: 0, parts: ["libx264": 96e6, "tandem": 2e6, "ld-linux": 2e6])
        ]
        func result(
            _ codec: Double, _ own: Double, linker: Double = 2e6, new: Double = 0, _ versions: [String: String]
        ) -> InstructionResult {
            let parts = ["libx264": codec, "tandem": own, "ld-linux": linker, "libnew": new]
            return InstructionResult(
                versions: versions, runs: [.init(total: parts.values.reduce(0, +), parts: parts)])
        }
        let held = Guard(thresholds: planted)
        let found = [
            result(97e6, 2.1e6, versions), result(102e6, 2e6, versions), result(96e6, 3e6, versions),
            // A file without a threshold of its own, and files that were not there before.
            result(96e6, 2e6, linker: 4e6, versions), result(96e6, 2e6, new: 0.9e6, versions),
            result(96e6, 2e6, new: 2e6, versions),
            result(200e6, 2e6, ["ffmpeg": "2", "valgrind": "2"]),
        ].map { (held.instructionRegressions(in: $0).count, held.incomparable($0) != nil) }
        // Each finding comes with a line that says how to accept it.
        guard found.map(\.0) == [0, 2, 2, 0, 0, 2, 0], found.map(\.1) == (0..<7).map({ $0 == 6 }) else {
            throw BenchError("the guard found \(found) of the planted instructions")
        }
        let read = try InstructionMeasurement.run("90 libx264.so.164\n10 tandem\n100 total\n", "selfcheck")
        let isCutAccepted = (try? InstructionMeasurement.run("10 tandem\n100 total\n", "selfcheck")) != nil
        guard read.total == 100, read.parts == ["libx264.so.164": 90, "tandem": 10], !isCutAccepted else {
            throw BenchError("counts are read wrong: \(read)")
        }
        let count = BlockResult.segments
        let flat = try BlockResult(afterSegment: (0..<count).map { 10_000 + $0 % 7 * 10 })
        // One block for each frame of a segment.
        let leaking = try BlockResult(afterSegment: (0..<count).map { 10_000 + $0 * 32 })
        guard held.blockRegressions(in: flat).isEmpty, held.blockRegressions(in: leaking).count == 1 else {
            throw BenchError("the guard does not tell flat heap blocks from a leak: \(flat.growth), \(leaking.growth)")
        }
        let blocks = BlockMeasurement.blocks(
            "video-1-0.m4s 100\naudio-1-0.m4s 90\nvideo-1-1.m4s 103\n",
            events: ["room.ready", "segment.published", "audio.levels", "segment.published"].map {
                "{\"type\":\"\($0)\"}\n"
            }.joined())
        guard blocks == [98, 99] else { throw BenchError("heap blocks are read wrong: \(blocks)") }
        Terminal.say("The guard finds introduced instructions, slower files and a leak of one block per frame.")
    }

    /// A part that the machine cannot measure is no failure if the result has the reason; without a reason it is one.
    private static func checkSkips(_ thresholds: Thresholds) throws(BenchError) {
        let machine = Machine(
            processor: "", cores: 2, memoryMiB: 1, kernel: "", ffmpeg: "", swift: "", loadBefore: 0)
        var result = BenchResult(date: "", commit: "", mode: "quick", machine: machine, commands: [])
        let (held, parts) = (Guard(thresholds: thresholds), ["instructions", "pairs"])
        for part in parts where held.missing(in: result, parts: [part]).isEmpty {
            throw BenchError("a missing part without a reason is not detected: \(part)")
        }
        result.skipped = ["instructions: valgrind is not installed", "pairs: they need two cores"]
        let found = held.regressions(in: result, parts: parts)
        guard found.isEmpty else { throw BenchError("parts that were skipped with a reason are reported: \(found)") }
    }

    /// The patches of `plants` fit the program's source, so that `make bench-plants` can use them.
    private static func checkPlants() throws(BenchError) {
        guard Peers.succeeds(["patch", "--version"]) else {
            return Terminal.say("SKIPPED: whether the patches of plants/ fit the source: patch is not installed")
        }
        for name in Files.names(in: "plants") where name.hasSuffix(".patch") {
            let file = ChildProcess.path("plants/\(name)")
            guard Peers.succeeds(["patch", "--dry-run", "--forward", "-p1", "-d", "..", "-i", file]) else {
                throw BenchError("plants/\(name) does not fit the source: renew it")
            }
        }
    }

    /// An aim without a threshold, a threshold that does not exist and a figure that is not published are found.
    private static func checkAims(_ thresholds: Thresholds) throws(BenchError) {
        let guide = """
            text
            | figure | aim | measured | |
            |---|---|---|---|
            | start | 150 ms | 84 ms | met |
            | wall time | none | 1 | |
            | lag | 10 s | 5 s | met |

            | preset | VMAF-NEG | SSIM | |
            """
        var planted = thresholds
        planted.aims = ["start": ["live.startMs"]]
        planted.aimsWithoutThreshold = ["lag": "measured by hand"]
        let whole = try PublishedAims.mistakes(guide, thresholds: planted)
        planted.aims = ["start": ["live.startMs", "live.nothing", "live"], "other": ["live.rooms"]]
        planted.aimsWithoutThreshold = [:]
        let broken = try PublishedAims.mistakes(guide, thresholds: planted)
        guard whole.isEmpty, broken.count == 4, try PublishedAims.mistakes("text", thresholds: planted).count == 1
        else {
            throw BenchError("aims without a threshold are not told from others: \(whole), \(broken)")
        }
    }

    /// A stream that is larger than the reference's is ignored, and its set is not marked as best.
    private static func checkTally() throws(BenchError) {
        func pair(_ clip: String, _ rendition: String, vmaf: Double, size: Double) -> SearchTally.Pair {
            SearchTally.Pair(clip: clip, rendition: rendition, cpu: 0.5, vmaf: vmaf, ssim: 0, size: size)
        }
        let set = EncoderSearch.Plan.Set(name: "set", preset: "veryfast", params: "")
        var tally = SearchTally()
        tally.pairs = [
            pair("a", "720p", vmaf: -1, size: 0.995), pair("a", "720p", vmaf: -2, size: 1.009),
            pair("b", "360p", vmaf: 3, size: 1),
        ]
        let fair = tally.point(set, renditions: ["720p", "360p"])
        tally.pairs.append(pair("b", "360p", vmaf: 90, size: 1.011))
        let unfair = tally.point(set, renditions: ["720p", "360p"])
        guard fair.vmafNeg == 0, fair.vmafNegWorst == -1.5, fair.renditions?["360p"]?.vmafNeg == 3, fair.refused == 0,
            unfair.vmafNeg == 0, unfair.renditions?["360p"]?.vmafNeg == 3, unfair.refused == 1,
            unfair.sizeWorst == 1.011, SearchTally.ranked([fair]).map(\.isBest) == [true],
            SearchTally.ranked([unfair]).map(\.isBest) == [false]
        else { throw BenchError("streams of unequal size are compared: \(fair), \(unfair)") }
    }

    /// A result contains the commands and settings of every part, but no paths of files.
    private static func checkCommands() throws(BenchError) {
        var result = BenchResult(
            date: "", commit: "", mode: "full",
            machine: Machine(
                processor: "", cores: 1, memoryMiB: 1, kernel: "", ffmpeg: "", swift: "", loadBefore: 0), commands: [])
        for part in PartCommands.parts + ["live"] {
            result.note(
                PartCommands.of(part, jobs: part == "passthrough" ? PassthroughMeasurement.commands : []) {
                    $0 == "PAIRS" || $0.hasPrefix("LIVE") ? "9" : "/home/me/\($0)"
                })
        }
        let text = result.commands.joined(separator: "\n")
        let missing = [
            "R1_CLIPS=DIR PAIRS=9 R1_MORE=", "R1_CLIPS=DIR LIVE_SECONDS=9 LIVE_MINUTES=9 FFMPEG=PROGRAM",
            "SEARCH_CLIPS=DIR",
            "PRESET=tandem-faster benchmarks/passthrough.sh room DIR",
            "PACED=20 benchmarks/passthrough.sh ffmpegPK DIR",
        ].filter { !text.contains($0) }
        let unnamed = PartCommands.parts.filter { !text.contains("BenchTool measure \($0) RESULT.json") }
        guard missing.isEmpty, unnamed.isEmpty, Set(result.commands).count == result.commands.count,
            !text.contains("FFMPEG=/home"), !text.contains("CLIPS=/home"),
            PartCommands.parts == Measuring.parts.sorted()
        else { throw BenchError("a result's commands lack \(missing + unnamed), or contain paths: \(text)") }
    }

    /// Tests the guard of ratios and latencies with made-up values, without a run.
    private static func plantInResult(_ thresholds: Thresholds) throws(BenchError) {
        let (held, limits) = (Guard(thresholds: thresholds), thresholds.r1)
        let bad = Spread([9, 9, 9])
        let runs = limits.peakMemoryMedianMiB.map { side, most in
            R1Run(side: side, pair: 1, cpuSeconds: 1, wallSeconds: 1, peakMemoryMiB: most + 1)
        }
        var r1 = R1Result(
            clips: "", loadBefore: 0, titles: [:], runs: runs, ratios: [:], stages: [:], peakMemoryMiB: 0)
        r1.places = R1Places(samples: 1000, parts: [:], outsideLibav: 0.9)
        let sides = limits.cpuRatioMedian["full"] ?? [:]
        for side in sides.keys { r1.ratios[side] = ["cpu": bad, "bytes": bad] }
        r1.presets = limits.presetCPURatioMedian.mapValues { _ in ["cpu": bad, "bytes": bad] }
        let quality = (["ffmpeg"] + thresholds.quality.keys).map { side in
            QualityResult(
                side: side, rendition: "360p", vmafNeg: side == "ffmpeg" ? 90 : 80, vmafNegMin: 0,
                ssim: side == "ffmpeg" ? 0.9 : 0.8, pictures: 1, bytes: 1)
        }
        let rooms = LiveResult.Rooms(
            rooms: 1, seconds: 8, late: 1, lost: 0, roomCores: 1, publisherCores: 0, othersCores: 0)
        let live = LiveResult(
            loadBefore: 0, startMs: [60_000], ffmpegStartMs: [200], rooms: [rooms], roomsInRealTime: 0,
            fastRooms: [rooms], fastRoomsInRealTime: 0,
            latency: LiveResult.Latency(
                sendToPart: BenchPercentiles([60_000]), encoderToPart: BenchPercentiles([60_000]), partMs: 533,
                jitterBufferMs: 200, othersCores: 0),
            memory: LiveResult.Memory(samples: [[0, 1], [1_800, 2]], slopePerMinute: 1),
            ingest: LiveResult.Ingest(gigabytes: 1, cpuSecondsPerGigabyte: 60))
        let allocations = AllocationResult(
            seconds: 1, perTick: thresholds.allocationsPerTick.mapValues { $0 + 1 }, bytesPerTick: [:], places: [])
        let passthrough = PassthroughResult(
            runs: (1...PassthroughResult.fewestRounds).map { .init(job: "room", round: $0, cpuPerSecond: 1) },
            ratios: thresholds.passthroughCPURatioMedian.mapValues { _ in bad })
        let pairLimits = thresholds.pairCPURatioMedian["full"] ?? [:]
        let pairs = PairResult(
            loadBefore: 0,
            rows: pairLimits.keys.map {
                PairResult.Row(name: $0, title: "", neighbour: nil, rounds: [], ratios: ["cpu": bad, "bytes": bad])
            })
        let planted: [(what: String, found: [String], wanted: Int)] = [
            ("pairs", held.pairRegressions(in: pairs, mode: "full"), pairLimits.count + 1),
            (
                "R1", held.r1Regressions(in: r1, mode: "full"),
                sides.count + 2 * limits.presetCPURatioMedian.count + runs.count + 2
            ),
            ("quality", held.qualityRegressions(in: quality), 2 * thresholds.quality.count),
            ("allocations", held.allocationRegressions(in: allocations), thresholds.allocationsPerTick.count),
            ("live", held.liveRegressions(in: live, cores: 2), 6),
            (
                "passthrough", held.passthroughRegressions(in: passthrough),
                thresholds.passthroughCPURatioMedian.count
            ),
        ]
        for entry in planted where entry.found.count != entry.wanted || entry.wanted == 0 {
            throw BenchError("the guard found \(entry.found) of the regressions in \(entry.what), not \(entry.wanted)")
        }
        Terminal.say(
            "The guard finds \(planted.reduce(0) { $0 + $1.wanted }) introduced regressions of ratios, quality and latencies."
        )
    }

    /// A committed passthrough result with too few rounds is a failure only if another one has enough.
    private static func checkFewRounds() throws(BenchError) {
        let machine = Machine(
            processor: "", cores: 2, memoryMiB: 1, kernel: "", ffmpeg: "", swift: "", loadBefore: 0)
        let (short, whole) = (PassthroughResult.fewestRounds - 1, PassthroughResult.fewestRounds)
        let results = [short, whole].map { rounds in
            var result = BenchResult(date: "", commit: "", mode: "full", machine: machine, commands: [])
            result.passthrough = PassthroughResult(
                runs: (1...rounds).map { .init(job: "room", round: $0, cpuPerSecond: 1) }, ratios: [:])
            return (name: "\(rounds)", result: result)
        }
        guard CommittedResults.fewRounds(of: results[0].result, in: [results[0]])?.isFailure == false,
            CommittedResults.fewRounds(of: results[0].result, in: results)?.isFailure == true,
            CommittedResults.fewRounds(of: results[1].result, in: results) == nil
        else { throw BenchError("committed passthrough results with too few rounds are not detected") }
    }

    /// A result from a machine without valgrind, compiler and PyPI must not pass.
    private static func checkMissing(_ thresholds: Thresholds) throws(BenchError) {
        let machine = Machine(
            processor: "", cores: 2, memoryMiB: 1, kernel: "", ffmpeg: "", swift: "", loadBefore: 0)
        for mode in ["quick", "full"] {
            var result = BenchResult(date: "", commit: "", mode: mode, machine: machine, commands: [])
            let parts = ["instructions", "blocks", "pairs", "places", "quality", "allocations", "live", "passthrough"]
            for part in parts + (mode == "full" ? ["r1"] : []) {
                let found = Guard(thresholds: thresholds).regressions(in: result, parts: [part])
                guard !found.isEmpty else { throw BenchError("a missing part is not detected: \(part)") }
            }
            guard thresholds.r1.cpuRatioMedian[mode] != nil else { continue }
            // With all sides except the floor.
            let sides = (thresholds.r1.cpuRatioMedian[mode] ?? [:]).keys.filter { $0 != "floor" }
            result.r1 = R1Result(
                clips: "", loadBefore: 0, titles: [:], runs: [],
                ratios: Dictionary(uniqueKeysWithValues: sides.map { ($0, ["cpu": Spread([0.5])]) }),
                presets: thresholds.r1.presetCPURatioMedian.mapValues { _ in ["cpu": Spread([0.5])] }, stages: [:],
                peakMemoryMiB: 0)
            let found = Guard(thresholds: thresholds).regressions(in: result, parts: ["r1"])
            guard found.count == 1, found[0].contains("floor") else {
                throw BenchError("a missing floor is not detected: \(found)")
            }
            guard thresholds.kernels[Machine.architecture] != nil else { continue }
            result.kernels = [KernelResult(name: "peak", unit: "float", unitsPerItem: 1, gigaUnitsPerSecond: 1)]
            guard Guard(thresholds: thresholds).missing(in: result, parts: ["kernels"]).count == 1 else {
                throw BenchError("missing instruction counts are not detected")
            }
        }
    }
}
