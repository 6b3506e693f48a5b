/// Encodes clips with sets of x264 settings and compares CPU time and quality at equal size. Each rendition is upscaled to the
/// canvas, as a player does it.
///
/// Every frame is compared, since subsampling with the same period as the B-frames gives better scores. No `tune`: psychovisual
/// optimizations stay on.
struct EncoderSearch {
    /// `searches.json`.
    struct Plan: Decodable {
        struct Set: Decodable {
            var name: String
            var preset: String
            var params: String
        }
        struct Rendition: Decodable {
            var name: String
            var width: Int
            var height: Int
            /// Bits per second.
            var rates: [Int]
        }
        var reference: Set
        var renditions: [Rendition]
        var sets: [Set]
    }

    private struct Encoded {
        var cpu: Double
        var bytes: Int
        var vmaf: Double
        var ssim: Double
    }

    /// A clip: the input to encode, and the reference to compare with.
    private struct Job {
        var file: String
        var canvas: String
    }

    private struct Log: Decodable {
        struct Pooled: Decodable { var mean: Double }
        var pooledMetrics: [String: Pooled]

        enum CodingKeys: String, CodingKey { case pooledMetrics = "pooled_metrics" }
    }

    /// The canvas.
    private static let (width, height) = (1280, 720)
    /// Maximum number of encodings until a stream has the reference's size.
    private static let attempts = 7
    /// The search stops at this difference in size; ``SearchTally/Pair/tolerance`` decides which pairs count.
    private static let closeEnough = 0.008

    let plan: Plan
    let ffmpeg: String
    /// An FFmpeg with libvmaf.
    let judge: String
    let work: String
    /// Files to encode, by name; first converted to the canvas's size and 30 frames per second.
    let clips: [(name: String, input: [String])]
    /// Seconds of each clip.
    let seconds: Double

    /// The command for each stream in readable form.
    static let commands = [
        "ffmpeg -threads 1 -i CLIP.nut -an -c:v libx264 -preset PRESET -threads 1 -g 32 -keyint_min 32 -b:v RATE "
            + "-maxrate 1.1×RATE -bufsize 1.1×RATE -x264-params force-cfr=1:scenecut=0:PARAMS STREAM.mp4"
    ]

