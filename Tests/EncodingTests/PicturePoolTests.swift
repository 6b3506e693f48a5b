import HLS
import LibAV
import MediaTypes
import Testing

@Suite("Frame pools of filter graphs and decoders")
struct PicturePoolTests {
    private static func luma(_ picture: Picture) -> UInt8? { picture.withPlane(0) { samples, _ in samples[0] } }

    @Test("a filter graph's frames stay unchanged while referenced, and are reused afterwards")
    func graph() throws {
        let graph = try FilterGraph.open(
            "[in]scale=16:16[large];[large]split=2[out][rest];[rest]scale=8:8[small]",
            inputs: [FilterGraph.Input(label: "in", format: .canvas(width: 32, height: 32))],
            outputs: ["out", "small"], fps: 30, place: "test")
        var kept: [(value: UInt8, frames: [Picture])] = []
        var objects: Set<ObjectIdentifier> = []
        for number in 0..<200 {
            let value = UInt8(20 + number)
            let input = try PictureCanvas.open(
                width: 32, height: 32, fill: CanvasColor(y: value, cb: 128, cr: 128)
            ).finish()
            let frames = try graph.run([input], pts: Int64(number))
            #expect(frames.map(\.format.width) == [16, 8])
            for picture in frames { objects.insert(ObjectIdentifier(picture)) }
            kept.append((value, frames))
            if kept.count > 5 { kept.removeFirst() }
            for (value, frames) in kept { #expect(frames.allSatisfy { Self.luma($0) == value }) }
        }
        #expect(objects.count <= 16, "\(objects.count) objects for twelve at a time")
    }

    @Test("a filter graph that libavfilter rejects has the advice that its caller gives; otherwise to report the error")
    func rejected() {
        func fix(_ open: () throws(MediaError) -> FilterGraph) -> String? {
            do throws(MediaError) {
                _ = try open()
                return nil
            } catch { return error.fix }
        }
        let input = FilterGraph.Input(label: "in", format: .canvas(width: 32, height: 32))
        let plain = fix { () throws(MediaError) in
            try FilterGraph.open("[in]nonsense[out]", inputs: [input], outputs: ["out"], fps: 30, place: "test")
        }
        let own = fix { () throws(MediaError) in
            try FilterGraph.open(
                "[in]nonsense[out]", inputs: [input], outputs: ["out"], fps: 30, place: "test", fix: "check the scene")
        }
        #expect(plain == "report this error with the log" && own == "check the scene")
    }

    @Test("a filter graph reports once that it holds frames that were not used since the last check")
    func oversized() throws {
        let graph = try FilterGraph.open(
            "[in]scale=16:16[out]", inputs: [FilterGraph.Input(label: "in", format: .canvas(width: 32, height: 32))],
            outputs: ["out"], fps: 30, place: "test")
        let input = try PictureCanvas.open(width: 32, height: 32, fill: .black).finish()
        var kept: [Picture] = []
        for tick in 0..<10 { kept += try graph.run([input], pts: Int64(tick)) }
        #expect(!graph.isOversized(), "all of them are referenced")
        #expect(kept.count == 10)
        kept = []
        _ = try graph.run([input], pts: 10)
        #expect(!graph.isOversized(), "all of them were referenced since")
        for tick in 11..<20 { _ = try graph.run([input], pts: Int64(tick)) }
        #expect(graph.isOversized())
        for tick in 20..<30 { _ = try graph.run([input], pts: Int64(tick)) }
        #expect(!graph.isOversized(), "it was reported")
    }

    /// A decoder, and ten packets of one frame each.
    private static func coded() throws -> (decoder: VideoDecoder, packets: [CodedPacket]) {
        let settings = VideoEncoderSettings(
            width: 64, height: 48, fps: 30, preset: "ultrafast", profile: "high", bitrate: 300_000,
            maxBitrate: 330_000, bufferSize: 330_000, bFrames: 0, lookaheadFrames: 0, threads: 1)
        let encoder = try VideoEncoder.open(settings, place: "test")
        var packets: [CodedPacket] = []
        for index in 0..<10 {
            let picture = try PictureCanvas.open(
                width: 64, height: 48, fill: CanvasColor(y: UInt8(40 + 16 * index), cb: 128, cr: 128)
            ).finish()
            try encoder.encode(picture, pts: Int64(index), forceIDR: index == 0) { packets.append($0) }
        }
        try encoder.finish { packets.append($0) }
        let record = try #require(AVCConfiguration(extradata: encoder.parameterSets)).record
        return (try VideoDecoder.open(CodecParameters(codec: .h264, configuration: record), place: "test"), packets)
    }

    @Test("a decoder fed a packet every two seconds frees memory within three minutes")
    func renewalOfFew() throws {
        let (decoder, packets) = try Self.coded()
        var kept: [Picture] = []
        let burst: Int64 = 40
        for number in Int64(0)..<burst + 90 {
            var packet = packets[Int(number) % packets.count]
            packet.arrival = 1 + number * 33_000_000 + max(0, number - burst) * 2_000_000_000
            _ = decoder.decode(packet) { if number < burst { kept.append($0) } }
            if number == burst { kept = [] }
        }
        #expect(kept.isEmpty)
        #expect(decoder.renewals == 1)
    }

    @Test(
        "frame pools are checked once per minute of stream time, also if it jumps; without times, at every n-th frame")
    func looks() {
        var look = PoolCheckTimer(every: 3)
        let counted = (0..<7).map { _ in look.isDue() }
        #expect(counted == [false, false, true, false, false, true, false])
        look = PoolCheckTimer(every: 3)
        let minute = PoolCheckTimer.interval
        let times: [Int64] = [
            5, 6, 7, 8, minute + 4, minute + 5, minute + 6, 2 * minute + 5, 4, minute, minute + 4, .max, 1,
        ]
        let timed = times.map { look.isDue(at: $0) }
        #expect(
            timed == [false, false, false, false, false, true, false, true, false, false, true, true, false])
    }

    @Test("a decoder frees frames that were idle between two checks, without changing its output")
    func renewal() throws {
        let (decoder, packets) = try Self.coded()
        var kept: [Picture] = []
        var shown = 0, wrong = 0
        let burst = 40
        // Most frames are referenced at the start; those idle from the first check to the second are freed.
        for number in 0..<(2 * VideoDecoder.lookInterval + burst) {
            let isIntact = decoder.decode(packets[number % packets.count]) { picture in
                let index = Int((picture.pts ?? 0) / VideoEncoder.ticksPerPicture)
                let off = Self.luma(picture).map { abs(Int($0) - (40 + 16 * index)) } ?? 255
                if off > 8 { wrong += 1 }
                shown += 1
                if number < burst { kept.append(picture) }
            }
            if !isIntact { wrong += 1 }
            if number == burst { kept = [] }
        }
        #expect(wrong == 0)
        #expect(shown >= 2 * VideoDecoder.lookInterval)
        #expect(kept.isEmpty)
        #expect(decoder.renewals == 1)
    }
}
