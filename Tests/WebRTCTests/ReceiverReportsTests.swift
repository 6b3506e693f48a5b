import Testing
import WebRTC

@Suite("Receiver reports: RFC 3550 §6.4.1, A.3, A.8")
struct ReceiverReportsTests {
    @Test("a receiver report has the loss since the last report and since the beginning, also over a wrap")
    func loss() {
        var reports = ReceiverReports(ssrc: 7, clockRate: 90_000)
        for number: UInt16 in [65_534, 65_535, 1, 2] { reports.received(sequence: number, timestamp: 0, at: 0) }
        var block = reports.block(at: 0)
        #expect(block.ssrc == 7)
        // One of five.
        #expect(block.fractionLost == 51)
        #expect(reports.fractionLost == 0.2)
        #expect(block.cumulativeLost == 1)
        #expect(block.highestSequence == 0x1_0002)
        for number: UInt16 in 3...6 { reports.received(sequence: number, timestamp: 0, at: 0) }
        block = reports.block(at: 0)
        #expect(block.fractionLost == 0 && block.cumulativeLost == 1)
        // A late packet is a loss less, and no negative fraction.
        reports.received(sequence: 0, timestamp: 0, at: 0)
        block = reports.block(at: 0)
        #expect(block.fractionLost == 0 && block.cumulativeLost == 0)
        #expect(reports.block(at: 0).fractionLost == 0)
        // A restart of the sender is no loss of thousands.
        reports.received(sequence: 30_000, timestamp: 0, at: 0)
        #expect(reports.block(at: 0).cumulativeLost == 0)
    }

    @Test("jitter approaches 90 ticks if transit times differ by 90 ticks")
    func jitter() {
        var reports = ReceiverReports(ssrc: 7, clockRate: 90_000)
        // 10 ms apart, every second packet 1 ms late: |D| is 90 each time, and J approaches 90.
        for number in 0..<400 {
            reports.received(
                sequence: UInt16(number), timestamp: UInt32(number * 900), at: ms(Int64(number * 10 + number % 2)))
        }
        #expect((88...90).contains(reports.block(at: 0).jitter))
        #expect((970_000...1_000_000).contains(reports.jitter))
        var first = ReceiverReports(ssrc: 7, clockRate: 90_000)
        first.received(sequence: 0, timestamp: 0, at: 0)
        first.received(sequence: 1, timestamp: 900, at: ms(11))
        // 90 / 16.
        #expect(first.block(at: 0).jitter == 5)
    }

    @Test("a receiver report names the last sender report and the delay since then")
    func senderReport() {
        var reports = ReceiverReports(ssrc: 7, clockRate: 90_000)
        #expect(reports.block(at: ms(5)).lastSenderReport == 0)
        reports.received(RTCPSenderReport(ssrc: 7, ntp: 0x1111_2222_3333_4444, timestamp: 0), at: ms(1_000))
        let block = reports.block(at: ms(2_500))
        #expect(block.lastSenderReport == 0x2222_3333)
        #expect(block.delaySinceLastSenderReport == 0x0001_8000)
    }

    @Test("nanoseconds are converted to NTP timestamps and back")
    func ntp() {
        #expect(NTPTime.timestamp(1_500_000_000) == 0x0000_0001_8000_0000)
        #expect(NTPTime.nanoseconds(0x0000_0001_8000_0000) == 1_500_000_000)
        #expect(NTPTime.unix(2_208_988_800_000_000_000) == 0)
        for value: Int64 in [0, 1, 999_999_999, 3_900_000_000_123_456_789] {
            #expect(NTPTime.nanoseconds(NTPTime.timestamp(value)) == value)
        }
        #expect(NTPTime.timestamp(-1) >> 32 == 0xFFFF_FFFF)
        _ = NTPTime.nanoseconds(.max)
    }

    @Test(
        "the round-trip time is measured by answers to XR reference times, and by retransmissions while there are none")
    func roundTrip() {
        var time = RoundTripTime()
        #expect(time.estimate == nil)
        time.receivedRetransmission(requested: ms(100), at: ms(180))
        #expect(time.estimate == ms(80))
        // Sent at 1 s, delayed for 0.5 s at the peer, received at 1.54 s.
        let sent = NTPTime.timestamp(1_000_000_000)
        let received = NTPTime.timestamp(1_540_000_000)
        let block = RTCPDelayBlock(ssrc: 1, lastReference: NTPTime.middle(sent), delay: 0x8000)
        for _ in 0..<60 { time.received(block, ntp: received, at: ms(1_540)) }
        #expect(abs((time.estimate ?? 0) - ms(40)) < 100_000)
        time.receivedRetransmission(requested: ms(1_000), at: ms(1_600))
        #expect(abs((time.estimate ?? 0) - ms(40)) < 100_000)
        // A delay that exceeds the time since the reference time counts as 0.
        time.received(RTCPDelayBlock(ssrc: 1, lastReference: NTPTime.middle(received), delay: 9), ntp: received, at: 0)
        #expect((time.estimate ?? -1) >= 0)
        time.received(RTCPDelayBlock(ssrc: 1, lastReference: 0, delay: 0), ntp: received, at: 0)
        time.add(-1)
        time.add(ms(11_000))
        #expect((time.estimate ?? .max) < ms(41))
    }
}
