import MediaTypes
import OpenSSLCrypto
import Testing
import WHEP
import WebRTC

@Suite("WebRTC viewer session: hostile viewers and strangers")
struct ViewerHostilityTests {
    /// A viewer that has received media for a second.
    private static func seat() throws -> (Theater, Theater.Seat) {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join()
        theater.run(seconds: 1)
        try #require(seat.session.isConnected)
        return (theater, seat)
    }

    private static func receive(_ bytes: [UInt8], _ theater: Theater, _ seat: Theater.Seat) -> ViewerOutput {
        var (bytes, output) = (bytes, ViewerOutput())
        seat.session.receive(&bytes, from: seat.address, theater.stream, now: theater.now, into: &output)
        return output
    }

    @Test(
        "a viewer's RTCP report with any one bit flipped is refused and counted; the report itself is accepted afterwards, once"
    )
    func bits() throws {
        let (theater, seat) = try Self.seat()
        let report = seat.viewer.rtcp { $0.pictureLoss(sender: 1, media: 100) }
        let before = seat.session.counters.refused
        for bit in 0..<report.count * 8 {
            var flipped = report
            flipped[bit / 8] ^= 1 << (bit % 8)
            // The two bits of the version and those of the type decide whether it is RTCP at all.
            guard DatagramKind(flipped) == .rtcp else { continue }
            #expect(Self.receive(flipped, theater, seat).changes.isEmpty)
        }
        #expect(seat.session.counters.pictureLossRequests == 0 && seat.session.counters.refused > before + 100)
        for _ in 0..<3 { _ = Self.receive(report, theater, seat) }
        #expect(seat.session.counters.pictureLossRequests == 1 && seat.session.isConnected)
    }

    @Test("a viewer's RTCP reports cut anywhere, and authentic ones whose lengths lie, are refused and counted")
    func lengths() throws {
        let (theater, seat) = try Self.seat()
        let whole = seat.viewer.rtcp { $0.pictureLoss(sender: 1, media: 100) }
        var before = seat.session.counters.refused
        for count in 2..<whole.count { _ = Self.receive(Array(whole.prefix(count)), theater, seat) }
        #expect(seat.session.counters.refused == before + UInt64(whole.count - 2))
        before = seat.session.counters.refused
        // A PLI that says it has 65,536 words, and a receiver report with 31 blocks that are not there.
        for lie in [[0x81, 206, 0xFF, 0xFF], [0x9F, 201, 0, 1]] as [[UInt8]] {
            var writer = RTCPWriter()
            writer.pictureLoss(sender: 1, media: 100)
            let bytes = lie + writer.bytes.dropFirst(4)
            _ = Self.receive(try #require(seat.viewer.protected(bytes)), theater, seat)
        }
        #expect(seat.session.counters.refused == before + 2 && seat.session.counters.pictureLossRequests == 0)
    }

    @Test("of a viewer's reports from a thousand SSRCs, at most eight are accepted and the others counted as refused")
    func senders() throws {
        let (theater, seat) = try Self.seat()
        let before = seat.session.counters
        for sender in 1...1_000 as ClosedRange<UInt32> {
            _ = Self.receive(
                seat.viewer.rtcp { $0.pictureLoss(sender: 0x1000 + sender, media: 100) }, theater, seat)
        }
        #expect(seat.session.counters.pictureLossRequests <= 8)
        #expect(seat.session.counters.refused >= before.refused + 992)
        theater.run(seconds: 0.5)
        #expect(seat.viewer.frames.last.map { $0.number >= theater.latestFrame - 2 } == true)
    }

    @Test("a viewer's media and reports before the DTLS handshake are refused and counted, and get no answer")
    func early() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join()
        seat.isRunning = false
        theater.run(seconds: 0.05)
        let before = seat.session.counters.refused
        for packet in [[0x80, 96], [0x81, 206]] as [[UInt8]] {
            let output = Self.receive(packet + [UInt8](repeating: 0, count: 40), theater, seat)
            #expect(output.datagrams.isEmpty && output.changes.isEmpty)
        }
        #expect(seat.session.counters.refused == before + 2 && !seat.session.isConnected)
    }

    @Test("a viewer's DTLS handshake interrupted by garbage completes, and media follows")
    func garbage() throws {
        let theater = Theater()
        theater.run(seconds: 1.5)
        let seat = try theater.join()
        theater.run(seconds: 1) { theater in
            guard theater.now % ms(5) == 0, !seat.session.isConnected else { return }
            for bytes in [[22], [22, 254, 253, 0xFF, 0xFF], [23, 254, 253] + [UInt8](repeating: 7, count: 60)]
                as [[UInt8]]
            {
                theater.send(bytes, from: seat)
            }
        }
        #expect(seat.session.isConnected && !seat.viewer.frames.isEmpty)
    }

    @Test("a viewer session counts 50,000 STUN checks with a wrong password as refused, and answers none")
    func checks() throws {
        let (theater, seat) = try Self.seat()
        let before = seat.session.counters.refused
        let check = try #require(STUNMessage(seat.viewer.check(password: "wrong password of 22 characters")))
        var output = ViewerOutput()
        for port in 0..<50_000 as Range<Int> {
            let address = ICEAddress(ipv4: 0xC000_0200 | UInt32(port & 7), port: UInt16(port))
            seat.session.receive(check, from: address, theater.stream, now: theater.now, into: &output)
        }
        #expect(output.datagrams.isEmpty && output.changes.isEmpty)
        #expect(seat.session.counters.refused == before + 50_000)
    }
}
