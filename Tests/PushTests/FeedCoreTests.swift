import MediaKernels
import MediaTypes
import Push
import RTMP
import Testing

@Suite("FeedCore: an encoded rendition as FLV tags for RTMP outputs and HTTP-FLV")
struct FeedCoreTests {
    static var description: FeedDescription {
        var description = FeedDescription(name: "180p")
        (description.width, description.height, description.fps) = (320, 180, 25)
        (description.videoBitrate, description.audioBitrate) = (300_000, 64_000)
        (description.sampleRate, description.channels) = (48_000, 2)
        return description
    }

    static let record = CodecParameters(codec: .h264, configuration: [1, 100, 0, 30, 255])

    static func begun(makesFiles: Bool = false) -> FeedCore {
        var core = FeedCore(self.description, makesFiles: makesFiles)
        core.configure(self.record)
        core.configure(CodecParameters(codec: .aac, configuration: [0x11, 0x90]))
        return core
    }

    /// A video frame at 25 fps, with times in thousandths of a frame.
    static func picture(_ number: Int64, dts: Int64? = nil, isKey: Bool = false) -> CodedPacket {
        CodedPacket(
            kind: .video, memory: PacketMemory([0, 0, 0, 1, 0x41]), pts: number * 1_000, dts: (dts ?? number) * 1_000,
            duration: 1_000, timescale: 25_000, isKey: isKey)
    }

    static func audioPacket(_ frame: Int64) -> CodedPacket {
        CodedPacket(
            kind: .audio, memory: PacketMemory([1, 2]), pts: frame * 1_024, dts: frame * 1_024, duration: 1_024,
            timescale: 48_000, isKey: true)
    }

    private static func letters(_ tags: [LiveTag]) -> String {
        tags.map { tag in
            switch tag.content {
            case .metadata: "M"
            case .configuration: tag.kind == .video ? "C" : "D"
            case .packet: tag.kind == .audio ? "a" : tag.isKey ? "K" : "v"
            }
        }.joined()
    }

    @Test("audio that is encoded earlier waits for video, so that tags are in order of their timestamps")
    func interleaves() {
        var core = Self.begun()
        #expect(Self.letters(core.takeOutput()) == "CD")
        for frame in 0..<20 { core.receive(Self.audioPacket(Int64(frame))) }
        core.receive(Self.picture(0, isKey: true))
        core.receive(Self.picture(1))
        core.receive(Self.picture(2))
        let tags = core.takeOutput()
        // An audio frame every 21 ms, a video frame every 40; audio before the first video frame is dropped.
        #expect(Self.letters(tags) == "Kavaav")
        #expect(tags.map(\.time) == [0, 21, 40, 43, 64, 80])
        core.receive(Self.picture(3))
        #expect(Self.letters(core.takeOutput()) == "aav")
    }

    @Test("audio waits for late video only up to the limit, and not at all in an audio-only rendition")
    func bounds() {
        var core = Self.begun()
        core.receive(Self.picture(0, isKey: true))
        _ = core.takeOutput()
        for frame in 0..<200 { core.receive(Self.audioPacket(Int64(frame))) }
        let waited = core.takeOutput().map(\.time).max() ?? 0
        #expect(abs(199 * 1_024 / 48 - waited - FeedCore.longestWait) < 50)
        var description = Self.description
        description.width = 0
        var alone = FeedCore(description, makesFiles: false)
        alone.configure(CodecParameters(codec: .aac, configuration: [0x11, 0x90]))
        alone.receive(Self.audioPacket(0))
        #expect(Self.letters(alone.takeOutput()) == "Da")
        #expect(Self.letters(alone.backlog) == "MD")
    }

    @Test("at the end, audio that waits for video is output if video has begun")
    func finishes() {
        var core = Self.begun()
        core.receive(Self.picture(0, isKey: true))
        for frame in 0..<4 { core.receive(Self.audioPacket(Int64(frame))) }
        #expect(Self.letters(core.takeOutput()) == "CDKa")
        core.finish()
        let tags = core.takeOutput()
        #expect(Self.letters(tags) == "aaa" && tags.map(\.time) == [21, 43, 64])
        var silent = Self.begun()
        silent.receive(Self.audioPacket(0))
        silent.finish()
        #expect(Self.letters(silent.takeOutput()) == "CD")
    }

