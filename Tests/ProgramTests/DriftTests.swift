import MediaTypes
import Program
import Testing

/// A source of reproducible noise, 0 ..< 1.
struct Noise {
    var state: UInt64
    mutating func next() -> Double {
        self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(self.state >> 40) / Double(1 << 24)
    }
}

@Suite("Clock drift: one hour of a publisher whose clock is off")
struct DriftTests {
    /// Measurements of one minute.
    private struct Minute {
        var worstLips: Int64 = 0
        var gaps = 0
        var aheadMs: Int64 = 0
    }

    private struct Run {
        var minutes: [Minute] = []
        var ppm: Int?
        var reanchors = 0
        var seams = 0
        var pairsIn: Int64 = 0
        var pairsOut: Int64 = 0
        var end: Int64 = 0
    }

    /// Simulates `seconds` of 30 video frames and 46.875 audio frames a second on a clock that is `ppm` fast, over a
    /// network that delays each packet by up to `noiseMs`, in order. Timestamps are whole milliseconds, as in RTMP.
    private func simulate(ppm: Int64, noiseMs: Double, seconds: Int) -> Run {
        var timeline = SourceTimeline(jitterBuffer: 200_000_000)
        var placement = AudioPlacement(sampleRate: 48_000, limitPPB: timeline.glideLimit)
        var run = Run()
        var noise = Noise(state: 7)
        let block = [Float](repeating: 0, count: 2_048)
        var (frame, audio): (Int64, Int64) = (0, 0)
        var lastArrival: Int64 = 0
        // The newest audio: the publisher's true time of its end, and its position on the program.
        var heard: (true: Int64, program: Int64, seams: Int)?
        var minute = Minute()
        var seams = 0
        var settled = 0
        while true {
            // True time of the publisher's clock for the next packet of each track, in nanoseconds.
            let frameTime = frame * 1_000_000_000 / 30, audioTime = audio * 1_024_000_000_000 / 48_000
            let isAudio = audioTime <= frameTime
            let own = isAudio ? audioTime : frameTime
            // A fast clock shows more time than has passed.
            let sent = TimeMath.scale(own, by: 1_000_000, over: 1_000_000 + ppm)
            if sent > Int64(seconds) * 1_000_000_000 { break }
            let arrival = max(lastArrival, sent + Int64(noise.next() * noiseMs * 1_000_000))
            lastArrival = arrival
            if sent < 1_000_000_000 { settled = timeline.reanchors }
            let stamp = own / 1_000_000 * 1_000_000
            let mapped = timeline.map(kind: isAudio ? .audio : .video, pts: stamp, dts: stamp, arrival: arrival)
            if isAudio {
                audio += 1
                let position = TimeMath.rescale(mapped.pts, from: 1_000_000_000, to: 48_000)
                placement.place(block, at: position, isRemapped: timeline.seams != seams) { samples, at, hasSeam in
                    let pairs = Int64(samples.count / 2)
                    // The first second may have one seam, from settling.
                    if sent > 1_000_000_000 {
                        if hasSeam { run.seams += 1 }
                        if run.end != at { minute.gaps += 1 }
                    }
                    run.pairsIn += 1_024
                    run.pairsOut += pairs
                    run.end = at + pairs
                }
                seams = timeline.seams
                // The position includes the resampler's delay: the end of the output is that much earlier content.
                let content = own + 1_024_000_000_000 / 48_000 - 16 * 1_000_000_000 / 48_000
                heard = (content, run.end * 1_000_000_000 / 48_000, timeline.seams)
            } else {
                frame += 1
                // Across a seam there is no common moment to compare.
                if let heard, heard.seams == timeline.seams {
                    // How much later than the video the audio of the same moment is on the program.
                    let lips = (heard.program - heard.true) - (mapped.pts - own)
                    minute.worstLips = max(minute.worstLips, abs(lips))
                }
                minute.aheadMs = (mapped.pts - sent) / 1_000_000
                if frame % 1_800 == 0 {
                    run.minutes.append(minute)
                    minute = Minute()
                }
            }
        }
        run.ppm = timeline.driftPpm
        run.reanchors = timeline.reanchors - settled
        return run
    }

