import Encoding
import LibAV
import MediaKernels
import MediaTypes
import Synchronization
import Testing

@Suite("Passthrough packets in the encoding stage")
struct PassingTests {
    private enum TrackEvent: Equatable {
        case packet(Int64, isKey: Bool, isOurs: Bool)
        case configuration(Int64, isPassed: Bool?)
    }

    private static func packets(_ ticks: Range<Int64>) -> [CodedPacket] {
        ticks.map { tick in
            CodedPacket(
                kind: .video, memory: PacketMemory([0, 0, 0, 2, tick == ticks.lowerBound ? 0x65 : 0x41, 1]),
                pts: tick * 1_000, dts: tick * 1_000, timescale: 30_000, isKey: tick == ticks.lowerBound)
        }
    }

    @Test(
        "one rendition switches to passthrough and back at given ticks, with IDR frames; another is encoded throughout"
    )
    func inAndOut() throws {
        let events = Mutex<[Int: [TrackEvent]]>([:])
        func rendition(_ name: String, _ width: Int) -> EncodedRendition {
            EncodedRendition(
                name: name,
                settings: VideoEncoderSettings(
                    width: width, height: width * 9 / 16, fps: 30, preset: "ultrafast", profile: "high",
                    bitrate: 300_000, maxBitrate: 360_000, bufferSize: 360_000, bFrames: 0, lookaheadFrames: 3,
                    threads: 1))
        }
        let ladder = try EncodingStage.open(
            renditions: [rendition("large", 320), rendition("small", 160)],
            settings: EncodingStage.Settings(
                width: 320, height: 180, fps: 30, gopFrames: 32, sampleRate: 48_000, audioBitrates: [64_000],
                isOffline: true),
            output: EncodingStage.Output(
                packet: { track, packet in
                    let tick = packet.pts * 30 / Int64(packet.timescale)
                    events.withLock {
                        $0[track, default: []].append(.packet(tick, isKey: packet.isKey, isOurs: packet.count > 6))
                    }
                },
                configuration: { track, change in
                    events.withLock {
                        $0[track, default: []].append(.configuration(change.tick, isPassed: change.isPassed))
                    }
                }, finished: { _ in }, failed: { Issue.record($0) }))
        let picture = try PictureCanvas.open(width: 320, height: 180, fill: .black).finish()
        let theirs = Self.packets(10..<25)
        let stream = TickPlan.Stream(
            parameters: CodecParameters(codec: .h264, configuration: [1]), width: 320, height: 180)
        for tick in Int64(0)..<40 {
            var step = TickPlan(gop: tick < 10 ? 1 : tick < 25 ? 2 : 3)
            if (10..<25).contains(tick) {
                step.pass = TickPlan.Pass(
                    track: 0, packets: [theirs[Int(tick - 10)]], stream: tick == 10 ? stream : nil)
            }
            #expect(ladder.put(picture, tick: tick, step: step))
        }
        ladder.finish()
        let heard = events.withLock { $0 }
        func coded(_ ticks: Range<Int64>, ours: Bool) -> [TrackEvent] {
            ticks.map { .packet($0, isKey: $0 == ticks.lowerBound, isOurs: ours) }
        }
        #expect(
            heard[0] == coded(0..<10, ours: true) + [.configuration(10, isPassed: true)] + coded(10..<25, ours: false)
                + [.configuration(25, isPassed: false)] + coded(25..<40, ours: true))
        #expect(heard[1] == coded(0..<10, ours: true) + coded(10..<25, ours: true) + coded(25..<40, ours: true))
        #expect(ladder.control.enteredByAll == 39)
    }

    @Test("while frames are dropped, the first frame after passthrough repeats no frame from before passthrough")
    func heldBehind() throws {
        let sizes = Mutex<[Int64: Int]>([:])
        func rendition(_ name: String, _ width: Int) -> EncodedRendition {
            EncodedRendition(
                name: name,
                settings: VideoEncoderSettings(
                    width: width, height: width * 9 / 16, fps: 30, preset: "ultrafast", profile: "high",
                    bitrate: 600_000, maxBitrate: 720_000, bufferSize: 720_000, bFrames: 0, lookaheadFrames: 0,
                    threads: 1))
        }
        let ladder = try EncodingStage.open(
            renditions: [rendition("large", 320), rendition("small", 160)],
            settings: EncodingStage.Settings(
                width: 320, height: 180, fps: 30, gopFrames: 32, sampleRate: 48_000, audioBitrates: [64_000],
                isOffline: true),
            output: EncodingStage.Output(
                packet: { track, packet in
                    guard track == 0, packet.isKey else { return }
                    sizes.withLock { $0[packet.pts * 30 / Int64(packet.timescale)] = packet.count }
                }, finished: { _ in }, failed: { Issue.record($0) }))
        // The video before passthrough is expensive to encode, the video after it is not.
        var full = try PictureCanvas.open(width: 320, height: 180, fill: .black)
        for rect in 0..<200 {
            full.fill(
                x: (rect * 53 % 300) & ~1, y: (rect * 29 % 160) & ~1, width: 16, height: 16,
                CanvasColor(y: UInt8(40 + rect * 37 % 180), cb: UInt8(60 + rect % 100), cr: UInt8(200 - rect % 100)))
        }
        let before = full.finish()
        let after = try PictureCanvas.open(width: 320, height: 180, fill: .black).finish()
        ladder.control.dropPictures(before: 40, keepsMotion: false)
        let theirs = Self.packets(10..<20)
        let stream = TickPlan.Stream(
            parameters: CodecParameters(codec: .h264, configuration: [1]), width: 320, height: 180)
        for tick in Int64(0)..<30 {
            var step = TickPlan(gop: tick < 10 ? 1 : tick < 20 ? 2 : 3)
            if (10..<20).contains(tick) {
                step.pass = TickPlan.Pass(
                    track: 0, packets: [theirs[Int(tick - 10)]], stream: tick == 10 ? stream : nil)
            }
            #expect(ladder.put(tick < 10 ? before : after, tick: tick, step: step))
        }
        ladder.finish()
        let heard = sizes.withLock { $0 }
        let (first, last) = (try #require(heard[0]), try #require(heard[20]))
        #expect(heard.count == 3 && last * 4 < first, "\(heard)")
    }
}
