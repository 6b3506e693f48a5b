import Encoding
import MediaKernels
import MediaTypes
import Testing

/// A publisher and a program for ``PassthroughGate``: 30 ticks a second, segments of 64 frames, GOPs of 32, parts of 16.
struct PassthroughRoom {
    static let solo = SourceID(uid: "1001")
    /// avcC with an SPS of 320x180, main profile, level 1.2, as libx264 writes it.
    static let parameters = CodecParameters(codec: .h264, configuration: Self.record(profile: 77, level: 12))

    static func record(profile: UInt8, level: UInt8, hasFields: Bool = false) -> [UInt8] {
        // After the level: 4:2:0 of 8 bits if the profile has it, order count type 2, one reference, 20×12 macroblocks,
        // cropped by 12 lines, no VUI. With fields: 20×6 in each.
        let data: [UInt8] =
            profile == 100
            ? [0xAC, 0xB4, 0x0A, 0x0C, 0xFC, 0xE8]
            : hasFields ? [0xDA, 0x05, 0x0C, 0x7C, 0x88] : [0xDA, 0x05, 0x06, 0x7E, 0x74]
        let sps: [UInt8] = [0x67, profile, 0, level] + data
        return [1, profile, 0, level, 0xFF, 0xE1, 0, UInt8(sps.count)] + sps + [1, 0, 4, 0x68, 0xCE, 0x3C, 0x80]
    }

    var gate: PassthroughGate
    var tick: Int64 = 0
    var solo: SourceID? = Self.solo
    var isFresh = true
    /// Presentation ticks of the packets that passed; a new list for each start of passthrough.
    var runs: [[Int64]] = []
    var cuts: [Int64] = []
    var keys: [Int64] = []
    var changes: [(tick: Int64, change: PassthroughGate.Change)] = []
    /// Ticks of passthrough at which it may end soon.
    var unsure: [Int64] = []
    /// Ticks at which a key frame was requested.
    var asked: [Int64] = []
    private var gop: Int64?
    /// Items not sent yet; each arrives ``lead`` ticks before its tick.
    private var queue: [(due: Int64, item: ProgramPacket)] = []
    private static let lead: Int64 = 6

    init(bitrate: Int64 = 1_000_000, profile: UInt8 = 100, segmentFrames: Int = 64, isForWebRTC: Bool = false) {
        var target = PassthroughTarget(
            track: 0, width: 320, height: 180, profile: profile, level: 31, bitrate: bitrate, maxBitrate: bitrate,
            bufferSize: bitrate)
        target.isForWebRTC = isForWebRTC
        self.gate = PassthroughGate(
            targets: [target], fps: 30, gopFrames: 32, segmentFrames: segmentFrames, partFrames: 16)
        self.gate.begin(at: 0)
    }

