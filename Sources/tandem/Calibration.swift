import LibAV
import MediaTypes
import PipelineSpec
import CapacityPlan
import Push
import Threading

/// Measures the cost of a room's parts on this machine, with the same wrappers and libraries as a room. The generated
/// frames are about as hard to encode as those of a camera.
struct Calibration {
    /// Nanoseconds after which the remaining encoder presets are not measured but estimated from the measured presets.
    private static let budget: Int64 = 45_000_000_000
    private static let width = 1280
    private static let height = 720
    private static let fps = 30
    /// Number of generated frames; they are played forward and backward, so that motion never jumps.
    private static let length = 48
    /// CPU time after which the measurement of one encoder preset ends, in nanoseconds; at least ``fewest`` frames are
    /// encoded.
    private static let share: Int64 = 900_000_000
    private static let fewest = 10

    private let clock = SystemClock()
    private let frames: [Picture]
    private let report: (String) -> Void
    private let deadline: Int64

    /// Measures the costs of decoding, composing and encoding, for at most about a minute.
    ///
    /// - Parameter report: Receives lines of text about the progress.
    /// - Throws: ``MediaError/Code/unavailable`` if this FFmpeg has no libx264, and errors of its wrappers.
    static func measure(report: @escaping (String) -> Void) throws(MediaError) -> CostCoefficients {
        LibAV.setNativeLogging(false)
        report("measuring this machine, for at most a minute; nothing else should run")
        let calibration = Calibration(
            frames: try CalibrationMaterial.frames(
                count: self.length, width: self.width, height: self.height, fps: self.fps),
            report: report, deadline: SystemClock().now() + self.budget)
        return try calibration.run()
    }

    private init(frames: [Picture], report: @escaping (String) -> Void, deadline: Int64) {
        self.frames = frames
        self.report = report
        self.deadline = deadline
    }

    private func run() throws(MediaError) -> CostCoefficients {
        var found = CostCoefficients.reference
        found.machine = "this machine, FFmpeg \(LibAV.version)"
        let low = try self.encode(.veryfast, bitrate: 1_000_000, frames: Self.length)
        let high = try self.encode(.veryfast, bitrate: 5_000_000, frames: Self.length)
        found.encodePerMegabit = Self.slope(low, high, atMost: 60_000_000)
        found.encodePerMegapixel[.veryfast] = low.perMegapixel(without: found.encodePerMegabit)
        try self.decode(low, high, &found)
        try self.scaleAndCompose(&found)
        try self.audio(&found)
        // Costs of the clock, listeners and files are estimated from the speed of the machine.
        let speed = self.ratio(found)
        found.roomPerSecond = Self.scaled(found.roomPerSecond, speed)
        found.networkPerMegabit = Self.scaled(found.networkPerMegabit, speed)
        try self.presets(&found, speed)
        return found
    }

    // MARK: Encoding

    private struct Coded {
        var packets: [CodedPacket] = []
        var parameterSets: [UInt8] = []
        var nanoseconds: Int64 = 0
        var megapixels: Double = 0
        var megabits: Double { Double(self.packets.reduce(0) { $0 + $1.count }) * 8 / 1_000_000 }

        func perMegapixel(without perMegabit: Int64) -> Int64 {
            guard self.megapixels > 0 else { return 0 }
            return max(0, Int64((Double(self.nanoseconds) - self.megabits * Double(perMegabit)) / self.megapixels))
        }
    }

    private func encode(_ preset: VideoEncoding.Preset, bitrate: Int, frames: Int) throws(MediaError) -> Coded {
        var settings = VideoEncoderSettings(
            width: Self.width, height: Self.height, fps: Self.fps, preset: preset.x264Name, profile: "high",
            bitrate: bitrate, maxBitrate: bitrate * 11 / 10, bufferSize: bitrate * 11 / 10,
            bFrames: preset.defaultBFrames, lookaheadFrames: preset.defaultLookahead, threads: 1)
        settings.x264Parameters = preset.x264Parameters
        let encoder = try VideoEncoder.open(settings, place: "calibration")
        var coded = Coded()
        coded.parameterSets = encoder.parameterSets
        let start = SystemClock.processCPU()
        for index in 0..<frames {
            let isDone = index >= Self.fewest && SystemClock.processCPU() - start > Self.share
            if isDone { break }
            try encoder.encode(self.picture(index), pts: Int64(index), forceIDR: index % 32 == 0) {
                coded.packets.append($0)
            }
        }
        try encoder.finish { coded.packets.append($0) }
        coded.nanoseconds = SystemClock.processCPU() - start
        coded.megapixels = Double(coded.packets.count * Self.width * Self.height) / 1_000_000
        return coded
    }

    private func picture(_ index: Int) -> Picture {
        let phase = index % (2 * self.frames.count)
        return self.frames[phase < self.frames.count ? phase : 2 * self.frames.count - 1 - phase]
    }

    /// Returns the cost of encoding or decoding a megabit: the additional cost of the same frames at a higher bit rate.
    private static func slope(_ low: Coded, _ high: Coded, atMost limit: Int64) -> Int64 {
        let bits = high.megabits - low.megabits
        guard bits > 0.5 else { return limit / 3 }
        return min(limit, max(0, Int64(Double(high.nanoseconds - low.nanoseconds) / bits)))
    }

