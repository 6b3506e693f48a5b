/// A result as one self-contained HTML file: plots are inline SVG, colors follow light or dark mode.
struct ResultPage {
    let result: BenchResult

    init(_ result: BenchResult) { self.result = result }

    var html: String {
        let sections = [
            self.pipeline, self.pairs, self.stages, self.instructions, self.blocks, self.quality, self.allocations,
            self.live, self.growth, self.search,
            self.kernels,
        ]
        .compactMap {
            $0
        }
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Tandem benchmarks \(HTML.escape(self.result.date)) \(HTML.escape(self.result.commit))</title>
            <style>
            \(Self.style)
            </style></head><body><main>
            <h1>Tandem benchmarks</h1>
            \(self.head)
            \(sections.joined(separator: "\n"))
            <h2>Run it again</h2>
            <pre>\(self.result.commands.map(HTML.escape).joined(separator: "\n"))</pre>
            </main></body></html>

            """
    }

    private static let style = """
        :root { color-scheme: light dark; --ground: #fff; --ink: #1b1f24; --muted: #667; --grid: #dde1e6; --card: #f6f7f9;
          --ours: #2563eb; --other: #a9b1bd; --floor: #5b9a6b;
          --c1: #2563eb; --c2: #e08a1e; --c3: #5b9a6b; --c4: #b4477f; --c5: #7a5cc9; --c6: #c9a227; --c7: #4aa3b8; --c8: #a9b1bd; --c9: #d0604a; --c10: #667; }
        @media (prefers-color-scheme: dark) { :root { --ground: #14171b; --ink: #e6e9ee; --muted: #98a2b0; --grid: #2c323a;
          --card: #1c2026; --ours: #6ea0ff; --other: #56606e; --floor: #6fb884; --c1: #6ea0ff; --c2: #f0a64a; --c3: #6fb884;
          --c4: #d87aa9; --c5: #a58cf0; --c6: #dfc05a; --c7: #6fc3d6; --c8: #66707e; --c9: #ea8a78; --c10: #98a2b0; } }
        body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
        main { max-width: 900px; margin: 0 auto; padding: 24px 16px 64px; }
        h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 36px 0 6px; } h3 { font-size: 15px; margin: 18px 0 4px; }
        p, dl { margin: 6px 0; color: var(--muted); } svg { width: 100%; height: auto; display: block; background: var(--card);
          border-radius: 8px; padding: 10px; box-sizing: border-box; }
        svg text { font: 13px system-ui, sans-serif; fill: var(--ink); } svg text.muted { fill: var(--muted); font-size: 12px; }
        .scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
        th, td { padding: 4px 10px; border-bottom: 1px solid var(--grid); text-align: right; white-space: nowrap; }
        th:first-child, td:first-child { text-align: left; } th { font-weight: 600; color: var(--muted); }
        .grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 14px; }
        pre { background: var(--card); padding: 12px; border-radius: 8px; overflow-x: auto; font-size: 13px; }
        """

    private var head: String {
        let machine = self.result.machine
        return """
            <p>\(HTML.escape(self.result.date)) · commit <code>\(HTML.escape(self.result.commit))</code> · \
            \(HTML.escape(self.result.mode))<br>\
            \(HTML.escape(machine.processor)), \(machine.cores) cores, \(machine.memoryMiB / 1024) GiB · \
            \(HTML.escape(machine.kernel)) · \(HTML.escape(machine.swift))<br>\(HTML.escape(machine.ffmpeg))<br>\
            Load average before: \(machine.loadBefore)\(machine.loadBefore > 0.5 ? " — other processes were active: use the times only as ratios" : "")</p>
            """
    }

    private func median(_ side: String, _ value: (R1Run) -> Double?) -> (Double, [Double])? {
        let values = (self.result.r1?.runs ?? []).filter { $0.side == side }.compactMap(value)
        return values.isEmpty ? nil : (Spread(values).median, values)
    }

    private var sides: [String] {
        R1Side.names.filter { self.result.r1?.titles[$0] != nil }
    }

    private var pipeline: String? {
        guard let r1 = self.result.r1 else { return nil }
        func rows(_ value: @escaping (R1Run) -> Double?) -> [(name: String, value: Double, values: [Double])] {
            self.sides.compactMap { side in
                self.median(side, value).map { (r1.titles[side] ?? side, $0.0.rounded(digits: 2), $0.1) }
            }
        }
        // The floor runs its stages one after the other, so its wall time is not comparable.
        let wall = rows { $0.side == "floor" ? nil : $0.wallSeconds }
        let ratios = self.sides.compactMap { side in
            r1.ratios[side]?["cpu"].map { (name: r1.titles[side] ?? side, spread: $0) }
        }
        let presets = self.sides.compactMap { side in
            r1.presets?[side]?["cpu"].map { (name: r1.titles[side] ?? side, spread: $0) }
        }
        let presetPlot =
            presets.isEmpty
            ? ""
            : "<h3>Tandem's presets: CPU time divided by FFmpeg's with veryfast</h3>" + Plots.ratios("Presets", presets)
        let oneCore = self.sides.compactMap { side in
            r1.oneCore?[side]?["cpu"].map { (name: r1.titles[side] ?? side, spread: $0) }
        }
        let oneCorePlot =
            oneCore.isEmpty
            ? ""
            : "<h3>Tandem's CPU time divided by theirs, each on one core</h3>" + Plots.ratios("On one core", oneCore)
        return """
            <h2>R1: a PK of 20 s, two 720p30 sources to 720p, 480p and 360p</h2>
            <p>All use the same encoder settings (x264 veryfast), except Tandem's presets; the sides take turns in one run. Sources: \(HTML.escape(r1.clips)); load \
            before: \(r1.loadBefore). The floor is the sum of decoding, scaling, encoding and AAC, each measured alone: the least that these libraries need. \
            \(HTML.escape(r1.scalingNote))</p>
            <h3>CPU seconds (median; one dot per run)</h3>
            \(Plots.bars("CPU seconds", rows { $0.cpuSeconds }, unit: "s"))
            <h3>Tandem's CPU time divided by theirs (median; thick: 95 % interval; thin: all runs)</h3>
            \(Plots.ratios("CPU ratios", ratios))
            \(presetPlot)
            \(oneCorePlot)
            <h3>Peak memory (median; one dot per run)</h3>
            \(Plots.bars("Peak memory", rows { $0.peakMemoryMiB }, unit: "MiB"))
            <h3>Wall time (median; one dot per run)</h3>
            \(Plots.bars("Wall time", wall, unit: "s"))
            """
    }

    private var stages: String? {
        guard let r1 = self.result.r1, case let stages = R1Measurement.stages(r1.runs), let ours = stages["ours"] else {
            return nil
        }
        func parts(_ stages: [String: Double]) -> [(String, Double)] {
            StageTimes.all.compactMap { name in stages[name].map { (name, $0) } }
        }
        var rows = [(name: "Tandem", parts: parts(ours))]
        if let floor = stages["floor"] { rows.append((name: r1.titles["floor"] ?? "floor", parts: parts(floor))) }
        var text = """
            <h2>CPU time by stage</h2>
            \(Plots.stacked("CPU seconds by stage, medians", rows, unit: "s"))
            """
        if let places = r1.places {
            let rows = places.parts.sorted { $0.value > $1.value }.prefix(12).map {
                [HTML.escape($0.key), ($0.value * 100).text(2) + " %"]
            }
            text += """
                <p>\((places.outsideLibav * 100).text(2)) % of \(places.samples) samples are outside libav*, libswscale, libswresample and libx264; \
                samples in the C library count for its caller.</p>
                """
            text += HTML.table([["file", "share of Tandem's CPU time"]] + Array(rows))
        }
        return text
    }

    private var allocations: String? {
        guard let allocations = self.result.allocations else { return nil }
        let rows = allocations.perTick.sorted { $0.key < $1.key }.map {
            [$0.key, $0.value.text(2), (allocations.bytesPerTick[$0.key] ?? 0).text(0)]
        }
        return """
            <h2>Allocations</h2>
            <p>A live PK room, \(allocations.seconds.text(0)) s from the tenth second on, without the allocations of \
            the codec libraries.</p>
            \(HTML.table([["stage", "per tick", "bytes per tick"]] + rows))
            """
    }

    private var quality: String? {
        guard let quality = self.result.quality, let r1 = self.result.r1 else { return nil }
        let rows = quality.map { row in
            [
                HTML.escape(r1.titles[row.side] ?? row.side), row.rendition, row.vmafNeg.text(2),
                row.vmafNegMin.text(1),
                row.ssim.text(4), "\(row.bytes / 1000)",
            ]
        }
        return """
            <h2>Quality</h2>
            <p>Every frame compared with the canvas, after upscaling the rendition to it (bicubic).</p>
            \(HTML.table([["", "rendition", "VMAF-NEG", "worst frame", "SSIM", "kB"]] + rows))
            """
    }

    private var live: String? {
        guard let live = self.result.live else { return nil }
        var text = """
            <h2>Live</h2>
            <p>Publishers are <code>ffmpeg -c copy</code>; their CPU time is reported separately. Load before: \(live.loadBefore). Start to \
            <code>room.ready</code>: \(BenchPercentiles(live.startMs).p50.text(0)) ms (median of \(live.startMs.count))\
            \(live.ffmpegStartMs.map { ", FFmpeg for one frame \(BenchPercentiles($0).p50.text(0)) ms" } ?? "").</p>
            """
        for (title, rooms, most) in [
            ("with R1's settings", live.rooms, live.roomsInRealTime),
            ("with tandem-faster", live.fastRooms ?? [], live.fastRoomsInRealTime ?? 0),
        ] where !rooms.isEmpty {
            text += "<h3>PK rooms in real time \(title): \(most)</h3>" + self.table(of: rooms)
        }
        if let jobs = live.ffmpegJobs {
            text +=
                "<h3>Concurrent R1 jobs with FFmpeg in 20 s: \(jobs.filter(\.isInRealTime).map(\.jobs).max() ?? 0)</h3>"
                + HTML.table(
                    [["concurrent jobs", "s", "CPU s"]]
                        + jobs.map { ["\($0.jobs)", $0.wallSeconds.text(1), $0.cpuSeconds.text(2)] })
        }
        if let latency = live.latency {
            text += """
                <h3>Latency, low-latency preset</h3>
                <p>From a frame's arrival to its part: p50 \(latency.sendToPart.p50.text(0)) ms, \
                p95 \((latency.sendToPart.p95 ?? 0).text(0)) ms, p99 \((latency.sendToPart.p99 ?? 0).text(0)) ms; of it \
                \(latency.jitterBufferMs.text(0)) ms are the jitter buffer and up to \(latency.partMs.text(0)) ms the part itself.</p>
                """
        }
        if let switches = live.switches {
            text += """
                <p>\(switches.count) scene changes: \(switches.late) late and \(switches.lost) lost frames, longest change \
                \(switches.longestSwapMs.text(2)) ms, response after \(switches.answerMs.p50.text(1)) ms (p50).</p>
                """
        }
        if let ingest = live.ingest {
            text +=
                "<p>Ingest: \(ingest.cpuSecondsPerGigabyte.text(2)) CPU seconds per GB, measured over \(ingest.gigabytes.text(2)) GB.</p>"
        }
        if let memory = live.memory {
            text +=
                "<h3>Memory of one room over time: \(memory.slopePerMinute.text(2)) MiB per minute in the second half</h3>"
            text +=
                "<div class=\"grid\">"
                + Plots.line(
                    "Memory", memory.samples.map { ("\($0[0]) s", $0[1]) }, unit: "MiB", labels: false,
                    startsAtZero: false) + "</div>"
        }
        return text
    }

    private func table(of rooms: [LiveResult.Rooms]) -> String {
        let rows = rooms.map {
            [
                "\($0.rooms)", $0.seconds.text(0), "\($0.late)", "\($0.lost)", "\($0.steps ?? 0)", $0.roomCores.text(2),
                $0.publisherCores.text(2), $0.othersCores.text(2), $0.partP99Ms?.text(0) ?? "",
            ]
        }
        let head = [
            "PK rooms", "s", "late frames", "lost frames", "overload steps", "cores, rooms", "cores, publishers",
            "cores, other processes",
            "part p99, ms",
        ]
        return HTML.table([head] + rows)
    }

    private var growth: String? {
        guard let growth = self.result.growth else { return nil }
        let plots = growth.map { series in
            "<div><h3>\(HTML.escape(series.name))</h3>"
                + Plots.line(series.name, series.points.map { ($0.label, $0.cpuPerSecond) }, unit: "CPU s/s") + "</div>"
        }
        return "<h2>How the cost grows</h2><p>CPU seconds per second of program time, offline.</p><div class=\"grid\">"
            + plots.joined(separator: "\n") + "</div>"
    }

    private var search: String? {
        guard let search = self.result.search else { return nil }
        let rows = search.points.map { point in
            [
                HTML.escape(point.name), point.cpu.text(3), point.vmafNeg.text(2), point.vmafNegWorst.text(2),
                point.ssim.text(4), point.bdRate.map { $0.text(1) + " %" } ?? "",
                point.sizeWorst.map {
                    $0.text(3) + ((point.refused ?? 0) > 0 ? " (\(point.refused ?? 0) refused)" : "")
                } ?? "",
                "<code>\(HTML.escape(point.preset)) \(HTML.escape(point.params))</code>",
            ]
        }
        let head = ["", "CPU", "VMAF-NEG", "worst clip", "SSIM", "BD-rate", "largest size deviation", "settings"]
        let parts = search.points.flatMap { point in
            (point.renditions ?? [:]).sorted { $0.key > $1.key }.map { name, scores in
                [
                    HTML.escape(point.name), HTML.escape(name), scores.cpu.text(3), scores.vmafNeg.text(2),
                    scores.vmafNegWorst.text(2), scores.ssim.text(4), scores.bdRate.map { $0.text(1) + " %" } ?? "",
                ]
            }
        }
        let partHead = ["", "rendition", "CPU", "VMAF-NEG", "worst clip", "SSIM", "BD-rate"]
        return """
            <h2>Encoder settings</h2>
            <p>Relative to \(HTML.escape(search.reference)) at equal size (streams that differ by more than 1 % are refused and do \
            not count). Every frame is compared, after upscaling to the canvas of 720p30; one thread, \
            \(search.seconds.text(0)) s each of: \(search.clips.map(HTML.escape).joined(separator: ", ")).</p>
            \(Plots.pareto("Quality over CPU time", search.points))
            \(HTML.table([head] + rows))
            \(parts.isEmpty ? "" : HTML.table([partHead] + parts))
            """
    }

    private var kernels: String? {
        guard !self.result.kernels.isEmpty else { return nil }
        let rows = self.result.kernels.map { kernel in
            [
                HTML.escape(kernel.name), "\(kernel.gigaUnitsPerSecond.text(3)) G\(kernel.unit)/s",
                kernel.timesReference.map { "\($0.text(1))×" } ?? "", kernel.instructionsPerItem?.text(0) ?? "",
                kernel.allocationsPerItem?.text(2) ?? "", kernel.copiedPerByte?.text(2) ?? "",
            ]
        }
        let head = [
            "", "throughput", "relative to the plain loop", "instructions per item", "allocations per item",
            "bytes copied per byte",
        ]
        return "<h2>Hot loops</h2>" + HTML.table([head] + rows)
    }
}