    /// Real clips of a directory, looped if they are short, followed by generated ones: motion and grain, a static screen, a
    /// fade.
    static func clips(directory: String?) -> [(name: String, input: [String])] {
        let real = directory.map { directory in
            Files.names(in: directory).filter { $0.hasSuffix(".mp4") }
                .map { (name: $0, input: ["-stream_loop", "-1", "-i", "\(directory)/\($0)"]) }
        }
        func generated(_ source: String) -> [String] { ["-f", "lavfi", "-i", source] }
        return (real ?? []) + [
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
        var tallies = [SearchTally](repeating: SearchTally(), count: self.plan.sets.count)
        for clip in self.clips {
            let canvas = try self.prepared(clip)
            for rendition in self.plan.renditions {
                let job = Job(file: try self.scaled(canvas, rendition), canvas: canvas)
                // Subtract the cost of reading the clip.
                let reading = try ChildProcess.run(
                    self.command(job.file) + ["-c:v", "rawvideo", "-f", "null", "-"]
                ).cpuSeconds
                var references: [Encoded] = []
                for rate in rendition.rates {
                    references.append(try self.encoded(job, self.plan.reference, rate, size: nil, reading: reading))
                }
                for (index, set) in self.plan.sets.enumerated() {
                    var mine: [Encoded] = []
                    for (rate, reference) in zip(rendition.rates, references) {
                        mine.append(try self.encoded(job, set, rate, size: reference.bytes, reading: reading))
                    }
                    let pairs = zip(mine, references).map {
                        SearchTally.Pair(
                            clip: clip.name, rendition: rendition.name, cpu: $0.cpu / max($1.cpu, 1e-9),
                            vmaf: $0.vmaf - $1.vmaf, ssim: $0.ssim - $1.ssim,
                            size: Double($0.bytes) / Double(max(1, $1.bytes)))
                    }
                    tallies[index].pairs += pairs
                    let bd = BDRate.percent(
                        mine.map { (Double($0.bytes), $0.vmaf) }, over: references.map { (Double($0.bytes), $0.vmaf) })
                    if let bd {
                        tallies[index].bdRates.append(SearchTally.Bjontegaard(rendition: rendition.name, percent: bd))
                    }
                    let cpu = pairs.reduce(0) { $0 + $1.cpu } / Double(max(1, pairs.count))
                    let scores = pairs.map {
                        "\($0.vmaf.text(2))\($0.isEqual ? "" : " at \($0.size.text(3)) of the size")"
                    }
                    Terminal.say(
                        "  \(clip.name) \(rendition.name): \(set.name): CPU \(cpu.text(3)), "
                            + "VMAF-NEG \(scores.joined(separator: ", "))")
                }
            }
        }
        return self.result(tallies)
    }

    private func result(_ tallies: [SearchTally]) -> SearchResult {
        let names = self.plan.renditions.map(\.name)
        var points = zip(self.plan.sets, tallies).map { $1.point($0, renditions: names) }
        points.append(
            SearchResult.Point(
                name: self.plan.reference.name, preset: self.plan.reference.preset, params: self.plan.reference.params,
                cpu: 1, vmafNeg: 0, vmafNegWorst: 0, ssim: 0, bdRate: 0))
        return SearchResult(
            reference: self.plan.reference.name, clips: self.clips.map(\.name), seconds: self.seconds,
            points: SearchTally.ranked(points))
    }

    // MARK: Steps

    private func command(_ file: String) -> [String] {
        [self.ffmpeg, "-v", "error", "-nostdin", "-y", "-threads", "1", "-i", file, "-an"]
    }

    /// Writes the clip as raw 1280x720p30 video, so that reading it costs almost nothing.
    private func prepared(_ clip: (name: String, input: [String])) throws(BenchError) -> String {
        let file = "\(self.work)/clip.nut"
        let size = "\(Self.width):\(Self.height)"
        let fit = "fps=30,scale=\(size):force_original_aspect_ratio=increase,crop=\(size),setsar=1,format=yuv420p"
        let made = try ChildProcess.run(
            [self.ffmpeg, "-v", "error", "-nostdin", "-y"] + clip.input + [
                "-t", "\(self.seconds)", "-vf", fit, "-an", "-c:v", "rawvideo", "-f", "nut", file,
            ])
        guard made.status == 0 else { throw BenchError("\(clip.name) could not be decoded") }
        return file
    }

    /// Writes the canvas in a rendition's size, as raw video.
    private func scaled(_ canvas: String, _ rendition: Plan.Rendition) throws(BenchError) -> String {
        guard (rendition.width, rendition.height) != (Self.width, Self.height) else { return canvas }
        let file = "\(self.work)/clip-scaled.nut"
        let made = try ChildProcess.run(
            [self.ffmpeg, "-v", "error", "-nostdin", "-y", "-i", canvas] + [
                "-vf", "scale=\(rendition.width):\(rendition.height):flags=bicubic,setsar=1", "-an", "-c:v", "rawvideo",
                "-f", "nut", file,
            ])
        guard made.status == 0 else { throw BenchError("\(rendition.name) could not be scaled") }
        return file
    }

    /// Encodes and compares. With `size`, the bit rate is adjusted until the stream's size is within 1 % of it; if that fails,
    /// the nearest attempt is used.
    private func encoded(
        _ job: Job, _ set: Plan.Set, _ rate: Int, size: Int?, reading: Double
    ) throws(BenchError) -> Encoded {
        var target = Double(rate)
        var best: (file: String, cpu: Double, bytes: Int)?
        func distance(_ bytes: Int) -> Double { abs(Double(bytes) / Double(max(1, size ?? bytes)) - 1) }
        for attempt in 0..<(size == nil ? 1 : Self.attempts) {
            let name = "clip-\(attempt).mp4"
            let params = "force-cfr=1:scenecut=0" + (set.params.isEmpty ? "" : ":\(set.params)")
            let bits = "\(Int(target))"
            let most = "\(Int(target * 1.1))"
            let usage = try ChildProcess.run(
                self.command(job.file) + [
                    "-c:v", "libx264", "-preset", set.preset, "-threads", "1", "-g", "32", "-keyint_min", "32", "-b:v",
                    bits, "-maxrate", most, "-bufsize", most, "-x264-params", params, "\(self.work)/\(name)",
                ])
            guard usage.status == 0 else { throw BenchError("libx264 rejected “\(set.params)”") }
            let bytes = try Files.size(of: self.work) { $0 == name }
            if distance(bytes) < best.map({ distance($0.bytes) }) ?? .infinity {
                best = ("\(self.work)/\(name)", max(usage.cpuSeconds - reading, 0.001), bytes)
            }
            guard let size, distance(bytes) > Self.closeEnough else { break }
            // From the third attempt, only half of the correction: a rate control that overreacts would oscillate without end.
            let step = Double(size) / Double(max(1, bytes))
            target = min(max(target * (attempt < 2 ? step : step.squareRoot()), Double(rate) / 4), Double(rate) * 4)
        }
        guard let best else { throw BenchError("nothing was encoded") }
        let scores = try self.scores(best.file, against: job.canvas)
        return Encoded(cpu: best.cpu, bytes: best.bytes, vmaf: scores.vmaf, ssim: scores.ssim)
    }

    private func scores(_ file: String, against clip: String) throws(BenchError) -> (vmaf: Double, ssim: Double) {
        let path = "\(self.work)/search-vmaf.json"
        // Both get the same color tags: a current FFmpeg converts between tagged and untagged video.
        let same = "setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709,settb=1/30,setpts=N"
        let pair =
            "[0:v]\(same),scale=\(Self.width):\(Self.height):flags=bicubic,setsar=1,format=yuv420p[got];"
            + "[1:v]\(same),setsar=1,format=yuv420p[ref];[got][ref]"
        let usage = try ChildProcess.run([
            self.judge, "-v", "error", "-nostdin", "-i", file, "-i", clip, "-filter_complex",
            pair
                + "libvmaf=model=version=vmaf_v0.6.1neg:feature=name=float_ssim:n_threads=2:log_fmt=json:log_path=\(path)",
            "-an", "-f", "null", "-",
        ])
        guard usage.status == 0 else { throw BenchError("libvmaf ended with status \(usage.status)") }
        let log = try Files.read(Log.self, from: path)
        guard let vmaf = log.pooledMetrics["vmaf"], let ssim = log.pooledMetrics["float_ssim"] else {
            throw BenchError("\(path) contains no scores")
        }
        return (vmaf.mean, ssim.mean)
    }
}