    @Test("a new reader gets metadata, headers and everything since the last key frame")
    func backlog() {
        var core = Self.begun()
        #expect(Self.letters(core.backlog) == "MCD")
        for number in 0..<30 { core.receive(Self.picture(Int64(number), isKey: number % 25 == 0)) }
        #expect(Self.letters(core.backlog) == "MCDKvvvv")
        #expect(core.backlog.allSatisfy { $0.time >= 1_000 })
        core.configure(Self.record, size: (640, 360))
        #expect(Self.letters(core.backlog) == "MCD", "the cached packets have another configuration")
        #expect(Self.letters(core.takeOutput()).hasSuffix("MC"))
    }

    @Test("after a pause without readers, tags start at the next key frame; nothing from before is sent")
    func rests() {
        var core = Self.begun()
        core.receive(Self.picture(0, isKey: true))
        for frame in 0..<20 { core.receive(Self.audioPacket(Int64(frame))) }
        _ = core.takeOutput()
        core.rest()
        #expect(Self.letters(core.backlog) == "MCD")
        core.receive(Self.picture(40))
        core.receive(Self.audioPacket(70))
        #expect(Self.letters(core.takeOutput()) == "", "no decoder can start there")
        core.receive(Self.picture(50, isKey: true))
        core.receive(Self.audioPacket(95))
        core.receive(Self.picture(51))
        let tags = core.takeOutput()
        #expect(Self.letters(tags) == "Kav" && tags.map(\.time) == [2_000, 2_027, 2_040])
    }

    @Test("a changed video bit rate is sent once, in new metadata")
    func bitrate() {
        var core = Self.begun()
        core.receive(Self.picture(0, isKey: true))
        _ = core.takeOutput()
        core.setVideoBitrate(500_000)
        core.setVideoBitrate(500_000)
        let tags = core.takeOutput()
        guard tags.count == 1, case .metadata(let properties)? = tags.first?.content else {
            Issue.record("\(Self.letters(tags))")
            return
        }
        #expect(properties.contains { $0.name == "videodatarate" && $0.value == .number(500) })
        #expect(Self.letters(core.backlog) == "MCDK")
    }

    @Test("a GOP of 300 frames is too long to be cached: a new reader gets only metadata and headers")
    func longGroup() {
        var core = Self.begun()
        for number in 0..<300 { core.receive(Self.picture(Int64(number), isKey: number == 0)) }
        #expect(Self.letters(core.backlog) == "MCD")
    }

