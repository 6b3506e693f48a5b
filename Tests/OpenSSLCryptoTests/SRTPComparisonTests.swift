import OpenSSLCrypto
import TestSupport
import Testing

@Suite("SRTP: the same packets as libsrtp2", .serialized)
struct SRTPComparisonTests {
    /// The RTP packet of this number, with a random size of sources, extension and payload.
    private static func rtp(_ number: Int, _ random: inout TestRandom) -> [UInt8] {
        SRTPSamples.rtp(
            UInt16(truncatingIfNeeded: number), ssrc: UInt32(number % 3 + 1),
            payload: Int.random(in: 0...400, using: &random), sources: Int.random(in: 0...2, using: &random),
            words: Bool.random(using: &random) ? nil : Int.random(in: 0...4, using: &random))
    }

    @Test(
        "10,000 RTP packets with wraps and 300 RTCP packets are protected to the same bytes as by libsrtp2",
        arguments: SRTPKeys.Profile.allCases)
    func same(profile: SRTPKeys.Profile) throws {
        let (ours, theirs) = SRTPSamples.keys(profile, seed: 9)
        let sender = try SRTPSender(keys: ours)
        let receiver = try SRTPReceiver(keys: theirs)
        let judge = try LibSRTP(profile, key: ours.localKey, salt: ours.localSalt, isSender: true)
        let listener = try LibSRTP(profile, key: ours.localKey, salt: ours.localSalt, isSender: false)
        var random = TestRandom(seed: 4)
        // Begins in the first half, as libsrtp requires of a sender, and ends in the fourth round.
        for step in 0..<10_000 {
            let plain = Self.rtp(20_000 + step * 20 + step % 3, &random)
            var (mine, reference) = (plain, plain)
            #expect(sender.protectRTP(&mine) == .ok)
            #expect(judge.protect(&reference, isRTCP: false))
            try #require(mine == reference, "packet \(step)")
            #expect(receiver.unprotectRTP(&reference) == .ok)
            #expect(listener.unprotect(&mine, isRTCP: false))
            try #require(reference == plain && mine == plain, "packet \(step)")
        }
        for step in 0..<300 {
            let plain = SRTPSamples.rtcp(more: Int.random(in: 0...100, using: &random) * 4)
            var (mine, reference) = (plain, plain)
            #expect(sender.protectRTCP(&mine) == .ok)
            #expect(judge.protect(&reference, isRTCP: true))
            try #require(mine == reference, "packet \(step)")
            #expect(receiver.unprotectRTCP(&reference) == .ok)
            #expect(listener.unprotect(&mine, isRTCP: true))
            try #require(reference == plain && mine == plain, "packet \(step)")
        }
    }

    @Test(
        "late, repeated and damaged SRTP packets are accepted or refused as by libsrtp2, also after losses",
        arguments: SRTPKeys.Profile.allCases)
    func verdicts(profile: SRTPKeys.Profile) throws {
        let (ours, theirs) = SRTPSamples.keys(profile, seed: 11)
        let sender = try SRTPSender(keys: ours)
        let receiver = try SRTPReceiver(keys: theirs)
        let judge = try LibSRTP(profile, key: ours.localKey, salt: ours.localSalt, isSender: false)
        var random = TestRandom(seed: 6)
        var recent: [[UInt8]] = []
        var accepted = 0
        for step in 0..<6_000 {
            let sequence = UInt16(truncatingIfNeeded: 10_000 + step * 30)
            recent.append(try SRTPSamples.protected(SRTPSamples.rtp(sequence, payload: 20), sender))
            if recent.count > 60 { recent.removeFirst() }
            guard Int.random(in: 0..<10, using: &random) > 0, var packet = recent.randomElement(using: &random) else {
                continue
            }
            if Int.random(in: 0..<8, using: &random) == 0 {
                packet[Int.random(in: 12..<packet.count, using: &random)] ^= 4
            }
            var copy = packet
            let isMine = receiver.unprotectRTP(&packet) == .ok
            let isTheirs = judge.unprotect(&copy, isRTCP: false)
            try #require(isMine == isTheirs, "step \(step)")
            if isMine {
                accepted += 1
                #expect(packet == copy)
            }
        }
        #expect(accepted > 1_000)
    }
}