    static func packet(key: Bool, bytes: Int) -> CodedPacket {
        let length = max(2, bytes - 4)
        let head = [
            UInt8(length >> 24 & 255), UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255),
        ]
        let unit = [key ? 0x65 : 0x41] + [UInt8](repeating: 7, count: length - 1)
        return CodedPacket(
            kind: .video, memory: PacketMemory(head + unit), pts: 0, dts: 0, timescale: 1_000, isKey: key)
    }

    mutating func configure(_ parameters: CodecParameters = Self.parameters) {
        self.send(.configuration(parameters), due: self.queue.last?.due ?? self.tick)
    }

    mutating func send(_ item: ProgramPacket, due: Int64? = nil) {
        self.queue.append((due ?? self.queue.last?.due ?? self.tick, item))
    }

    /// Sends a frame with a time in milliseconds, rounded as in FLV.
    mutating func picture(ms: Int64, key: Bool = false, bytes: Int = 1_000) {
        self.send(.picture(Self.packet(key: key, bytes: bytes), pts: ms * 1_000_000), due: ms * 30 / 1_000)
    }

    /// Sends frames in decode order; `order` is the order within each group of frames, such as 2, 0, 1.
    mutating func publish(
        _ frames: Range<Int64>, gop: Int64 = 60, offsetMs: Int64 = 0, order: [Int64] = [0], bytes: Int = 1_000,
        fps: Int64 = 30
    ) {
        var frame = frames.lowerBound
        while frame < frames.upperBound {
            let ahead = frame % gop
            if ahead == 0 {
                self.picture(ms: offsetMs + (frame * 1_000 + fps / 2) / fps, key: true, bytes: bytes)
                frame += 1
                continue
            }
            let left = min(Int64(order.count), gop - ahead)
            for place in order.filter({ $0 < left }) {
                self.picture(ms: offsetMs + ((frame + place) * 1_000 + fps / 2) / fps, bytes: bytes)
            }
            frame += left
        }
    }

    /// Runs the gate up to a tick.
    mutating func run(to end: Int64, isResized: Int64? = nil) {
        while self.tick < end {
            while let first = self.queue.first, first.due <= self.tick + Self.lead {
                self.gate.receive(Self.solo, self.queue.removeFirst().item)
            }
            let step = self.gate.step(
                self.tick,
                PassthroughGate.Facts(solo: self.solo, isResized: self.tick == isResized, isFresh: self.isFresh))
            if step.isCut { self.cuts.append(self.tick) }
            if step.keyFrameSource != nil { self.asked.append(self.tick) }
            if step.step.gop != self.gop { self.keys.append(self.tick) }
            self.gop = step.step.gop
            if let change = step.change {
                self.changes.append((self.tick, change))
                if case .began = change { self.runs.append([]) }
            }
            if self.gate.current != nil, self.gate.sureSource == nil { self.unsure.append(self.tick) }
            for packet in step.step.pass?.packets ?? [] {
                #expect(packet.timescale == 30_000 && packet.dts >= 0)
                self.runs[self.runs.count - 1].append(packet.pts / 1_000)
            }
            self.tick += 1
        }
    }

    var causes: [PassthroughCause] {
        self.changes.compactMap { if case .ended(_, _, let cause) = $0.change { cause } else { nil } }
    }
    var begins: [Int64] { self.changes.compactMap { if case .began = $0.change { $0.tick } else { nil } } }
    var ends: [Int64] { self.changes.compactMap { if case .ended = $0.change { $0.tick } else { nil } } }
}

@Suite("Passthrough: when a rendition consists of a publisher's packets")
struct PassthroughGateTests {
    typealias Room = PassthroughRoom

    @Test("passthrough starts only after the startup segments; a resize of the canvas ends these segments at once")
    func opening() throws {
        let opening = try #require(StartupSegments(fps: 30, gopFrames: 32, segmentFrames: 64, steps: [1]))
        var room = Room()
        room.gate.begin(at: 0, opening: opening)
        room.configure()
        room.publish(0..<400, gop: 20)
        room.run(to: 130)
        #expect(room.begins == [80] && Array(room.keys.prefix(5)) == [0, 16, 32, 48, 64])
        var resized = Room()
        resized.gate.begin(at: 0, opening: opening)
        resized.solo = nil
        resized.run(to: 160, isResized: 20)
        #expect(resized.cuts == [20] && resized.keys == [0, 16, 20, 52, 84, 116, 148])
    }

    @Test(
        "passthrough starts at an IDR frame after one whole GOP; then each segment starts at a publisher's IDR frame",
        arguments: [30, 60])
    func joins(gop: Int64) {
        var room = Room()
        room.configure()
        room.publish(0..<400, gop: gop)
        room.run(to: 380)
        #expect(room.begins == [gop] && room.ends.isEmpty)
        #expect(room.runs == [Array(gop..<380)] && room.unsure.isEmpty)
        #expect(room.cuts == Array(stride(from: gop, to: 380, by: 60)).map { $0 })
        let keys = Set(room.keys)
        #expect(stride(from: gop, to: 380, by: Int(gop)).allSatisfy { keys.contains($0) })
        #expect(zip(room.cuts, room.cuts.dropFirst()).allSatisfy { $1 - $0 <= 64 })
    }

