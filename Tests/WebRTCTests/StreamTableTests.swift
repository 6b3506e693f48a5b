import MediaTypes
import Testing
import WebRTC

@Suite("SSRCs of a peer: which track, layer and retransmission they belong to")
struct StreamTableTests {
    private static func match(
        _ table: inout StreamTable, type: UInt8, ssrc: UInt32, at now: Int64,
        elements: [(id: UInt8, bytes: [UInt8])] = []
    ) -> StreamTable.Match? {
        RTPPacket(PacketBuilder(payloadType: type, ssrc: ssrc, elements: elements).bytes).map {
            table.match($0, at: now)
        }
    }

    @Test("the first packet of a payload type fixes its SSRC; another SSRC replaces it after 2 s of silence")
    func replacement() {
        var table = StreamTable(tracks: [.audio, .video])
        #expect(Self.match(&table, type: 111, ssrc: 1, at: 0) == .stream(0, isRetransmission: false, isNew: true))
        #expect(Self.match(&table, type: 96, ssrc: 2, at: 0) == .stream(1, isRetransmission: false, isNew: true))
        #expect(Self.match(&table, type: 97, ssrc: 3, at: 0) == .stream(1, isRetransmission: true, isNew: true))
        #expect(Self.match(&table, type: 96, ssrc: 2, at: ms(1)) == .stream(1, isRetransmission: false, isNew: false))
        #expect(Self.match(&table, type: 96, ssrc: 9, at: ms(2_000)) == .refused)
        #expect(Self.match(&table, type: 97, ssrc: 2, at: ms(1)) == .refused, "a media SSRC with the type of rtx")
        #expect(Self.match(&table, type: 50, ssrc: 2, at: ms(1)) == .unknownPayloadType)
        #expect(Self.match(&table, type: 50, ssrc: 77, at: ms(1)) == .unknownPayloadType)
        #expect(
            Self.match(&table, type: 96, ssrc: 9, at: ms(2_001)) == .stream(1, isRetransmission: false, isNew: true))
        #expect(Self.match(&table, type: 96, ssrc: 2, at: ms(2_002)) == .refused, "the old one")
        #expect(table.ssrc(of: 1) == 9)
        #expect(
            Self.match(&table, type: 97, ssrc: 10, at: ms(2_003)) == .stream(1, isRetransmission: true, isNew: true),
            "with new media, new retransmissions")
        table.remove([9])
        #expect(table.ssrc(of: 1) == nil)
        #expect(
            Self.match(&table, type: 96, ssrc: 12, at: ms(2_004)) == .stream(1, isRetransmission: false, isNew: true))
    }

    @Test("of thousands of SSRCs, the stream table keeps one for each of three streams, for video the first")
    func many() {
        var table = StreamTable(tracks: [.audio, .video])
        _ = Self.match(&table, type: 96, ssrc: 2, at: 0)
        for ssrc in 100..<10_000 as Range<UInt32> {
            _ = Self.match(&table, type: [96, 97, 111, 50][Int(ssrc) % 4], ssrc: ssrc, at: ms(1))
        }
        #expect(table.count == 3)
        #expect(table.ssrc(of: 1) == 2)
    }

    @Test("tracks with the same payload type are told apart by mid, else by the offer's SSRCs")
    func mid() {
        let other = NegotiatedTrack.audio.with {
            $0.mid = "x"
            $0.ssrcs = [55]
        }
        var table = StreamTable(tracks: [.audio, other])
        let mid: (String) -> [(id: UInt8, bytes: [UInt8])] = { [(4, Array($0.utf8))] }
        #expect(
            Self.match(&table, type: 111, ssrc: 1, at: 0, elements: mid("x"))
                == .stream(1, isRetransmission: false, isNew: true))
        #expect(
            Self.match(&table, type: 111, ssrc: 2, at: 0, elements: mid("0"))
                == .stream(0, isRetransmission: false, isNew: true))
        #expect(Self.match(&table, type: 111, ssrc: 3, at: 0, elements: mid("y")) == .refused)
        table = StreamTable(tracks: [.audio, other])
        #expect(Self.match(&table, type: 111, ssrc: 55, at: 0) == .stream(1, isRetransmission: false, isNew: true))
    }

    @Test("simulcast layers are told apart by rid, their retransmissions by the repaired rid")
    func layers() {
        let track = NegotiatedTrack.video.with { $0.rids = ["h", "m", "l", "extra"] }
        var table = StreamTable(tracks: [track])
        #expect(table.streams.count == StreamTable.mostLayers)
        #expect(
            Self.match(&table, type: 96, ssrc: 1, at: 0, elements: [(10, [0x6D])])
                == .stream(1, isRetransmission: false, isNew: true))
        #expect(
            Self.match(&table, type: 97, ssrc: 2, at: 0, elements: [(11, [0x6D])])
                == .stream(1, isRetransmission: true, isNew: true))
        #expect(Self.match(&table, type: 96, ssrc: 1, at: 0) == .stream(1, isRetransmission: false, isNew: false))
        #expect(Self.match(&table, type: 96, ssrc: 3, at: 0) == .refused, "no rid")
        #expect(Self.match(&table, type: 96, ssrc: 3, at: 0, elements: [(10, [0x7A])]) == .refused, "an unknown rid")
        #expect(Self.match(&table, type: 96, ssrc: 3, at: 0, elements: [(10, Array("extra".utf8))]) == .refused)
        // A sender that was offered layers and sends one stream.
        table = StreamTable(tracks: [track])
        #expect(Self.match(&table, type: 96, ssrc: 4, at: 0) == .stream(0, isRetransmission: false, isNew: true))
    }
}