    private func presets(_ found: inout CostCoefficients, _ speed: Double) throws(MediaError) {
        // The fastest presets are measured first: live rooms use them, so they are measured even if time runs out.
        let reference = CostCoefficients.reference.encodePerMegapixel
        let order = VideoEncoding.Preset.allCases.filter { $0 != .veryfast }.sorted {
            (reference[$0] ?? 0, $0.rawValue) < (reference[$1] ?? 0, $1.rawValue)
        }
        for preset in order {
            if self.clock.now() > self.deadline {
                found.encodePerMegapixel[preset] = Self.scaled(reference[preset] ?? 0, speed)
                self.report("\(preset.rawValue): no time left, estimated")
            } else {
                let coded = try self.encode(preset, bitrate: 2_500_000, frames: Self.length)
                found.encodePerMegapixel[preset] = coded.perMegapixel(without: found.encodePerMegabit)
                self.report("\(preset.rawValue): \((found.encodePerMegapixel[preset] ?? 0) / 1000) us per megapixel")
            }
        }
    }

    /// Returns the cost on this machine as a multiple of the cost on the reference machine.
    private func ratio(_ found: CostCoefficients) -> Double {
        let reference = Double(CostCoefficients.reference.encodePerMegapixel[.veryfast] ?? 1)
        return max(0.05, Double(found.encodePerMegapixel[.veryfast] ?? 0) / max(1, reference))
    }

    private static func scaled(_ cost: Int64, _ factor: Double) -> Int64 { Int64(Double(cost) * factor) }

    // MARK: The other parts

    private func decode(_ low: Coded, _ high: Coded, _ found: inout CostCoefficients) throws(MediaError) {
        func decoded(_ coded: Coded) throws(MediaError) -> Coded {
            guard let record = AVCRecord(annexB: coded.parameterSets)?.record else { return coded }
            let decoder = try VideoDecoder.open(
                CodecParameters(codec: .h264, configuration: record), place: "calibration")
            var frames = 0
            let start = SystemClock.processCPU()
            for packet in coded.packets { _ = decoder.decode(packet) { _ in frames += 1 } }
            decoder.finish { _ in frames += 1 }
            var result = coded
            result.nanoseconds = SystemClock.processCPU() - start
            return result
        }
        let (cheap, dear) = (try decoded(low), try decoded(high))
        found.decodePerMegabit = Self.slope(cheap, dear, atMost: 15_000_000)
        found.decodePerMegapixel = cheap.perMegapixel(without: found.decodePerMegabit)
        self.report("decode: \(found.decodePerMegapixel / 1000) us per megapixel")
    }

    private func scaleAndCompose(_ found: inout CostCoefficients) throws(MediaError) {
        let format = PictureFormat.canvas(width: Self.width, height: Self.height)
        found.scalePerMegapixel = try self.filtered(
            "[a]scale=854:480:flags=bicubic,split=2[r0][c];[c]scale=640:360:flags=bicubic[r1]", inputs: ["a"],
            outputs: ["r0", "r1"], format, made: 854 * 480 + 640 * 360)
        found.composePerMegapixel = try self.filtered(
            "[a]crop=640:720:320:0[l];[b]crop=640:720:320:0[r];[l][r]xstack=inputs=2:layout=0_0|640_0[o]",
            inputs: ["a", "b"], outputs: ["o"], format, made: Self.width * Self.height)
        // The factor covers the work of a tick outside the filter graph: selecting each source's frame, and passing on
        // the result.
        found.composePerMegapixel *= 2
        self.report("scale: \(found.scalePerMegapixel / 1000) us per megapixel")
    }

    private func filtered(
        _ text: String, inputs: [String], outputs: [String], _ format: PictureFormat, made pixels: Int
    ) throws(MediaError) -> Int64 {
        let graph = try FilterGraph.open(
            text, inputs: inputs.map { FilterGraph.Input(label: $0, format: format) }, outputs: outputs, fps: Self.fps,
            place: "calibration")
        let rounds = 2 * Self.length
        _ = try graph.run(inputs.map { _ in self.picture(0) }, pts: 0)
        let start = SystemClock.processCPU()
        for index in 1...rounds { _ = try graph.run(inputs.map { _ in self.picture(index) }, pts: Int64(index)) }
        return (SystemClock.processCPU() - start) * 1_000_000 / Int64(rounds * pixels)
    }

    private func audio(_ found: inout CostCoefficients) throws(MediaError) {
        let pattern = TestPattern(name: "calibration")
        let encoder = try AudioEncoder.open(sampleRate: 48_000, bitrate: 128_000, place: "calibration")
        let seconds: Int64 = 8
        let frames = seconds * 48_000 / Int64(AudioEncoder.frameLength)
        let blocks = (0..<frames).map {
            pattern.audio(from: $0 * Int64(AudioEncoder.frameLength), count: AudioEncoder.frameLength)
        }
        let start = SystemClock.processCPU()
        var position: Int64 = 0
        for block in blocks {
            try encoder.encode(block[...], pts: position) { _ in }
            position += Int64(AudioEncoder.frameLength)
        }
        let cost = (SystemClock.processCPU() - start) / seconds
        // A tone with silences is easier to encode than voices and music.
        found.aacPerSecond = max(cost, cost * 3 / 2)
        found.audioPerSecond = found.aacPerSecond / 3
    }
}