    @Test(
        "publisher timestamps rounded to milliseconds give exactly one passthrough frame per tick, at four offsets",
        arguments: [0, 5, 11, 400])
    func milliseconds(offset: Int64) {
        var room = Room()
        room.configure()
        room.publish(0..<400, offsetMs: offset)
        room.run(to: 380)
        let shift = (offset * 30 + 500) / 1_000
        #expect(room.begins == [60 + shift] && room.ends.isEmpty)
        #expect(room.runs == [Array((60 + shift)..<380)])
    }

    @Test(
        "with B-frames, frames pass in decode order, each once; passthrough ends only after a whole reordered group",
        arguments: [[2, 0, 1], [3, 1, 0, 2]])
    func reordered(order: [Int64]) {
        var room = Room()
        room.configure()
        room.publish(0..<400, order: order)
        room.run(to: 200)
        // The change comes in the middle of a run: it waits for its end.
        room.solo = nil
        room.run(to: 206)
        let end = room.ends.first ?? 0
        #expect(room.causes == [.scene] && end >= 200 && end < 204)
        #expect(room.runs.first?.sorted() == Array(60..<end))
        #expect(room.runs.first != room.runs.first?.sorted())
        #expect(room.cuts.last == end && room.keys.last == end)
    }

    @Test("a rendition for WebRTC viewers refuses B-frames, and ends passthrough when they begin")
    func noBFrames() {
        var room = Room(isForWebRTC: true)
        room.configure()
        room.publish(0..<400, order: [2, 0, 1])
        room.run(to: 390)
        #expect(room.changes.isEmpty && room.gate.reason(0) == .bFrames)
        var later = Room(isForWebRTC: true)
        later.configure()
        later.publish(0..<180)
        later.publish(180..<400, order: [1, 0])
        later.run(to: 390)
        #expect(later.begins == [60] && later.causes == [.bFrames])
        #expect((170..<200).contains(later.ends.first ?? 0))
    }

