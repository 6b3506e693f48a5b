import TestSupport
import Testing
import WebRTC

/// A track and what it has given out.
private struct Fixture {
    var track: ReceiveTrack
    var given: [OrderedPacket] = []

    init(isRepaired: Bool = true) {
        self.track = ReceiveTrack(timing: .init(isRepaired: isRepaired))
    }

    /// Numbers given out, with the first packet's number subtracted from them.
    var numbers: [Int64] { self.given.map { $0.sequence - (self.given.first?.sequence ?? 0) } }

    @discardableResult mutating func receive(
        _ sequence: UInt16, at now: Int64, isRetransmission: Bool = false, bytes: Int = 1
    ) -> ReceiveTrack.Outcome {
        self.track.receive(
            OrderedPacket(
                sequence: 0, timestamp: UInt32(sequence), marker: false,
                payload: [UInt8](repeating: 1, count: bytes)[...], arrival: now),
            sequence: sequence, isRetransmission: isRetransmission, into: &self.given)
    }

    mutating func advance(to now: Int64) { self.track.advance(to: now, into: &self.given) }

    mutating func requests(at now: Int64, roundTrip: Int64 = ms(60), limit: Int = 100) -> [UInt16] {
        var numbers: [UInt16] = []
        self.track.requests(at: now, roundTrip: roundTrip, limit: limit, into: &numbers)
        return numbers
    }

    /// The milliseconds at which packet 101, the only one that is missing, is requested.
    mutating func requestTimes(roundTrip: Int64 = ms(60), from start: Int64 = 1_000, until end: Int64) -> [Int64] {
        (start..<end).filter { time in
            let numbers = self.requests(at: ms(time), roundTrip: roundTrip)
            #expect(numbers.isEmpty || numbers == [101])
            return !numbers.isEmpty
        }
    }

    /// A track that has given out packet 100 at time 10 ms.
    static func started(isRepaired: Bool = true) -> Fixture {
        var fixture = Fixture(isRepaired: isRepaired)
        fixture.receive(100, at: 0)
        fixture.advance(to: ms(10))
        return fixture
    }
}

@Suite("Packets of a track in order: NACK, retransmission, losses, restarts")
struct ReceiveTrackTests {
    @Test("the first packet waits 10 ms for earlier ones; what the sender sent before them does not count as lost")
    func start() {
        var fixture = Fixture()
        fixture.receive(65_535, at: 0)
        #expect(fixture.given.isEmpty)
        #expect(fixture.track.deadline == ms(10))
        fixture.receive(65_534, at: ms(2))
        fixture.receive(0, at: ms(3))
        #expect(fixture.requests(at: ms(9)).isEmpty)
        fixture.advance(to: ms(10))
        #expect(fixture.numbers == [0, 1, 2])
        #expect(fixture.given.map(\.isAfterLoss) == [true, false, false])
        #expect(fixture.track.counters.lost == 0)
        #expect(fixture.track.deadline == nil)
    }

    @Test(
        "a missing packet is requested after 8 ms and again when its answer is overdue, from the third time on with a copy"
    )
    func requests() {
        var fixture = Fixture.started()
        #expect(fixture.receive(102, at: ms(1_000)) == .taken)
        #expect(fixture.numbers == [0])
        #expect(fixture.track.deadline == ms(1_008))
        #expect(fixture.requests(at: ms(1_008)) == [101])
        #expect(fixture.track.onlyRequest(of: 101) == ms(1_008))
        // libwebrtc ignores what comes before 1,073 ms.
        #expect(fixture.requestTimes(until: 1_100) == [1_075])
        #expect(fixture.track.onlyRequest(of: 101) == nil)
        #expect(fixture.requestTimes(from: 1_100, until: 1_353) == [1_142, 1_152, 1_209, 1_219, 1_276, 1_286])
        #expect(fixture.track.counters.requested == 8)
        fixture.advance(to: ms(1_353))
        #expect(fixture.numbers == [0], "the answer to the last copy may be on its way")
        fixture.advance(to: ms(1_354))
        #expect(fixture.numbers == [0, 2])
        #expect(fixture.given.last?.isAfterLoss == true)
        #expect(fixture.track.counters.lost == 1)
        #expect(fixture.receive(101, at: ms(1_360)) == .late)
        #expect(fixture.track.deadline == nil)
    }

