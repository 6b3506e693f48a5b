import TestSupport
import Testing
import WebRTC

@Suite("Transport-wide feedback: draft-holmer-rmcat-transport-wide-cc-extensions-01")
struct TransportFeedbackTests {
    /// The messages for arrivals in nanoseconds by number, taken at the end.
    private static func messages(_ arrivals: [(UInt16, Int64)], at now: Int64? = nil) -> [[UInt8]] {
        var feedback = TransportFeedback()
        for (number, arrival) in arrivals { feedback.received(number, at: arrival) }
        return feedback.take(at: now ?? (arrivals.map(\.1).max() ?? 0) + ms(100), sender: 1, media: 2)
    }

    /// Arrivals in units of 250 µs by number.
    private static func read(_ messages: [[UInt8]]) -> [UInt16: Int64] {
        var result: [UInt16: Int64] = [:]
        for message in messages {
            guard case .transportFeedback(let feedback)? = RTCPPacket.parse(message)?.first else { return [:] }
            for (offset, arrival) in feedback.arrivals.enumerated() {
                if let arrival { result[feedback.base &+ UInt16(offset)] = arrival }
            }
        }
        return result
    }

    @Test("transport feedback writes three small arrival deltas as one run length chunk")
    func run() {
        // 128 ms is reference time 2. The deltas are 0, 1 ms and 2 ms: 0, 4 and 8.
        #expect(
            Self.messages([(10, ms(128)), (11, ms(129)), (12, ms(131))]) == [
                [
                    0x8F, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 0, 10, 0, 3, 0, 0, 2, 0,
                    // Run length chunk: status 1, three times.
                    0b0010_0000, 3,
                    0, 4, 8,
                    // Zero padding.
                    0, 0, 0,
                ]
            ])
    }

    @Test("a loss, an arrival delta of two bytes and a negative one are written as a status vector with two bits each")
    func vector() {
        // 64 ms: reference time 1. Then a loss, 100 ms later (400 units), and 2 ms earlier (−8).
        #expect(
            Self.messages([(65_535, ms(64)), (1, ms(164)), (2, ms(162))]) == [
                [
                    0x8F, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFF, 0, 4, 0, 0, 1, 0,
                    // 11, then 01 00 10 10 00 00 00.
                    0b1101_0010, 0b1000_0000,
                    0, 0x01, 0x90, 0xFF, 0xF8,
                    0,
                ]
            ])
    }

    @Test("14 statuses, ten of them small deltas and four losses, are written as a status vector with one bit each")
    func smallVector() {
        let numbers: [UInt16] = [1, 2, 4, 5, 6, 8, 9, 10, 11, 14]
        let messages = Self.messages(numbers.map { ($0, ms(64)) })
        #expect(
            messages == [
                [0x8F, 205, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 14, 0, 0, 1, 0, 0b1011_0111, 0b0111_1001]
                    + [UInt8](repeating: 0, count: 10)
            ])
    }

    @Test("feedback messages are numbered and due every 50 ms, but only while packets arrive")
    func times() throws {
        var feedback = TransportFeedback()
        #expect(feedback.deadline == nil)
        feedback.received(1, at: ms(1_000))
        #expect(feedback.deadline == ms(1_050))
        #expect(feedback.take(at: ms(1_049), sender: 1, media: 2).isEmpty)
        let first = try #require(feedback.take(at: ms(1_050), sender: 1, media: 2).first)
        #expect(first[19] == 0)
        #expect(feedback.deadline == nil)
        feedback.received(2, at: ms(1_060))
        #expect(feedback.deadline == ms(1_100))
        let second = try #require(feedback.take(at: ms(1_100), sender: 1, media: 2).first)
        #expect(second[19] == 1)
        #expect(Self.read([second]) == [2: 4_240])
        feedback.received(3, at: ms(9_000))
        #expect(feedback.deadline == ms(9_000))
    }

    @Test(
        "a packet that arrives after later ones were reported is reported afterwards; one that did not arrive never is")
    func late() {
        var feedback = TransportFeedback()
        for number: UInt16 in [1, 2, 4, 5] { feedback.received(number, at: ms(1_000)) }
        let before = Self.read(feedback.take(at: ms(1_050), sender: 1, media: 2))
        #expect(before.keys.sorted() == [1, 2, 4, 5])
        feedback.received(3, at: ms(1_060))
        feedback.received(5, at: ms(1_070))
        let after = Self.read(feedback.take(at: ms(1_100), sender: 1, media: 2))
        #expect(after[3] == 4_240)
        #expect(after[5] == 4_000, "the first arrival of a duplicate counts")
        #expect(after[6] == nil)
    }

    @Test(
        "the reported arrivals are those of the packets, for random losses, orders, gaps and times", arguments: 0..<40)
    func random(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        var feedback = TransportFeedback()
        var arrived: [UInt16: Int64] = [:]
        var reported: [UInt16: Int64] = [:]
        var number = UInt16.random(in: 0...65_535, using: &random)
        var now = Int64.random(in: 0...ms(1 << 40), using: &random)
        for _ in 0..<300 {
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                number &+= Int.random(in: 0..<6, using: &random) == 0 ? UInt16.random(in: 2...40, using: &random) : 1
                now +=
                    [0, 100_000, ms(1), ms(70), ms(9_000)][
                        [0, 0, 1, 1, 1, 2, 2, 2, 3, 4].randomElement(using: &random) ?? 0]
                let own = Bool.random(using: &random) ? number : number &- UInt16.random(in: 0...20, using: &random)
                if arrived[own] == nil { arrived[own] = now / 250_000 }
                feedback.received(own, at: now)
            }
            let messages = feedback.take(at: now + ms(50), sender: 1, media: 2)
            for message in messages { #expect(message.count < 1_000 && message.count % 4 == 0) }
            reported.merge(Self.read(messages)) { _, new in new }
        }
        // The reference time has 24 bits with sign.
        for (number, time) in reported {
            #expect(arrived[number].map { ($0 - time) % (256 << 24) } == 0, "\(number)")
        }
        #expect(Double(reported.count) > 0.95 * Double(arrived.count))
    }

    @Test("after a jump of sequence numbers feedback starts anew; thousands of losses give a short message")
    func jumps() {
        let gap = Self.messages([(1, ms(64)), (2_500, ms(65))])
        #expect(gap.first.map { $0.count < 40 } == true)
        #expect(Self.read(gap) == [1: 256, 2_500: 260])
        let jump = Self.messages([(1, ms(64)), (30_000, ms(65)), (30_001, ms(66))])
        #expect(Self.read(jump) == [30_000: 260, 30_001: 264])
    }

    @Test("feedback messages with wrong lengths, counts or chunks are refused")
    func malformed() {
        let good = Self.messages([(10, ms(128)), (11, ms(129)), (12, ms(131))])[0]
        func with(_ index: Int, _ value: UInt8) -> RTCPPacket? {
            var bytes = good
            bytes[index] = value
            return RTCPPacket.parse(bytes)?.first
        }
        let refused = RTCPPacket.other(type: 205, format: 15)
        #expect(with(15, 0) == refused, "no packets")
        #expect(with(14, 0xFF) == refused, "65,283 packets")
        #expect(with(15, 9) == refused, "more packets than chunks")
        #expect(with(21, 0) == refused, "an empty run")
        #expect(with(20, 0b0110_0000) == refused, "the reserved status 3")
        #expect(RTCPPacket.parse([0x8F, 205, 0, 2] + good[4..<12]) == [refused])
        #expect(RTCPPacket.parse([0x8F, 205, 0, 5] + good[4..<24]) == [refused], "the third delta is missing")
    }
}