    @Test(
        "during an hour with a publisher clock up to 500 ppm off, lip sync stays within 20 ms and the audio has no break and no gap",
        arguments: [500, -500, 0, 37])
    func hour(ppm: Int64) {
        let run = self.simulate(ppm: ppm, noiseMs: 30, seconds: 3_600)
        #expect(run.minutes.count >= 59)
        #expect(run.minutes.allSatisfy { $0.worstLips <= 20_000_000 }, "\(run.minutes.map { $0.worstLips / 1_000 })")
        #expect(run.minutes.allSatisfy { $0.gaps == 0 })
        #expect(run.seams == 0)
        #expect(run.reanchors == 0)
        #expect(
            run.minutes.dropFirst(2).allSatisfy { (180...230).contains($0.aheadMs) }, "\(run.minutes.map(\.aheadMs))")
        #expect(abs(Int64(run.ppm ?? 9_999) - ppm) <= 15, "measured \(run.ppm ?? 9_999)")
        // Except for the drift, the output is as long as the input.
        let expected = TimeMath.scale(run.pairsIn, by: 1_000_000, over: 1_000_000 + ppm)
        #expect(abs(run.pairsOut - expected) <= 48 * 20)
    }

    @Test(
        "with a publisher clock 4,000 ppm off, timestamps are mapped anew now and then, and lip sync stays within 20 ms",
        arguments: [4_000, -4_000])
    func tooFar(ppm: Int64) {
        let run = self.simulate(ppm: ppm, noiseMs: 5, seconds: 600)
        // 3,000 ppm remain: 1.8 s in ten minutes, at least 30 ms each time.
        #expect((1...60).contains(run.reanchors))
        #expect(run.minutes.allSatisfy { (0...330).contains($0.aheadMs) }, "\(run.minutes.map(\.aheadMs))")
        #expect(run.minutes.allSatisfy { $0.worstLips <= 20_000_000 }, "\(run.minutes.map { $0.worstLips / 1_000 })")
    }

    @Test(
        "with network jitter of up to 150 ms, a drift of 100 ppm is measured within 30 ppm",
        arguments: [5.0, 60.0, 150.0])
    func noise(noiseMs: Double) {
        let run = self.simulate(ppm: 100, noiseMs: noiseMs, seconds: 600)
        #expect(abs(Int64(run.ppm ?? 9_999) - 100) <= 30, "measured \(run.ppm ?? 9_999)")
        #expect(run.reanchors == 0)
    }

    @Test("two publishers of the same clip are within 50 ms of each other from 0.7 s after each reconnect on")
    func twoSources() {
        var timelines = [SourceTimeline(jitterBuffer: 200_000_000), SourceTimeline(jitterBuffer: 200_000_000)]
        var noise = Noise(state: 11)
        // Timestamps of each start at zero when it connects.
        var bases: [Int64] = [0, 40]
        // The first packets wait for the connection: up to 150 ms.
        var connected: [Int64] = [0, 40]
        var shown: [[Int64: Int64]] = [[:], [:]]
        for at in Int64(0)..<120_000 {
            if at % 10_000 == 5_000 {
                let index = Int(at / 10_000) % 2
                timelines[index].reset()
                bases[index] = at
                connected[index] = at
            }
            guard at % 33 == 0 else { continue }
            for index in 0..<2 where at >= bases[index] {
                let luck = max(0, (index == 0 ? 150 : 60) - (at - connected[index]))
                let arrival = at + luck + Int64(noise.next() * 20)
                let stamp = (at - bases[index]) * 1_000_000
                let mapped = timelines[index].map(kind: .video, pts: stamp, dts: stamp, arrival: arrival * 1_000_000)
                // Seven tenths of a second after its connection a source has settled.
                if at - connected[index] > 700 { shown[index][at] = mapped.pts }
            }
        }
        let apart = shown[0].compactMap { at, time in shown[1][at].map { abs($0 - time) } }
        #expect(apart.count > 2_000)
        #expect((apart.max() ?? .max) <= 50_000_000, "\((apart.max() ?? 0) / 1_000) µs")
    }
}
