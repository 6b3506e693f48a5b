import OpenSSLCrypto
import TestSupport
import Testing

@Suite("SRTP: packets in both directions, and packets that are refused", .serialized)
struct SRTPReceiverTests {
    @Test(
        "RTP packets with and without sources and extension, of up to 9,000 bytes, and RTCP packets are the same after SRTP and back",
        arguments: SRTPKeys.Profile.allCases)
    func shapes(profile: SRTPKeys.Profile) throws {
        let (sender, receiver) = try SRTPSamples.pair(profile)
        var sequence: UInt16 = 0
        for payload in [0, 1, 15, 16, 17, 1_200, 9_000] {
            for (sources, words) in [(0, nil), (15, nil), (0, 0), (2, 3), (0, 300)] as [(Int, Int?)] {
                sequence += 1
                let plain = SRTPSamples.rtp(sequence, payload: payload, sources: sources, words: words)
                var packet = try SRTPSamples.protected(plain, sender)
                #expect(packet.count == plain.count + profile.tagSize)
                if payload > 15 { #expect(packet.prefix(plain.count) != plain[...]) }
                #expect(receiver.unprotectRTP(&packet) == .ok)
                #expect(packet == plain)
            }
        }
        for more in [0, 1, 24, 1_400] {
            let plain = SRTPSamples.rtcp(more: more)
            var packet = plain
            #expect(sender.protectRTCP(&packet) == .ok)
            #expect(packet.count == plain.count + profile.tagSize + 4)
            #expect(receiver.unprotectRTCP(&packet) == .ok)
            #expect(packet == plain)
        }
    }

    @Test(
        "an SRTP or SRTCP packet with one flipped bit is refused, and the unchanged packet is accepted after it",
        arguments: SRTPKeys.Profile.allCases)
    func flippedBits(profile: SRTPKeys.Profile) throws {
        let (sender, receiver) = try SRTPSamples.pair(profile)
        var first = try SRTPSamples.protected(SRTPSamples.rtp(100), sender)
        #expect(receiver.unprotectRTP(&first) == .ok)
        let plain = SRTPSamples.rtp(101, payload: 60, sources: 1, words: 2)
        let rtp = try SRTPSamples.protected(plain, sender)
        for bit in 0..<rtp.count * 8 {
            var packet = rtp
            packet[bit / 8] ^= 1 << UInt8(bit % 8)
            let result = receiver.unprotectRTP(&packet)
            #expect(result == .forged || result == .malformed || result == .replay, "bit \(bit): \(result)")
        }
        var original = rtp
        #expect(receiver.unprotectRTP(&original) == .ok)
        #expect(original == plain)

        var rtcp = SRTPSamples.rtcp()
        #expect(sender.protectRTCP(&rtcp) == .ok)
        for bit in 0..<rtcp.count * 8 {
            var packet = rtcp
            packet[bit / 8] ^= 1 << UInt8(bit % 8)
            let result = receiver.unprotectRTCP(&packet)
            #expect(result == .forged || result == .malformed, "bit \(bit): \(result)")
        }
        #expect(receiver.unprotectRTCP(&rtcp) == .ok)
        #expect(rtcp == SRTPSamples.rtcp())
    }

    @Test("SRTP and SRTCP packets that are truncated anywhere are refused", arguments: SRTPKeys.Profile.allCases)
    func truncated(profile: SRTPKeys.Profile) throws {
        let (sender, receiver) = try SRTPSamples.pair(profile)
        let rtp = try SRTPSamples.protected(SRTPSamples.rtp(1, payload: 20, sources: 2, words: 1), sender)
        var rtcp = SRTPSamples.rtcp()
        #expect(sender.protectRTCP(&rtcp) == .ok)
        for count in 0..<rtp.count {
            var packet = Array(rtp.prefix(count))
            #expect([.forged, .malformed].contains(receiver.unprotectRTP(&packet)), "\(count)")
        }
        for count in 0..<rtcp.count {
            var packet = Array(rtcp.prefix(count))
            #expect([.forged, .malformed].contains(receiver.unprotectRTCP(&packet)), "\(count)")
        }
    }

    @Test(
        "RTP packets that are empty, of another version or shorter than their header says are neither protected nor accepted"
    )
    func lyingLengths() throws {
        let (sender, receiver) = try SRTPSamples.pair(.aes128GCM)
        var bad = [
            SRTPSamples.rtp(1, payload: 0, sources: 15), SRTPSamples.rtp(1, payload: 0, words: 2),
            SRTPSamples.rtp(1, payload: 0, words: 0), SRTPSamples.rtp(1, payload: 0),
        ].map { Array($0.dropLast()) }
        bad += [[], [0x80], [0x40] + SRTPSamples.rtp(1).dropFirst(), SRTPSamples.rtp(1, words: 1)]
        bad[bad.count - 1][14] = 0xFF
        for plain in bad {
            var packet = plain
            #expect(sender.protectRTP(&packet) == .malformed)
            #expect(packet.isEmpty, "a packet that was not protected is not sent")
            packet = plain + [UInt8](repeating: 0, count: 16)
            #expect(receiver.unprotectRTP(&packet) == .malformed)
        }
        var report = Array(SRTPSamples.rtcp(more: 0).dropLast())
        #expect(sender.protectRTCP(&report) == .malformed)
        #expect(report.isEmpty)
    }

    @Test("the SRTP receiver refuses unencrypted RTP and RTCP", arguments: SRTPKeys.Profile.allCases)
    func unencrypted(profile: SRTPKeys.Profile) throws {
        let (_, receiver) = try SRTPSamples.pair(profile)
        var packet = SRTPSamples.rtp(1)
        #expect(receiver.unprotectRTP(&packet) == .forged)
        // The last word of this one has the flag E.
        var report = SRTPSamples.rtcp() + [UInt8](repeating: 0xFF, count: 20)
        #expect(receiver.unprotectRTCP(&report) == .forged)
        report = SRTPSamples.rtcp() + [UInt8](repeating: 0, count: 20)
        #expect(receiver.unprotectRTCP(&report) == .malformed)
    }

    @Test(
        "each SRTP packet is accepted once; one that is 1,023 packets late is accepted, one that is 1,024 late is not",
        arguments: SRTPKeys.Profile.allCases)
    func replays(profile: SRTPKeys.Profile) throws {
        let (sender, receiver) = try SRTPSamples.pair(profile)
        let packets = try (0..<1_100).map {
            try SRTPSamples.protected(SRTPSamples.rtp(UInt16(60_000 + $0), payload: 4), sender)
        }
        func take(_ number: Int) -> SRTPResult {
            var packet = packets[number]
            return receiver.unprotectRTP(&packet)
        }
        for number in [0, 1, 1_099] {
            #expect(take(number) == .ok)
            #expect(take(number) == .replay)
        }
        #expect(take(75) == .replay, "1,024 packets late")
        for number in (76..<1_099).reversed() { #expect(take(number) == .ok, "\(number)") }
        for number in packets.indices { #expect(take(number) == .replay) }

        var reports = [[UInt8]](repeating: SRTPSamples.rtcp(), count: 3)
        for number in reports.indices { #expect(sender.protectRTCP(&reports[number]) == .ok) }
        for number in [2, 0, 1] {
            var (first, second) = (reports[number], reports[number])
            #expect(receiver.unprotectRTCP(&first) == .ok)
            #expect(receiver.unprotectRTCP(&second) == .replay)
        }
    }

    @Test(
        "SRTP packets are decrypted also after the sequence number has wrapped several times, with losses and reordering",
        arguments: SRTPKeys.Profile.allCases)
    func wraps(profile: SRTPKeys.Profile) throws {
        let (sender, receiver) = try SRTPSamples.pair(profile)
        var random = TestRandom(seed: 3)
        var late: [(plain: [UInt8], packet: [UInt8])] = []
        var number: UInt64 = 65_000
        while number < 5 << 16 {
            // Some jumps are long, but less than half a round.
            number +=
                Int.random(in: 1...20, using: &random) == 1
                ? UInt64.random(in: 1...20_000, using: &random) : 1 + number % 700
            let plain = SRTPSamples.rtp(UInt16(truncatingIfNeeded: number), payload: 8)
            late.append((plain, try SRTPSamples.protected(plain, sender)))
            if late.count == 2 {
                late.swapAt(0, 1)
                for (plain, packet) in late {
                    var packet = packet
                    let result = receiver.unprotectRTP(&packet)
                    // A jump makes the packet before it too old.
                    #expect(result == .ok ? packet == plain : result == .replay)
                }
                late = []
            }
        }
        let plain = SRTPSamples.rtp(UInt16(truncatingIfNeeded: number + 1))
        var packet = try SRTPSamples.protected(plain, sender)
        #expect(receiver.unprotectRTP(&packet) == .ok)
        #expect(packet == plain)
    }

    @Test(
        "an SRTP receiver that misses all packets before the sequence number's first wrap can still decrypt",
        arguments: SRTPKeys.Profile.allCases)
    func wrapBeforeFirstPacket(profile: SRTPKeys.Profile) throws {
        let (sender, receiver) = try SRTPSamples.pair(profile)
        _ = try SRTPSamples.protected(SRTPSamples.rtp(65_535), sender)
        for sequence: UInt16 in [3, 4, 0] {
            let plain = SRTPSamples.rtp(sequence)
            var packet = try SRTPSamples.protected(plain, sender)
            #expect(receiver.unprotectRTP(&packet) == .ok)
            #expect(packet == plain)
        }
    }

    @Test(
        "packets protected with another SRTP key do not change which packets of the sender are accepted",
        arguments: SRTPKeys.Profile.allCases)
    func strangers(profile: SRTPKeys.Profile) throws {
        let (sender, receiver) = try SRTPSamples.pair(profile)
        let stranger = try SRTPSender(keys: SRTPSamples.keys(profile, seed: 2).0)
        for sequence in stride(from: UInt16(0), to: 65_000, by: 500) {
            var forged = try SRTPSamples.protected(SRTPSamples.rtp(sequence &+ 30_000), stranger)
            #expect([.forged, .replay].contains(receiver.unprotectRTP(&forged)))
            var packet = try SRTPSamples.protected(SRTPSamples.rtp(sequence), sender)
            #expect(receiver.unprotectRTP(&packet) == .ok)
        }
    }

    @Test(
        "the SRTP receiver accepts at most eight SSRCs, and forged packets of thousands of others do not count",
        arguments: SRTPKeys.Profile.allCases)
    func manySenders(profile: SRTPKeys.Profile) throws {
        let (ours, theirs) = SRTPSamples.keys(profile)
        let receiver = try SRTPReceiver(keys: theirs)
        for ssrc in UInt32(100)..<3_000 {
            var forged = SRTPSamples.rtp(1, ssrc: ssrc)
            #expect(receiver.unprotectRTP(&forged) == .forged)
            var report = SRTPSamples.rtcp(ssrc: ssrc) + [UInt8](repeating: 0xFF, count: 20)
            #expect(receiver.unprotectRTCP(&report) == .forged)
        }
        for ssrc in UInt32(0)..<12 {
            // A sender object has the same limit.
            let sender = try SRTPSender(keys: ours)
            var packet = try SRTPSamples.protected(SRTPSamples.rtp(1, ssrc: ssrc), sender)
            #expect(receiver.unprotectRTP(&packet) == (ssrc < 8 ? .ok : .tooManySSRCs))
            var report = SRTPSamples.rtcp(ssrc: ssrc)
            #expect(sender.protectRTCP(&report) == .ok)
            #expect(receiver.unprotectRTCP(&report) == (ssrc < 8 ? .ok : .tooManySSRCs))
        }
        let sender = try SRTPSender(keys: ours)
        for ssrc in UInt32(0)..<9 {
            var packet = SRTPSamples.rtp(1, ssrc: ssrc)
            #expect(sender.protectRTP(&packet) == (ssrc < 8 ? .ok : .tooManySSRCs))
        }
    }

    @Test(
        "in an SRTP receiver, a new SSRC takes the place of a silent one, whose old packets stay refused also after it returns",
        arguments: [false, true])
    func silentSenders(isRTCP: Bool) throws {
        let keys = SRTPSamples.keys(.aes128GCM)
        let receiver = try SRTPReceiver(keys: keys.1)
        var senders: [UInt32: SRTPSender] = [:]
        func packet(_ ssrc: UInt32, _ sequence: UInt16) throws -> [UInt8] {
            let sender = try senders[ssrc] ?? SRTPSender(keys: keys.0)
            senders[ssrc] = sender
            guard isRTCP else { return try SRTPSamples.protected(SRTPSamples.rtp(sequence, ssrc: ssrc), sender) }
            var report = SRTPSamples.rtcp(ssrc: ssrc)
            #expect(sender.protectRTCP(&report) == .ok)
            return report
        }
        func receive(_ bytes: [UInt8]) -> SRTPResult {
            var bytes = bytes
            return isRTCP ? receiver.unprotectRTCP(&bytes) : receiver.unprotectRTP(&bytes)
        }
        let old = try packet(0, 1)
        #expect(receive(old) == .ok)
        for ssrc in UInt32(1)..<8 { #expect(try receive(packet(ssrc, 1)) == .ok) }
        let patience = UInt16(isRTCP ? SRTPReceiver.patience.rtcp : SRTPReceiver.patience.rtp)
        // All senders but the first go on.
        for sequence in 2..<patience / 7 + 2 {
            for ssrc in UInt32(1)..<8 {
                if sequence == 2 { #expect(try receive(packet(8, 1 + UInt16(ssrc))) == .tooManySSRCs) }
                #expect(try receive(packet(ssrc, sequence)) == .ok)
            }
        }
        #expect(try receive(packet(8, 100)) == .ok)
        // The first has no place now, and gets one when another is silent.
        let next = try packet(0, 2)
        #expect(receive(next) == .tooManySSRCs)
        for sequence in 101..<patience + 102 { #expect(try receive(packet(8, sequence)) == .ok) }
        #expect(receive(old) == .replay)
        #expect(receive(next) == .ok)
        #expect(receive(old) == .replay)
        #expect(receive(next) == .replay)
    }

    @Test("an SRTP sender uses no index twice, and stops when the indices of RTCP are used up")
    func sender() throws {
        let (sender, _) = try SRTPSamples.pair(.aes128GCM)
        var (first, second) = (SRTPSamples.rtp(5), SRTPSamples.rtp(5, payload: 50))
        #expect(sender.protectRTP(&first) == .ok)
        #expect(sender.protectRTP(&second) == .replay)
        #expect(second.isEmpty)
        let keys = SRTPSamples.keys(.aes128GCM).0
        let rtcp = try SRTPKeyDerivation.sessionKeys(
            keys.profile, key: keys.localKey, salt: keys.localSalt, forRTCP: true)
        let last = try SRTPSender(rtp: rtcp, rtcp: rtcp, firstRTCPIndex: 0x7FFF_FFFF)
        var (report, after) = (SRTPSamples.rtcp(), SRTPSamples.rtcp())
        #expect(last.protectRTCP(&report) == .ok)
        #expect(report.suffix(4) == [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(last.protectRTCP(&after) == .exhausted)
        #expect(after.isEmpty)
    }

    private static func address(_ packet: [UInt8]) -> UnsafeRawPointer? { packet.withUnsafeBytes { $0.baseAddress } }

    @Test(
        "an SRTP packet with spare capacity is protected and unprotected in its own memory",
        arguments: SRTPKeys.Profile.allCases)
    func inPlace(profile: SRTPKeys.Profile) throws {
        let (sender, receiver) = try SRTPSamples.pair(profile)
        var first = try SRTPSamples.protected(SRTPSamples.rtp(1), sender)
        #expect(receiver.unprotectRTP(&first) == .ok)
        var packet = SRTPSamples.rtp(2, payload: 1_200)
        packet.reserveCapacity(packet.count + SRTPSender.overhead)
        let address = Self.address(packet)
        #expect(sender.protectRTP(&packet) == .ok)
        #expect(Self.address(packet) == address)
        #expect(receiver.unprotectRTP(&packet) == .ok)
        #expect(Self.address(packet) == address)
    }
}
