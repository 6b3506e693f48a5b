import MediaKernels
import MediaTypes
import Program
import Testing

@Suite("CaptionQueue: closed captions at the rate of the program")
struct CaptionQueueTests {
    private static func time(_ frame: Int, _ fps: Int) -> Int64 { Int64(frame) * 1_000_000_000 / Int64(fps) }

    /// A CEA-608 pair of the frame with this number, without a control code.
    private static func text(_ kind: CaptionPair.Kind, _ number: Int) -> CaptionPair {
        CaptionPair(kind, UInt8(0x20 + number % 0x50), UInt8(0x20 + number / 0x50 % 0x50))
    }

    /// Runs a program over a source that sends `pairs` of its number in every frame.
    ///
    /// - Returns: The pairs of each tick, those that the source has sent, and whether some were never taken.
    private static func run(
        _ source: Int, to fps: Int, seconds: Int = 4, pairs: (Int) -> [CaptionPair]
    ) -> (ticks: [[CaptionPair]], sent: [CaptionPair], left: Bool) {
        var queue = CaptionQueue(fps: fps)
        var sent: [CaptionPair] = []
        for frame in 0..<source * seconds {
            let captions = pairs(frame)
            sent += captions
            queue.add(captions, pts: Self.time(frame, source))
        }
        // A tick more, for what waits for its turn.
        let ticks = (0..<fps * seconds + 3).map { queue.take(at: Int64($0)) }
        return (ticks, sent, !queue.isEmpty)
    }

    @Test("with six combinations of source and program frame rate, every caption pair is taken once and in order")
    func rates() {
        for (source, fps, most) in [(30, 25, 2), (24, 30, 1), (60, 30, 2), (30, 60, 1), (30, 30, 1), (30, 15, 3)] {
            let run = Self.run(source, to: fps) { frame in
                // At 60 frames per second, the fields take turns.
                if source == 60 { return [Self.text(frame % 2 == 0 ? .field1 : .field2, frame)] }
                return [Self.text(.field1, frame), Self.text(.field2, frame)]
            }
            let name = "\(source) to \(fps)"
            #expect(run.ticks.flatMap { $0 } == run.sent && !run.left, "\(name)")
            for kind in [CaptionPair.Kind.field1, .field2] {
                let longest = run.ticks.map { tick in tick.count { $0.kind == kind } }.max() ?? 0
                #expect(longest <= most, "\(name): a frame has about its share of each field")
            }
        }
    }

    @Test("CEA-708 fills what CEA-608 leaves of a frame's cc_count: 20 pairs at 30 frames per second, 25 at 24")
    func counts() {
        #expect([24, 25, 30, 50, 60].map { CaptionQueue(fps: $0).mostPairs } == [25, 24, 20, 12, 10])
        var queue = CaptionQueue(fps: 30)
        let digital = (0..<40).map { CaptionPair($0 == 0 ? .start : .continuation, UInt8($0), 0) }
        queue.add([Self.text(.field1, 1)] + digital, pts: 0)
        let ticks = (0..<3).map { queue.take(at: $0) }
        #expect(ticks.map(\.count) == [20, 20, 1])
        #expect(ticks[0].first?.kind == .field1 && ticks.flatMap { $0 }.filter { !$0.isLine21 } == digital)
    }

    @Test("captions of frames that arrive in decoding order are taken in display order")
    func reordered() {
        var queue = CaptionQueue(fps: 30)
        for frame in [0, 3, 1, 2, 6, 4, 5] { queue.add([Self.text(.field1, frame)], pts: Self.time(frame, 30)) }
        let taken = (0..<7).flatMap { queue.take(at: $0) }
        #expect(taken == (0..<7).map { Self.text(.field1, $0) })
    }

    @Test("captions are taken at the tick nearest to their time, in an offline program at the first tick not before it")
    func ticks() {
        for (isOffline, expected) in [(false, [1, 1, 0]), (true, [1, 0, 1])] {
            var queue = CaptionQueue(fps: 30, isOffline: isOffline)
            // At the tick, and less than half a tick after the next.
            queue.add([Self.text(.field1, 0)], pts: 0)
            queue.add([Self.text(.field1, 1)], pts: Self.time(1, 30) + 10_000_000)
            #expect((0..<3).map { queue.take(at: $0).count } == expected)
        }
    }