    @Test(
        "with a round trip of 2 ms a missing packet is requested every 40 ms, 14 times with copies; with one of 380 ms only once"
    )
    func repetition() {
        var near = Fixture.started()
        near.receive(102, at: ms(1_000))
        let times = near.requestTimes(roundTrip: ms(2), until: 1_400)
        #expect(times.prefix(5) == [1_008, 1_048, 1_088, 1_098, 1_128])
        #expect(times.count == 14 && times.last == 1_298)
        near.advance(to: ms(1_319))
        #expect(near.numbers == [0])
        near.advance(to: ms(1_320))
        #expect(near.numbers == [0, 2])
        var far = Fixture.started()
        far.receive(102, at: ms(1_000))
        #expect(far.requestTimes(roundTrip: ms(380), until: 1_500) == [1_008])
        far.advance(to: ms(1_405))
        #expect(far.numbers == [0], "its only answer is due at 1,388 ms")
        far.advance(to: ms(1_406))
        #expect(far.numbers == [0, 2])
    }

    @Test("a request's copy is not sent if the packet has arrived meanwhile")
    func copies() {
        var fixture = Fixture.started()
        fixture.receive(102, at: ms(1_000))
        #expect(fixture.requestTimes(until: 1_143) == [1_008, 1_075, 1_142])
        #expect(fixture.receive(101, at: ms(1_145)) == .recovered)
        #expect(fixture.requestTimes(from: 1_145, until: 1_400).isEmpty)
        #expect(fixture.track.deadline == nil)
    }

    @Test("retransmissions fill gaps; repeated ones, and those before the first packet, are ignored")
    func retransmissions() {
        var fixture = Fixture()
        #expect(fixture.receive(500, at: 0, isRetransmission: true) == .duplicate)
        #expect(fixture.given.isEmpty && fixture.track.deadline == nil)
        fixture = .started()
        fixture.receive(103, at: ms(100))
        #expect(fixture.requests(at: ms(108)) == [101, 102])
        #expect(fixture.receive(102, at: ms(150), isRetransmission: true) == .recovered)
        #expect(fixture.receive(102, at: ms(151), isRetransmission: true) == .duplicate)
        #expect(fixture.numbers == [0])
        #expect(fixture.receive(101, at: ms(152), isRetransmission: true) == .recovered)
        #expect(fixture.numbers == [0, 1, 2, 3])
        #expect(fixture.given.map(\.isAfterLoss) == [true, false, false, false])
        #expect(fixture.receive(103, at: ms(153), isRetransmission: true) == .duplicate)
        // The last packet of a stream is found missing by its repetition.
        #expect(fixture.receive(104, at: ms(154), isRetransmission: true) == .taken)
        #expect(fixture.receive(9_000, at: ms(155), isRetransmission: true) == .stray)
        #expect(fixture.numbers == [0, 1, 2, 3, 4])
        #expect(fixture.track.counters.lost == 0 && fixture.track.counters.restarts == 0)
    }

    @Test("a packet that arrives late, but before it is requested, does not count as recovered")
    func overtaken() {
        var fixture = Fixture.started()
        fixture.receive(102, at: ms(100))
        #expect(fixture.receive(101, at: ms(105)) == .taken)
        #expect(fixture.numbers == [0, 1, 2])
        #expect(fixture.track.deadline == nil)
    }

    @Test("without retransmission a missing packet is not requested, and later packets wait 120 ms for it")
    func unrepaired() {
        var fixture = Fixture.started(isRepaired: false)
        fixture.receive(102, at: ms(100))
        #expect(fixture.track.deadline == ms(220))
        #expect(fixture.requests(at: ms(200)).isEmpty)
        fixture.advance(to: ms(219))
        #expect(fixture.numbers == [0])
        fixture.advance(to: ms(220))
        #expect(fixture.numbers == [0, 2])
    }

