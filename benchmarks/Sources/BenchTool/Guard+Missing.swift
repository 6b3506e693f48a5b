extension Guard {
    /// Measurements that are missing, one message each with the fix.
    func missing(in result: BenchResult, parts: [String]) -> [String] {
        parts.flatMap { part -> [String] in
            switch part {
            case "kernels": self.missingKernels(in: result)
            case "instructions" where result.instructions == nil && !Self.isSkipped(part, in: result):
                ["the instructions of R1 were not counted, and no reason is given"]
            case "blocks" where result.blocks == nil:
                ["live heap blocks were not counted: floor/blocks.c needs a C compiler"]
            case "r1": self.missingSides(in: result)
            case "pairs" where !Self.isSkipped(part, in: result):
                (self.thresholds.pairCPURatioMedian[result.mode] ?? [:]).keys.filter { result.pairs?.row($0) == nil }
                    .sorted()
                    .map { "R1 was not measured in pairs with \($0)" }
            case "places" where result.r1?.places == nil:
                ["places of R1 were not measured: floor/where.c needs a C compiler"]
            case "quality" where result.quality == nil:
                ["quality was not measured: it needs an FFmpeg with libvmaf, from PyPI's imageio-ffmpeg or NEW_FFMPEG"]
            case "quality":
                self.thresholds.quality.keys.filter { side in
                    (side == "ours" || result.mode == "full") && !(result.quality ?? []).contains { $0.side == side }
                }.sorted().map { "the quality of \($0) was not measured" }
            case "allocations" where result.allocations == nil:
                ["allocations per tick were not counted: floor/allocs.c needs a C compiler"]
            case "live" where result.live?.latency?.sendToPart.p95 == nil: ["the latency of a room was not measured"]
            case "live" where result.mode == "full" && result.live?.ingest == nil: ["ingest was not measured"]
            case "passthrough" where result.passthrough == nil: ["passthrough was not measured"]
            default: []
            }
        }
    }

    /// Whether the result has a reason why the part could not be measured on its machine.
    private static func isSkipped(_ part: String, in result: BenchResult) -> Bool {
        (result.skipped ?? []).contains { $0.hasPrefix("\(part): ") }
    }

    private func missingKernels(in result: BenchResult) -> [String] {
        // Without accepted counts for this architecture there is nothing to compare.
        guard let known = self.thresholds.kernels[Machine.architecture] else { return [] }
        guard !result.kernels.isEmpty else { return ["the hot loops were not measured"] }
        let uncounted = result.kernels.filter { $0.instructionsPerItem == nil || $0.allocationsPerItem == nil }
        let uncopied = result.kernels.filter { known[$0.name]?.copiedPerByte != nil && $0.copiedPerByte == nil }
        return
            (uncounted.isEmpty
            ? [] : ["instructions and allocations of \(uncounted.count) hot loops were not counted: install valgrind"])
            + (uncopied.isEmpty
                ? []
                : ["bytes copied by \(uncopied.map(\.name)) were not counted: floor/copies.c needs a C compiler"])
    }

    private func missingSides(in result: BenchResult) -> [String] {
        let peers = (self.thresholds.r1.cpuRatioMedian[result.mode] ?? [:]).keys.filter {
            result.r1?.ratios[$0]?["cpu"] == nil
        }
        let presets =
            result.mode == "full"
            ? self.thresholds.r1.presetCPURatioMedian.keys.filter { result.r1?.presets?[$0]?["cpu"] == nil } : []
        return (peers + presets).sorted().map { side in
            let remedy = side == "floor" ? ": floor/floor.c needs a C compiler and FFmpeg's headers" : ""
            return "R1 was not measured with \(side)\(remedy)"
        }
    }
}
