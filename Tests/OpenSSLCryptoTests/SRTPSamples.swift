import OpenSSLCrypto
import TestSupport

/// Keys and packets for tests of SRTP.
enum SRTPSamples {
    /// Keys of one side, and the same for the other side.
    static func keys(_ profile: SRTPKeys.Profile, seed: UInt64 = 1) -> (SRTPKeys, SRTPKeys) {
        var random = TestRandom(seed: seed)
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
        let (one, two) = ((bytes(16), bytes(profile.saltSize)), (bytes(16), bytes(profile.saltSize)))
        return (
            SRTPKeys(profile: profile, localKey: one.0, localSalt: one.1, remoteKey: two.0, remoteSalt: two.1),
            SRTPKeys(profile: profile, localKey: two.0, localSalt: two.1, remoteKey: one.0, remoteSalt: one.1)
        )
    }

    static func pair(_ profile: SRTPKeys.Profile) throws -> (SRTPSender, SRTPReceiver) {
        let (ours, theirs) = self.keys(profile)
        return (try SRTPSender(keys: ours), try SRTPReceiver(keys: theirs))
    }

    /// An RTP packet.
    ///
    /// - Parameters:
    ///   - sources: Number of contributing sources.
    ///   - words: Size of the header extension in words; `nil` for none.
    static func rtp(
        _ sequence: UInt16, ssrc: UInt32 = 0x1234_5678, payload: Int = 100, sources: Int = 0, words: Int? = nil
    ) -> [UInt8] {
        var packet: [UInt8] = [0x80 | UInt8(sources) | (words == nil ? 0 : 0x10), 96]
        packet += [UInt8(sequence >> 8), UInt8(sequence & 255), 1, 2, 3, 4] + self.bytes(ssrc)
        packet += (0..<sources * 4).map { UInt8(truncatingIfNeeded: $0) }
        if let words {
            packet += [0xBE, 0xDE, UInt8(words >> 8), UInt8(words & 255)] + [UInt8](repeating: 9, count: words * 4)
        }
        return packet + (0..<payload).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(sequence)) }
    }

    /// A receiver report without blocks, and bytes behind it.
    static func rtcp(ssrc: UInt32 = 0x1234_5678, more: Int = 24) -> [UInt8] {
        [0x80, 201, 0, 1] + self.bytes(ssrc) + (0..<more).map { UInt8(truncatingIfNeeded: $0 &* 5) }
    }

    static func bytes(_ number: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    /// A copy of the packet, protected.
    static func protected(_ packet: [UInt8], _ sender: SRTPSender) throws -> [UInt8] {
        struct Failure: Error { let result: SRTPResult }
        var packet = packet
        let result = sender.protectRTP(&packet)
        guard result == .ok else { throw Failure(result: result) }
        return packet
    }
}
