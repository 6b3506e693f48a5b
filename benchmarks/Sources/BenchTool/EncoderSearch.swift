/// Runs sets of x264 settings over clips and says what each costs and gives at equal size.
///
/// Every picture is judged: sub-sampling in step with the B-pictures flatters. No `tune`, psychovisual decisions stay.
struct EncoderSearch {
    /// `searches.json`.
    struct Plan: Decodable {
        struct Set: Decodable {
            var name: String
            var preset: String
            var params: String
        }
        var reference: Set
        /// Bits per second.
        var rates: [Int]
        var sets: [Set]
    }

    private struct Encoded {
        var cpu: Double
        var bytes: Int
        var vmaf: Double
        var ssim: Double
    }

    private struct Log: Decodable {
        struct Pooled: Decodable { var mean: Double }
        var pooledMetrics: [String: Pooled]

        enum CodingKeys: String, CodingKey { case pooledMetrics = "pooled_metrics" }
    }

    let plan: Plan
    let ffmpeg: String
    /// An FFmpeg with libvmaf.
    let judge: String
    let work: String
    /// Files to be encoded, by name; made 1280x720p30 first.
    let clips: [(name: String, input: [String])]
    /// Of each clip.
    let seconds: Double

    /// What is run for each stream, as one would type it.
    static let commands = [
        "ffmpeg -threads 1 -i CLIP.nut -an -c:v libx264 -preset PRESET -threads 1 -g 32 -keyint_min 32 -b:v RATE "
            + "-maxrate 1.1×RATE -bufsize 1.1×RATE -x264-params force-cfr=1:scenecut=0:PARAMS STREAM.mp4"
    ]

    /// Real clips of a directory, or generated ones: motion and grain, a static screen, a fade.
    static func clips(directory: String?) -> [(name: String, input: [String])] {
        if let directory {
            let names = Files.names(in: directory).filter { $0.hasSuffix(".mp4") }
            return names.map { ($0, ["-i", "\(directory)/\($0)"]) }
        }
        func generated(_ source: String) -> [String] { ["-f", "lavfi", "-i", source] }
        return [
            (
                "mandelbrot with grain",
                generated("mandelbrot=size=640x360:rate=30:start_scale=0.5:maxiter=300,noise=alls=4:allf=t")
            ),
            (
                "screen",
                generated(
                    "smptehdbars=size=1280x720:rate=30,drawbox=x=mod(t*80\\,1200):y=300:w=60:h=60:color=white:t=fill")
            ),
            ("fades", generated("testsrc2=size=1280x720:rate=30,fade=in:0:60,fade=out:120:60")),
        ]
    }

    func measure() throws(BenchError) -> SearchResult {
        var ratios = [[(cpu: Double, vmaf: Double, ssim: Double)]](repeating: [], count: self.plan.sets.count)
        var worst = [Double](repeating: .infinity, count: self.plan.sets.count)
        var bdRates = [[Double]](repeating: [], count: self.plan.sets.count)
        for clip in self.clips {
            let file = try self.prepared(clip)
            // What reading the clip costs is not the encoder's.
            let reading = try ChildProcess.run(self.command(file) + ["-c:v", "rawvideo", "-f", "null", "-"]).cpuSeconds
            var references: [Encoded] = []
            for rate in self.plan.rates {
                references.append(try self.encoded(file, self.plan.reference, rate, size: nil, reading: reading))
            }
            for (index, set) in self.plan.sets.enumerated() {
                var mine: [Encoded] = []
                for (rate, reference) in zip(self.plan.rates, references) {
                    mine.append(try self.encoded(file, set, rate, size: reference.bytes, reading: reading))
                }
                let pairs = zip(mine, references).map {
                    (cpu: $0.cpu / max($1.cpu, 1e-9), vmaf: $0.vmaf - $1.vmaf, ssim: $0.ssim - $1.ssim)
                }
                ratios[index] += pairs
                worst[index] = min(worst[index], pairs.reduce(0) { $0 + $1.vmaf } / Double(max(1, pairs.count)))
                let bd = BDRate.percent(
                    mine.map { (Double($0.bytes), $0.vmaf) }, over: references.map { (Double($0.bytes), $0.vmaf) })
                if let bd { bdRates[index].append(bd) }
                let cpu = pairs.reduce(0) { $0 + $1.cpu } / Double(max(1, pairs.count))
                Terminal.say(
                    "  \(clip.name): \(set.name): CPU \(cpu.text(3)), VMAF-NEG \(pairs.map { $0.vmaf.text(2) })")
            }
        }
        return self.result(ratios, worst, bdRates)
    }