    @Test("caption pairs that are put back because their frame was lost are taken again before all later pairs")
    func lost() {
        var queue = CaptionQueue(fps: 30)
        for frame in 0..<3 { queue.add([Self.text(.field1, frame)], pts: Self.time(frame, 30)) }
        let first = queue.take(at: 0)
        queue.putBack(first)
        let rest = (1..<5).flatMap { queue.take(at: $0) }
        #expect(rest == (0..<3).map { Self.text(.field1, $0) })
    }

    @Test("CEA-608 filler pairs are left out, except one between two equal control codes")
    func filler() {
        let (code, none) = (CaptionPair(.field1, 0x94, 0xAD), CaptionPair(.field1, 0x80, 0x80))
        var queue = CaptionQueue(fps: 30)
        for (frame, pair) in [none, code, none, none, code, Self.text(.field1, 1), none].enumerated() {
            queue.add([pair], pts: Self.time(frame, 30))
        }
        let taken = (0..<10).flatMap { queue.take(at: $0) }
        #expect(taken == [code, none, code, Self.text(.field1, 1)])
    }

    @Test(
        "after a source's queued captions were discarded, its CEA-708 pairs are taken only from the next packet start on"
    )
    func discarded() {
        var queue = CaptionQueue(fps: 30)
        queue.add([CaptionPair(.start, 1, 1)], pts: 0)
        queue.discard(through: 0)
        queue.add([CaptionPair(.continuation, 2, 2), CaptionPair(.start, 3, 3)], pts: Self.time(1, 30))
        #expect(queue.take(at: 1) == [CaptionPair(.start, 3, 3)])
    }

    @Test("the caption queue drops pairs if the program takes none or the source sends more than the rate allows")
    func bounded() {
        var idle = CaptionQueue(fps: 30)
        for frame in 0..<10_000 { idle.add([Self.text(.field1, frame)], pts: Self.time(frame, 30)) }
        #expect(idle.dropped == 10_000 - 2_048)
        var flooded = CaptionQueue(fps: 30)
        for tick in 0..<300 {
            flooded.add((0..<30).map { Self.text(.field1, $0) }, pts: Self.time(tick, 30))
            #expect(flooded.take(at: Int64(tick)).count <= 20)
        }
        #expect(flooded.dropped > 8_000)
    }
}

@Suite("CaptionSwitch: the captions of the source on air")
struct CaptionSwitchTests {
    private static let (anna, bert) = (SourceID(uid: "1001"), SourceID(uid: "2002"))

    /// A frame of H.264 with one pair.
    private static func frame(_ pairs: CaptionPair..., number: Int64) -> ProgramPacket {
        let payload = CaptionMessage.payload(pairs)
        let unit: [UInt8] = [6, 4, UInt8(payload.count)] + payload + [0x80]
        let bytes = [0, 0, 0, UInt8(unit.count)] + unit + [0, 0, 0, 2, 0x65, 0x88]
        let packet = CodedPacket(
            kind: .video, memory: PacketMemory(bytes), pts: number, dts: number, timescale: 30, isKey: true)
        return .picture(packet, pts: number * 1_000_000_000 / 30)
    }

    private static func text(_ letter: UInt8, _ number: Int64) -> CaptionPair {
        CaptionPair(.field1, letter, UInt8(0x30 + number))
    }

    /// A room of two sources, which both have a pair in each of six frames: A0 to A5, and B0 to B5.
    private static func room(_ choice: CaptionSwitch.Choice) -> CaptionSwitch {
        let inboxes = [Self.anna: CaptionInbox(), Self.bert: CaptionInbox()]
        let captions = CaptionSwitch(choice, fps: 30, lanes: inboxes)
        for number in Int64(0)..<6 {
            inboxes[Self.anna]?.put(Self.frame(Self.text(0x41, number), number: number))
            inboxes[Self.bert]?.put(Self.frame(Self.text(0x42, number), number: number))
        }
        return captions
    }