    @Test("a rendition for WebRTC viewers needs a key frame every 2.2 s", arguments: [(60, true), (90, false)])
    func keyFramesForWebRTC(gop: Int64, passes: Bool) {
        for isForWebRTC in [true, false] {
            var room = Room(segmentFrames: 128, isForWebRTC: isForWebRTC)
            room.configure()
            room.publish(0..<400, gop: gop)
            room.run(to: 390)
            let isPassed = passes || !isForWebRTC
            #expect(room.begins.isEmpty == !isPassed)
            if !isPassed { #expect(room.gate.reason(0) == .keyInterval) }
        }
    }

    @Test(
        "a removed source is forgotten once passthrough has ended; if it returns without parameters, it does not pass")
    func removed() {
        var room = Room()
        room.configure()
        room.publish(0..<400)
        room.run(to: 200)
        #expect(room.begins == [60])
        let isForgotten = room.gate.forget(Room.solo)
        #expect(!isForgotten, "its packets pass")
        room.solo = nil
        room.run(to: 210)
        let isGone = room.gate.forget(Room.solo)
        #expect(room.causes == [.scene] && isGone)
        room.solo = Room.solo
        #expect(room.gate.reason(0) == .scene, "no source is on air yet")
        room.run(to: 212)
        #expect(room.gate.reason(0) != nil, "it sends without known parameters")
        room.run(to: 390)
        #expect(room.begins == [60])
    }

    @Test("a scene with a second source ends passthrough at once; it returns at the solo publisher's next IDR frame")
    func restored() {
        var room = Room()
        room.configure()
        room.publish(0..<600)
        room.run(to: 150)
        room.solo = nil
        room.run(to: 310)
        room.solo = Room.solo
        room.run(to: 500)
        #expect(room.ends == [150] && room.causes == [.scene])
        #expect(room.begins == [60, 360])
        #expect(room.runs == [Array(60..<150), Array(360..<500)])
        #expect(Array(room.keys.filter { (150..<360).contains($0) }) == [150, 182, 214, 246, 278, 310, 342])
        #expect(room.cuts.filter { (150...420).contains($0) } == [150, 360, 420])
    }

    @Test(
        "interlaced or rotated video, and a codec, profile or level that the rendition lacks, is not passed through",
        arguments: ["codec", "size", "format", "profile", "level"])
    func refused(why: String) {
        var room = Room(profile: why == "profile" ? 66 : 100)
        switch why {
        case "codec": room.configure(CodecParameters(codec: .hevc, configuration: []))
        case "level": room.configure(CodecParameters(codec: .h264, configuration: Room.record(profile: 77, level: 40)))
        case "size":
            room.configure(
                CodecParameters(
                    codec: .h264, configuration: Room.parameters.configuration,
                    orientation: VideoOrientation(quarterTurns: 1)))
        case "format":
            let record = Room.record(profile: 77, level: 12, hasFields: true)
            #expect(SequenceParameterSet(record: record)?.height == 180)
            room.configure(CodecParameters(codec: .h264, configuration: record))
        default: room.configure()
        }
        room.publish(0..<200)
        room.run(to: 200)
        #expect(room.changes.isEmpty && room.gate.reason(0)?.rawValue == why)
    }

    @Test(
        "passthrough is refused for a frame rate that differs from the canvas's by more than 2 %",
        arguments: [25, 24, 60, 15])
    func otherRate(fps: Int64) {
        var room = Room()
        room.configure()
        room.publish(0..<fps * 10, gop: fps, fps: fps)
        room.run(to: 250)
        #expect(room.changes.isEmpty && room.gate.reason(0) == .frameRate)
    }

    @Test(
        "passthrough is refused if IDR frames are further apart than a segment, or key frames are mere recovery points")
    func openGOP() {
        var room = Room()
        room.configure()
        room.publish(0..<400, gop: 80)
        room.run(to: 390)
        #expect(room.changes.isEmpty && room.gate.reason(0) == .keyInterval)
        var other = Room()
        other.configure()
        for frame in Int64(0)..<200 {
            var packet = Room.packet(key: frame == 0, bytes: 500)
            packet.isKey = frame % 30 == 0
            other.send(.picture(packet, pts: frame * 1_000_000_000 / 30), due: frame)
        }
        other.run(to: 190)
        #expect(other.changes.isEmpty)
    }

    @Test(
        "passthrough ends above the declared bit rate and returns when the rate stays below; above from the start it is refused"
    )
    func rates() {
        // 4,000 bytes 30 times a second are 960,000 bit/s.
        var room = Room(bitrate: 970_000)
        room.configure()
        room.publish(0..<180, bytes: 4_000)
        room.publish(180..<360, bytes: 6_000)
        room.publish(360..<1_200, bytes: 3_000)
        room.run(to: 1_190)
        #expect(room.causes == [.bitrate])
        #expect(room.begins.count == 2 && room.begins.first == 60)
        #expect((180..<360).contains(room.ends.first ?? 0))
        var loud = Room(bitrate: 900_000)
        loud.configure()
        loud.publish(0..<400, bytes: 4_000)
        loud.run(to: 390)
        #expect(loud.changes.isEmpty && loud.gate.reason(0) == .bitrate)
    }

    @Test("if the publisher's next key frame comes too late for a segment, passthrough ends with an encoded IDR frame")
    func longerGOP() {
        var room = Room()
        room.configure()
        room.publish(0..<181)
        for frame in Int64(181)..<400 { room.picture(ms: (frame * 1_000 + 15) / 30) }
        room.run(to: 390)
        let end = room.ends.first ?? 0
        #expect(room.causes == [.keyInterval] && (230...244).contains(end))
        #expect(room.runs == [Array(60..<end)])
        #expect(room.keys.contains(end))
        #expect(room.unsure == Array(234..<max(234, end)), "since the key frame after 60 frames did not arrive")
    }

    @Test(
        "if the publisher ends, its last frame passes and then frames are encoded; if it returns, its frames pass again"
    )
    func killed() {
        var room = Room()
        room.configure()
        room.publish(0..<150)
        room.send(.end)
        room.run(to: 300)
        #expect(room.causes == [.lost] && room.ends == [152] && room.unsure == Array(143..<152))
        #expect(room.runs == [Array(60..<150)])
        room.configure()
        room.publish(0..<300, offsetMs: 10_017)
        room.run(to: 500)
        #expect(room.begins == [60, 361])
        #expect(room.runs.last == Array(361..<500))
    }

    @Test("if no frame arrives for a fifth of a second, passthrough ends")
    func silent() {
        var room = Room()
        room.configure()
        room.publish(0..<150)
        room.run(to: 300)
        #expect(room.causes == [.gap] && room.ends == [156] && room.unsure == Array(150..<156))
        #expect(room.runs == [Array(60..<150)])
    }

    @Test(
        "missing frames or a timestamp jump end passthrough, which returns only after two good GOPs",
        arguments: [(100, 303), (2_000, 360), (-200, 294), (-500, 345)] as [(Int64, Int64)])
    func jumps(ms: Int64, returns: Int64) {
        var room = Room()
        room.configure()
        room.publish(0..<150)
        for frame in Int64(150)..<700 { room.picture(ms: ms + (frame * 1_000 + 15) / 30, key: frame % 60 == 0) }
        room.run(to: 620)
        #expect(room.causes.count == 1 && [.gap, .timestamps].contains(room.causes.first))
        let end = room.ends.first ?? 0
        #expect(end >= 150 && end <= 160)
        #expect(room.runs.first == Array(60..<150))
        // The third IDR frame after the jump, frame 300, ends the second GOP. At -500 ms it is the second frame of an encoded
        // segment, too early to end that one, so the next IDR frame is the first that passes.
        #expect(room.begins == [60, returns])
    }

    @Test("if the publisher changes its codec configuration, passthrough ends and returns with the new one")
    func otherCoding() {
        var room = Room()
        room.configure()
        room.publish(0..<180)
        room.configure(CodecParameters(codec: .h264, configuration: Room.record(profile: 100, level: 12)))
        room.publish(180..<600)
        room.run(to: 590)
        #expect(room.causes == [.settling] && room.ends == [180] && room.unsure == Array(174..<180))
        #expect(room.begins == [60, 300])
        #expect(room.runs.first?.last == 179)
    }

    @Test("with a publisher clock 500 ppm slow, a tick without frame repeats the last one; passthrough goes on")
    func slowClock() {
        var room = Room()
        room.configure()
        for frame in Int64(0)..<9_000 {
            room.picture(ms: frame * 1_000_500 / 30_000, key: frame % 60 == 0)
            room.run(to: max(0, frame - 3))
        }
        #expect(room.ends.isEmpty)
        let shown = room.runs.first ?? []
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 - $0 == 1 || $1 - $0 == 2 })
        #expect(zip(shown, shown.dropFirst()).contains { $1 - $0 == 2 })
        // A segment that ends with the held tick has the maximum length.
        #expect(zip(room.cuts, room.cuts.dropFirst()).allSatisfy { $1 - $0 <= 64 })
    }

    @Test("with a publisher clock 500 ppm fast, passthrough ends for a while instead of showing two frames in a tick")
    func fastClock() {
        var room = Room()
        room.configure()
        for frame in Int64(0)..<6_000 {
            room.picture(ms: frame * 999_500 / 30_000, key: frame % 60 == 0)
            room.run(to: max(0, frame - 12))
        }
        #expect(!room.ends.isEmpty && room.causes.allSatisfy { $0 == .timestamps })
        for run in room.runs { #expect(zip(run, run.dropFirst()).allSatisfy { $1 == $0 + 1 }) }
    }

    @Test("a key frame that arrives after its tick ends passthrough")
    func late() {
        var room = Room()
        room.configure()
        room.publish(0..<120)
        room.run(to: 122)
        room.publish(120..<400)
        room.run(to: 390)
        #expect(room.causes == [.late] && room.ends == [122] && room.unsure == [120, 121])
        #expect(room.begins.count == 2)
    }

    @Test(
        "after a scene change, passthrough ends when the decoder has a frame, at the latest after a fifth of a second")
    func waitsForDecoder() {
        var room = Room()
        room.configure()
        room.publish(0..<400)
        room.run(to: 150)
        room.solo = nil
        room.isFresh = false
        room.run(to: 153)
        #expect(room.ends.isEmpty && !room.gate.isSteady && room.gate.sureSource == nil)
        room.isFresh = true
        room.run(to: 160)
        #expect(room.ends == [153])
        #expect(room.runs == [Array(60..<153)])
        var stuck = Room()
        stuck.configure()
        stuck.publish(0..<400)
        stuck.run(to: 150)
        stuck.solo = nil
        stuck.isFresh = false
        stuck.run(to: 200)
        #expect(stuck.ends == [156])
    }

    @Test(
        "a publisher that sends key frames only on request is asked in every GOP, and passes as long as it answers"
    )
    func asksForKeyFrames() {
        var room = Room()
        room.configure()
        // It answers a request after three ticks; a frame arrives six ticks before its tick.
        var frame: Int64 = 0
        var isAnswering = true
        var next: Int64 = 0
        while frame < 900 {
            let isKey = frame == next
            room.picture(ms: (frame * 1_000 + 15) / 30, key: isKey)
            if isKey { next = .max }
            frame += 1
            let before = room.asked.count
            room.run(to: max(0, frame - 6))
            if isAnswering, room.asked.count > before { next = frame + 3 }
            if frame == 800 { isAnswering = false }
        }
        #expect(room.begins.count == 1 && room.causes == [.keyInterval], "\(room.changes)")
        #expect((800..<880).contains(room.ends.first ?? 0))
        #expect(room.asked.count >= 12 && zip(room.asked, room.asked.dropFirst()).allSatisfy { $1 - $0 >= 49 })
    }

    @Test(
        "a publisher with regular key frames, one that does not fit for another reason, and one in a PK are not asked for key frames"
    )
    func asksNobody() {
        var regular = Room()
        regular.configure()
        regular.publish(0..<400, gop: 30)
        regular.run(to: 380)
        #expect(regular.asked.isEmpty)
        var other = Room()
        other.configure(CodecParameters(codec: .h264, configuration: Room.record(profile: 77, level: 40)))
        other.publish(0..<400, gop: 200)
        other.run(to: 380)
        #expect(other.asked.isEmpty && other.gate.reason(0) == .level)
        var pk = Room()
        pk.solo = nil
        pk.configure()
        pk.publish(0..<400, gop: 200)
        pk.run(to: 380)
        #expect(pk.asked.isEmpty)
    }

    @Test("a resize of the canvas ends passthrough exactly at its tick")
    func resized() {
        var room = Room()
        room.configure()
        room.publish(0..<400)
        room.run(to: 175, isResized: 170)
        #expect(room.ends == [170] && room.cuts.last == 170)
    }

    @Test("the configuration announced for passthrough is that of the source on air, and never one that cannot pass")
    func foreseen() {
        var gate = Room().gate
        #expect(gate.foreseen(0) == nil)
        let misfit = CodecParameters(codec: .h264, configuration: Room.record(profile: 77, level: 40))
        gate.receive(SourceID(uid: "a"), .configuration(misfit))
        #expect(gate.foreseen(0) == nil, "its level is above the rendition's")
        gate.receive(SourceID(uid: "b"), .configuration(Room.parameters))
        #expect(gate.foreseen(0) == Room.parameters && gate.foreseen(1) == nil)
        let solo = CodecParameters(codec: .h264, configuration: Room.record(profile: 100, level: 12))
        gate.receive(SourceID(uid: "c"), .configuration(solo))
        #expect(gate.foreseen(0) == Room.parameters, "by name while no source is alone on air")
        _ = gate.step(0, PassthroughGate.Facts(solo: SourceID(uid: "c")))
        #expect(gate.foreseen(0) == solo)
        gate.receive(SourceID(uid: "c"), .end)
        #expect(gate.foreseen(0) == Room.parameters)
    }

    @Test("without a source on air, IDR frames stay on the grid and no passthrough starts")
    func nobody() {
        var room = Room()
        room.solo = nil
        room.run(to: 200)
        #expect(room.cuts.isEmpty && room.changes.isEmpty && room.keys == [0, 32, 64, 96, 128, 160, 192])
        #expect(room.gate.reason(0) == .scene && room.gate.reason(1) == .off)
    }
}
