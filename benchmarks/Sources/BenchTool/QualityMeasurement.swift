/// Measures the quality of each side's renditions: VMAF-NEG and SSIM of every frame, with an FFmpeg that contains libvmaf.
struct QualityMeasurement {
    let script: String
    let work: String
    /// Path of an FFmpeg with libvmaf.
    let judge: String
    let sides: [R1Side]
    let renditions: [String]
    /// Media bytes of the measured run.
    let runs: [R1Run]

    private struct Log: Decodable {
        struct Pooled: Decodable {
            var min: Double
            var mean: Double
        }
        struct Frame: Decodable {}
        var frames: [Frame]
        var pooledMetrics: [String: Pooled]

        enum CodingKeys: String, CodingKey {
            case frames
            case pooledMetrics = "pooled_metrics"
        }
    }

    func measure() throws(BenchError) -> [QualityResult] {
        var results: [QualityResult] = []
        for side in self.sides {
            for rendition in self.renditions {
                guard let file = side.file(of: rendition) else { continue }
                let result = try self.judge(side, rendition, "\(self.work)/\(file)")
                Terminal.say(
                    "  \(side.name) \(rendition): VMAF-NEG \(result.vmafNeg), SSIM \(result.ssim), \(result.bytes) bytes"
                )
                results.append(result)
            }
        }
        return results
    }

    private func judge(_ side: R1Side, _ rendition: String, _ file: String) throws(BenchError) -> QualityResult {
        // FFmpeg writes its first frame twice if a source begins late, so the frame offset is chosen that fits.
        var skip = 0
        if try self.scores(file, skip: 1, pictures: 60).vmaf > self.scores(file, skip: 0, pictures: 60).vmaf {
            skip = 1
        }
        let scores = try self.scores(file, skip: skip, pictures: 600)
        return QualityResult(
            side: side.name, rendition: rendition, vmafNeg: scores.vmaf.rounded(digits: 2),
            vmafNegMin: scores.worst.rounded(digits: 1), ssim: scores.ssim.rounded(digits: 4),
            pictures: scores.pictures,
            bytes: self.runs.last { $0.side == side.name }?.bytes?[rendition] ?? 0)
    }

    private func scores(
        _ file: String, skip: Int, pictures: Int
    ) throws(BenchError) -> (vmaf: Double, worst: Double, ssim: Double, pictures: Int) {
        let path = "\(self.work)/vmaf.json"
        let usage = try ChildProcess.run(
            [self.script, "vmaf", self.work, file, path],
            environment: ["FFMPEG": self.judge, "SKIP": "\(skip)", "PICTURES": "\(pictures)"])
        guard usage.status == 0 else { throw BenchError("r1.sh vmaf failed with status \(usage.status)") }
        let log = try Files.read(Log.self, from: path)
        guard let vmaf = log.pooledMetrics["vmaf"], let ssim = log.pooledMetrics["float_ssim"] else {
            throw BenchError("\(path) contains no scores")
        }
        return (vmaf.mean, vmaf.min, ssim.mean, log.frames.count)
    }
}