    @Test("with B-frames, decode timestamps rise strictly, and from the fourth frame none is later than its pts")
    func reordered() {
        var times = TagTimestamps()
        var last: Int64 = -1
        // I P B B P B B, with decode times two frames early.
        for (index, shown) in [0, 3, 1, 2, 6, 4, 5].enumerated() {
            let place = times.place(Self.picture(Int64(shown), dts: Int64(index) - 2))
            #expect(place.dts > last)
            if index > 2 { #expect(place.dts <= place.pts) }
            #expect(place.pts == Int64(shown) * 40)
            last = place.dts
        }
    }

    @Test(
        "passthrough packets get rising decode timestamps, which after eleven packets are never later than their pts",
        arguments: [1, 2, 4])
    func passed(depth: Int64) {
        var times = TagTimestamps()
        _ = times.place(Self.picture(99))
        times.beginStream(isPlaced: true)
        var last: Int64 = 99 * 40
        var late = 0
        for number in 0..<200 {
            // Groups that are shown from their last packet to their first.
            let (group, place) = (Int64(number) / (depth + 1), Int64(number) % (depth + 1))
            let shown = group * (depth + 1) + depth - place
            let result = times.place(Self.picture(100 + shown, dts: 100 + Int64(number)))
            #expect(result.dts > last)
            if number > 10, result.dts > result.pts { late += 1 }
            last = result.dts
        }
        #expect(late == 0)
    }

    @Test("an FLV file has a header and tags with their previous tag sizes; metadata has timestamp 0")
    func file() throws {
        var core = Self.begun(makesFiles: true)
        core.receive(Self.picture(500_000, isKey: true))
        let tags = core.backlog
        #expect(
            Array(FLVFileWriter.header(hasVideo: true, hasAudio: false).readableBytesView).prefix(5) == [
                0x46, 0x4C, 0x56, 1, 1,
            ])
        for tag in tags {
            let bytes = Array(tag.file.readableBytesView)
            let size = Int(bytes[1]) << 16 | Int(bytes[2]) << 8 | Int(bytes[3])
            #expect(bytes.count == size + 15)
            #expect(bytes[(size + 11)...].reduce(0) { $0 << 8 | Int($1) } == size + 11)
            let time = Int(bytes[7]) << 24 | Int(bytes[4]) << 16 | Int(bytes[5]) << 8 | Int(bytes[6])
            #expect(time == (bytes[0] == 18 ? 0 : 20_000_000))
            #expect(bytes[8...10].allSatisfy { $0 == 0 })
        }
        #expect(tags.map { $0.file.getInteger(at: 0, as: UInt8.self) } == [18, 9, 8, 9])
        var idle = Self.begun()
        idle.receive(Self.picture(0, isKey: true))
        #expect(idle.backlog.allSatisfy { $0.file.readableBytes == 0 })
    }
}

@Suite("TagQueue: the tags queued for one RTMP output or HTTP-FLV viewer")
struct TagQueueTests {
    static let second: Int64 = 1_000_000_000

    private static func tag(_ number: Int, bytes: Int = 10) -> LiveTag {
        let message = RTMPMediaMessage(
            kind: .video, timestamp: 0, payload: PacketMemory([UInt8](repeating: 0, count: bytes)))
        return LiveTag(
            .packet(message), time: Int64(number) * 40, kind: .video, isKey: number.isMultiple(of: 25))
    }

    private static func times(_ queue: inout TagQueue) -> [Int64] {
        var times: [Int64] = []
        while let tag = queue.pop() { if tag.isPacket { times.append(tag.time / 40) } }
        return times
    }

    @Test("a tag queue with a start time skips the tags up to it and starts at the next key frame")
    func begins() {
        var queue = TagQueue(after: 25 * 40)
        for number in 20..<60 { queue.push(Self.tag(number), now: 0) }
        #expect(Self.times(&queue) == (50..<60).map(Int64.init))
        #expect(queue.dropped == 24)
    }

    @Test(
        "with more than three seconds queued, the tag queue drops all before the newest key frame and keeps the newest headers"
    )
    func trims() {
        var queue = TagQueue()
        for index in 0..<3 {
            queue.push(
                LiveTag(
                    .configuration(
                        RTMPMediaMessage(kind: .video, timestamp: UInt32(index), payload: PacketMemory([0]))),
                    time: 0, kind: .video), now: 0)
        }
        for number in 0..<90 { queue.push(Self.tag(number), now: Int64(number) * Self.second / 25) }
        #expect(queue.overruns == 1 && queue.count == 1 + 15)
        guard case .configuration(let message)? = queue.pop()?.content else {
            Issue.record("no header")
            return
        }
        #expect(message.timestamp == 2)
        #expect(Self.times(&queue) == (75..<90).map(Int64.init))
    }

    @Test("the tag queue drops old GOPs instead of exceeding its byte limit")
    func bytes() {
        var queue = TagQueue()
        for number in 0..<60 { queue.push(Self.tag(number, bytes: 1 << 20), now: 0) }
        #expect(queue.count <= 24 && queue.dropped > 0)
        #expect(Self.times(&queue).first.map { $0 % 25 == 0 } ?? true)
    }
}