    @Test(
        "when the source on air changes, the new source's captions are taken from that tick on, without its earlier ones"
    )
    func switched() {
        let captions = Self.room(.onAir)
        let taken = (Int64(0)..<6).map { tick in
            captions.take(at: tick, onAir: tick < 3 ? Self.anna : Self.bert, hidden: [])
        }
        #expect(taken == (0..<6).map { [Self.text($0 < 3 ? 0x41 : 0x42, $0)] })
    }

    @Test("no captions are taken of a hidden source or, with the choice `onAir`, while no source is on air")
    func covered() {
        let captions = Self.room(.source(Self.bert))
        #expect(captions.take(at: 0, onAir: nil, hidden: []) == [Self.text(0x42, 0)])
        #expect(captions.take(at: 1, onAir: Self.anna, hidden: [Self.bert]).isEmpty)
        captions.choose(.onAir)
        #expect(captions.take(at: 2, onAir: nil, hidden: []).isEmpty)
        #expect(captions.take(at: 3, onAir: Self.anna, hidden: []) == [Self.text(0x41, 3)])
    }

    @Test("when a source goes off air, its caption text is erased in the two channels that it has used")
    func cleared() {
        let inbox = CaptionInbox()
        let captions = CaptionSwitch(.onAir, fps: 30, lanes: [Self.anna: inbox])
        // Roll-up captions in CC1 and CC2: 0x14 0x25 and 0x1C 0x25 with parity.
        for (number, code) in [UInt8(0x94), 0x1C].enumerated() {
            inbox.put(Self.frame(CaptionPair(.field1, code, 0x25), number: Int64(number)))
        }
        for tick in Int64(0)..<2 { #expect(captions.take(at: tick, onAir: Self.anna, hidden: []).count == 1) }
        let erasing = (Int64(2)..<7).flatMap { captions.take(at: $0, onAir: nil, hidden: []) }
        let codes = [UInt8(0x94), 0x94, 0x1C, 0x1C].map { CaptionPair(.field1, $0, 0x2C) }
        #expect(erasing == codes)
    }

    /// The bytes of the packet that resets CEA-708 services 1 to 6.
    private static func reset(_ sequence: UInt8) -> [UInt8] {
        [sequence << 6 | 0x07, 0x21, 0x8F, 0x41, 0x8F, 0x61, 0x8F, 0x81, 0x8F, 0xA1, 0x8F, 0xC1, 0x8F, 0x00]
    }

    @Test(
        "when a source with CEA-708 captions goes off air, one packet with the next sequence number resets services 1 to 6",
        arguments: [UInt8(0), 1, 2, 3])
    func clearedServices(sequence: UInt8) {
        let inbox = CaptionInbox()
        let captions = CaptionSwitch(.onAir, fps: 30, lanes: [Self.anna: inbox])
        // A packet of four bytes.
        let start = CaptionPair(.start, sequence << 6 | 2, 0x22)
        inbox.put(Self.frame(start, CaptionPair(.continuation, 0x41, 0x42), number: 0))
        #expect(captions.take(at: 0, onAir: Self.anna, hidden: []).count == 2)
        let bytes = Self.reset([1, 2, 3, 0][Int(sequence)])
        let packet = captions.take(at: 1, onAir: nil, hidden: [])
        #expect(packet.map(\.kind) == [.start] + Array(repeating: .continuation, count: 6))
        #expect(packet.flatMap { [$0.first, $0.second] } == bytes)
        #expect(captions.take(at: 2, onAir: nil, hidden: []).isEmpty)
    }

    @Test(
        "when another source with CEA-708 captions goes on air, its pairs follow the reset of the earlier source, from its next packet on"
    )
    func switchedServices() {
        let (one, other) = (CaptionInbox(), CaptionInbox())
        let captions = CaptionSwitch(.onAir, fps: 30, lanes: [Self.anna: one, Self.bert: other])
        // Packets of two frames each: Anna's have the sequence numbers 0 to 2, Bert's 2, 3, 0.
        for number in UInt8(0)..<6 {
            let (isStart, packet) = (number % 2 == 0, number / 2)
            for (inbox, first) in [(one, packet), (other, packet &+ 2)] {
                let pair = CaptionPair(
                    isStart ? .start : .continuation, isStart ? (first & 3) << 6 | 2 : number, 0x30 + number)
                inbox.put(Self.frame(pair, number: Int64(number)))
            }
        }
        func take(_ tick: Int64, _ source: SourceID?) -> [CaptionPair] {
            captions.take(at: tick, onAir: source, hidden: [])
        }
        for tick in Int64(0)..<3 { #expect(take(tick, Self.anna).count == 1) }
        // Anna's packet 1 has begun; Bert's packet that began before is not continued.
        #expect(take(3, Self.bert).flatMap { [$0.first, $0.second] } == Self.reset(2))
        #expect(take(4, Self.bert) == [CaptionPair(.start, 0x02, 0x34)])
        #expect(take(5, Self.bert) == [CaptionPair(.continuation, 5, 0x35)])
        // Bert's last packet has the number 0.
        #expect(take(6, nil).flatMap { [$0.first, $0.second] } == Self.reset(1))
        #expect(take(7, Self.bert).isEmpty)
    }

    @Test(
        "codes that erase captions are sent again if their frame is lost, and not sent for a channel without text since the last ones"
    )
    func clearedOnce() {
        let inbox = CaptionInbox()
        let captions = CaptionSwitch(.onAir, fps: 30, lanes: [Self.anna: inbox])
        inbox.put(Self.frame(CaptionPair(.field1, 0x94, 0x25), number: 0))
        _ = captions.take(at: 0, onAir: Self.anna, hidden: [])
        let code = [CaptionPair(.field1, 0x94, 0x2C)]
        #expect(captions.take(at: 1, onAir: nil, hidden: []) == code)
        #expect(captions.putBack())
        let rest = (Int64(2)..<6).map { captions.take(at: $0, onAir: nil, hidden: []) }
        #expect(rest == [code, code, [], []])
        #expect(captions.take(at: 6, onAir: Self.anna, hidden: []).isEmpty)
    }

    @Test("when a publication ends, its caption text is erased after its last captions")
    func ended() {
        let inbox = CaptionInbox()
        let captions = CaptionSwitch(.source(Self.anna), fps: 30, lanes: [Self.anna: inbox])
        let text = CaptionPair(.field1, 0x94, 0x25)
        for number in Int64(0)..<2 { inbox.put(Self.frame(text, number: number)) }
        inbox.put(.end)
        let taken = (Int64(0)..<6).map { captions.take(at: $0, onAir: nil, hidden: []) }
        let code = [CaptionPair(.field1, 0x94, 0x2C)]
        #expect(taken == [[text], [text], code, code, [], []])
    }

    @Test("captions that are queued while the source's packets pass through are not sent when passthrough ends")
    func passed() {
        let inbox = CaptionInbox()
        let captions = CaptionSwitch(.onAir, fps: 30, lanes: [Self.anna: inbox])
        // More than a frame may carry.
        for number in Int64(0)..<8 { inbox.put(Self.frame(Self.text(0x41, number), number: 0)) }
        _ = captions.take(at: 0, onAir: Self.anna, hidden: []) { _ in true }
        #expect(captions.take(at: 1, onAir: Self.anna, hidden: []).isEmpty)
    }

    @Test("captions of a lost frame are taken again at later ticks, in order")
    func lost() {
        let captions = Self.room(.onAir)
        #expect(captions.take(at: 0, onAir: Self.anna, hidden: []) == [Self.text(0x41, 0)])
        #expect(captions.putBack() && !captions.putBack())
        let rest = (Int64(1)..<8).flatMap { captions.take(at: $0, onAir: Self.anna, hidden: []) }
        #expect(rest == (0..<6).map { Self.text(0x41, $0) })
    }
}