    private func result(
        _ ratios: [[(cpu: Double, vmaf: Double, ssim: Double)]], _ worst: [Double], _ bdRates: [[Double]]
    ) -> SearchResult {
        func mean(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count) }
        var points = self.plan.sets.enumerated().map { index, set in
            SearchResult.Point(
                name: set.name, preset: set.preset, params: set.params,
                cpu: mean(ratios[index].map(\.cpu)).rounded(digits: 3),
                vmafNeg: mean(ratios[index].map(\.vmaf)).rounded(digits: 2),
                vmafNegWorst: worst[index].rounded(digits: 2),
                ssim: mean(ratios[index].map(\.ssim)).rounded(digits: 5),
                bdRate: bdRates[index].isEmpty ? nil : mean(bdRates[index]).rounded(digits: 2))
        }
        points.append(
            SearchResult.Point(
                name: self.plan.reference.name, preset: self.plan.reference.preset, params: self.plan.reference.params,
                cpu: 1, vmafNeg: 0, vmafNegWorst: 0, ssim: 0, bdRate: 0))
        for index in points.indices {
            let point = points[index]
            points[index].isBest = !points.contains {
                $0.cpu <= point.cpu && $0.vmafNeg >= point.vmafNeg && ($0.cpu, $0.vmafNeg) != (point.cpu, point.vmafNeg)
            }
        }
        return SearchResult(
            reference: self.plan.reference.name, clips: self.clips.map(\.name), seconds: self.seconds,
            points: points.sorted { $0.cpu < $1.cpu })
    }

    // MARK: Steps

    private func command(_ file: String) -> [String] {
        [self.ffmpeg, "-v", "error", "-nostdin", "-y", "-threads", "1", "-i", file, "-an"]
    }

    /// The clip as raw pictures of 1280x720p30, so that to read it costs next to nothing.
    private func prepared(_ clip: (name: String, input: [String])) throws(BenchError) -> String {
        let file = "\(self.work)/clip.nut"
        let fit = "fps=30,scale=1280:720:force_original_aspect_ratio=increase,crop=1280:720,setsar=1,format=yuv420p"
        let made = try ChildProcess.run(
            [self.ffmpeg, "-v", "error", "-nostdin", "-y"] + clip.input + [
                "-t", "\(self.seconds)", "-vf", fit, "-an", "-c:v", "rawvideo", "-f", "nut", file,
            ])
        guard made.status == 0 else { throw BenchError("\(clip.name) could not be read") }
        return file
    }

    /// Encodes and judges; with `size`, the rate is moved until the stream is as large within 1 %.
    private func encoded(
        _ file: String, _ set: Plan.Set, _ rate: Int, size: Int?, reading: Double
    ) throws(BenchError) -> Encoded {
        let output = "\(self.work)/clip.mp4"
        var target = Double(rate)
        var (cpu, bytes) = (0.0, 0)
        for attempt in 0..<4 {
            let params = "force-cfr=1:scenecut=0" + (set.params.isEmpty ? "" : ":\(set.params)")
            let bits = "\(Int(target))"
            let usage = try ChildProcess.run(
                self.command(file) + [
                    "-c:v", "libx264", "-preset", set.preset, "-threads", "1", "-g", "32", "-keyint_min", "32", "-b:v",
                    bits,
                    "-maxrate", "\(Int(target * 1.1))", "-bufsize", "\(Int(target * 1.1))", "-x264-params", params,
                    output,
                ])
            guard usage.status == 0 else { throw BenchError("libx264 refused “\(set.params)”") }
            cpu = max(usage.cpuSeconds - reading, 0.001)
            bytes = try Files.size(of: self.work) { $0 == "clip.mp4" }
            guard let size, attempt < 3, abs(Double(bytes) / Double(size) - 1) > 0.01 else { break }
            target *= Double(size) / Double(max(1, bytes))
        }
        let scores = try self.scores(output, against: file)
        return Encoded(cpu: cpu, bytes: bytes, vmaf: scores.vmaf, ssim: scores.ssim)
    }

    private func scores(_ file: String, against clip: String) throws(BenchError) -> (vmaf: Double, ssim: Double) {
        let path = "\(self.work)/search-vmaf.json"
        let pair = "[0:v]settb=1/30,setpts=N[got];[1:v]settb=1/30,setpts=N[ref];[got][ref]"
        let usage = try ChildProcess.run([
            self.judge, "-v", "error", "-nostdin", "-i", file, "-i", clip, "-filter_complex",
            pair
                + "libvmaf=model=version=vmaf_v0.6.1neg:feature=name=float_ssim:n_threads=2:log_fmt=json:log_path=\(path)",
            "-an", "-f", "null", "-",
        ])
        guard usage.status == 0 else { throw BenchError("libvmaf ended with status \(usage.status)") }
        let log = try Files.read(Log.self, from: path)
        guard let vmaf = log.pooledMetrics["vmaf"], let ssim = log.pooledMetrics["float_ssim"] else {
            throw BenchError("\(path) holds no scores")
        }
        return (vmaf.mean, ssim.mean)
    }
}