    @Test("a padding-only packet keeps its place in the order and is not delivered")
    func padding() {
        var fixture = Fixture.started()
        fixture.receive(101, at: ms(20), bytes: 0)
        fixture.receive(103, at: ms(21), bytes: 0)
        fixture.receive(104, at: ms(22))
        #expect(fixture.numbers == [0])
        fixture.receive(102, at: ms(23))
        #expect(fixture.numbers == [0, 2, 4])
        #expect(fixture.given.map(\.isAfterLoss) == [true, false, false])
        #expect(fixture.track.counters.empty == 2)
        // A lost probe looks like a lost packet; an empty one does not hide that.
        fixture.receive(106, at: ms(30), bytes: 0)
        fixture.receive(107, at: ms(31))
        fixture.advance(to: ms(2_000))
        #expect(fixture.given.last?.isAfterLoss == true)
    }

    @Test(
        "a jump of more than 3,000 sequence numbers restarts the track when a second packet confirms it, at most once a second"
    )
    func jumps() {
        var fixture = Fixture.started()
        #expect(fixture.receive(20_000, at: ms(100)) == .stray)
        #expect(fixture.receive(101, at: ms(110)) == .taken)
        #expect(fixture.receive(20_001, at: ms(120)) == .stray, "another packet came between")
        #expect(fixture.receive(20_002, at: ms(130)) == .taken)
        fixture.advance(to: ms(140))
        #expect(fixture.given.count == 4)
        #expect(fixture.given.map(\.timestamp) == [100, 101, 20_001, 20_002])
        #expect(fixture.given.map(\.isAfterLoss) == [true, false, true, false])
        #expect(fixture.numbers == fixture.numbers.sorted())
        #expect(fixture.receive(40_000, at: ms(200)) == .stray)
        #expect(fixture.receive(40_001, at: ms(210)) == .stray, "a second has not passed")
        #expect(fixture.receive(40_002, at: ms(1_130)) == .taken)
        #expect(fixture.track.counters.restarts == 2)
        // Backwards, too, and what was held is given out first.
        fixture = .started()
        fixture.receive(102, at: ms(20))
        #expect(fixture.receive(60_000, at: ms(30)) == .stray)
        #expect(fixture.receive(60_001, at: ms(31)) == .taken)
        fixture.advance(to: ms(41))
        #expect(fixture.given.map(\.timestamp) == [100, 102, 60_000, 60_001])
        #expect(fixture.numbers == fixture.numbers.sorted())
    }

    @Test(
        "if every packet leaves the widest allowed gap, or large packets wait behind a missing one, memory stays limited"
    )
    func memory() {
        var fixture = Fixture.started()
        for step in 1...2_000 {
            fixture.receive(100 &+ UInt16(truncatingIfNeeded: step * 2_990), at: ms(20) + Int64(step))
            #expect(fixture.track.missingCount <= 4_096)
        }
        #expect(fixture.numbers == fixture.numbers.sorted())
        #expect(fixture.given.count > 1_990)
        // Large packets behind one missing packet.
        fixture = .started()
        for step in 2..<400 {
            fixture.receive(UInt16(100 + step), at: ms(20), bytes: 60_000)
            #expect(fixture.track.waitingBytes <= 8 << 20)
        }
        #expect(fixture.given.count == 399)
        #expect(fixture.track.counters.lost == 1)
    }

    @Test(
        "packets shuffled in blocks of 64, some of them sent twice, are delivered in order over two wraps",
        arguments: 0..<4
    )
    func anyOrder(seed: Int) {
        var random = TestRandom(seed: UInt64(seed) * 77)
        var fixture = Fixture.started()
        var now = ms(20)
        for block in 0..<2_050 {
            for offset in Array(0..<64).shuffled(using: &random) {
                now += 20_000
                let number = UInt16(truncatingIfNeeded: 101 + block * 64 + offset)
                fixture.receive(number, at: now)
                if Int.random(in: 0..<4, using: &random) == 0 { fixture.receive(number, at: now) }
                fixture.advance(to: now)
            }
        }
        #expect(fixture.numbers == Array(0...131_200))
        #expect(fixture.given.count { $0.isAfterLoss } == 1)
        #expect(fixture.track.waitingBytes == 0)
    }
}