@Suite("Choice of a simulcast layer")
struct SimulcastLayersTests {
    /// Sends 20 packets a second of each layer with a size in bytes; 0 pauses it.
    ///
    /// - Returns: Targets after changes.
    private static func run(_ layers: inout SimulcastLayers, _ milliseconds: Range<Int64>, _ sizes: [Int]) -> [Int] {
        var changes: [Int] = []
        for time in stride(from: milliseconds.lowerBound, to: milliseconds.upperBound, by: 50) {
            for (layer, size) in sizes.enumerated() where size > 0 {
                if layers.received(layer: layer, bytes: size, at: ms(time)) { changes.append(layers.target ?? -1) }
            }
        }
        return changes
    }

    @Test("the largest simulcast layer is chosen within 10 s, whatever the order of the offer")
    func largest() {
        for order in [[100, 400, 1_600], [1_600, 400, 100], [400, 1_600, 100]] {
            var layers = SimulcastLayers(count: 3)
            let changes = Self.run(&layers, 0..<10_000, order)
            #expect(changes.last == order.firstIndex(of: 1_600))
            #expect(changes.count <= 3)
            #expect(layers.current == nil)
            layers.switchToTarget()
            #expect(layers.current == order.firstIndex(of: 1_600))
        }
    }

    @Test("a simulcast layer that pauses is left after a second, and chosen again 2 s or more after it returns")
    func pause() {
        var layers = SimulcastLayers(count: 3)
        _ = Self.run(&layers, 0..<10_000, [100, 400, 1_600])
        #expect(Self.run(&layers, 10_000..<10_900, [100, 400, 0]) == [])
        #expect(Self.run(&layers, 10_900..<11_400, [100, 400, 0]) == [1])
        #expect(Self.run(&layers, 11_400..<13_000, [100, 400, 1_600]) == [])
        #expect(Self.run(&layers, 13_000..<14_500, [100, 400, 1_600]) == [2])
        // All pause: nothing better, nothing changes.
        let hasChanged = layers.decide(at: ms(20_000))
        #expect(!hasChanged)
        #expect(layers.target == 2)
    }

    @Test("the choice does not alternate between simulcast layers of similar bit rate")
    func similar() {
        var layers = SimulcastLayers(count: 2)
        #expect(Self.run(&layers, 0..<1_000, [500, 600]) == [0])
        for second in 1..<20 as Range<Int64> {
            #expect(
                Self.run(&layers, second * 1_000..<second * 1_000 + 1_000, second % 2 == 0 ? [500, 650] : [650, 500])
                    == [])
        }
    }

    @Test("the measured bit rate is that of the last second")
    func meter() {
        var meter = RateMeter()
        for tick in 0..<200 as Range<Int64> { meter.add(125, at: ms(tick * 10)) }
        #expect(meter.rate(at: ms(1_999)) == 100_000)
        #expect(meter.rate(at: ms(2_500)) < 60_000)
        #expect(meter.rate(at: ms(9_000)) == 0)
        meter.add(10, at: ms(1))
        #expect(meter.rate(at: ms(9_000)) == 80)
    }

    @Test(
        "the REMB estimate grows by 8 % per update without loss if it is used, falls if loss exceeds 10 %, and keeps its limits"
    )
    func estimate() {
        var estimate = LossBasedEstimate(start: 1_000_000, highest: 2_000_000)
        estimate.update(fractionLost: 0, received: 1_000_000)
        #expect(estimate.bitRate == 1_081_000)
        estimate.update(fractionLost: 0, received: 100_000)
        #expect(estimate.bitRate == 1_081_000, "what is not used is no evidence")
        estimate.update(fractionLost: 0.05, received: 2_000_000)
        #expect(estimate.bitRate == 1_081_000)
        estimate.update(fractionLost: 0.5, received: 1_000_000)
        #expect(estimate.bitRate == 810_750)
        for _ in 0..<100 { estimate.update(fractionLost: 0, received: 5_000_000) }
        #expect(estimate.bitRate == 2_000_000)
        for _ in 0..<100 { estimate.update(fractionLost: 1, received: 0) }
        #expect(estimate.bitRate == 100_000)
    }
}
