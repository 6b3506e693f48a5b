package import MediaTypes

/// Encrypts and authenticates the packets that are sent to one peer.
///
/// An index is used for one packet only, since two packets with one index would disclose both (RFC 3711 §9.1). So a
/// retransmission must be sent as the bytes of the first time, or in a stream of its own (RFC 4588).
/// Used by one thread at a time. With GCM, packets of known senders need no allocation if they have capacity for
/// ``overhead`` more bytes.
///
/// Spec: RFC 3711 §3.3, §3.4; RFC 7714.
package final class SRTPSender {
    /// Number of bytes by which protection makes a packet longer, at most.
    package static let overhead = 16 + 4
    /// Greatest index of an RTCP packet: 31 bits.
    private static let greatestRTCPIndex: UInt32 = 0x7FFF_FFFF

    private let profile: SRTPKeys.Profile
    private let rtp: SRTPCipher
    private let rtcp: SRTPCipher
    private var rtpStreams = SRTPStreams()
    /// Index of the next RTCP packet, of all senders together, so that none is used twice.
    private var nextRTCPIndex: UInt32

    /// A sender that uses this side's keys.
    ///
    /// - Throws: ``MediaError/Code/rejected`` if a key has the wrong size; ``MediaError/Code/internal`` if OpenSSL fails.
    package convenience init(keys: SRTPKeys) throws(MediaError) {
        let (profile, key, salt) = (keys.profile, keys.localKey, keys.localSalt)
        try self.init(
            rtp: SRTPKeyDerivation.sessionKeys(profile, key: key, salt: salt, forRTCP: false),
            rtcp: SRTPKeyDerivation.sessionKeys(profile, key: key, salt: salt, forRTCP: true))
    }

    /// A sender with session keys.
    ///
    /// - Parameter firstRTCPIndex: Index of the first RTCP packet; libsrtp begins with 1, too.
    package init(rtp: SRTPSessionKeys, rtcp: SRTPSessionKeys, firstRTCPIndex: UInt32 = 1) throws(MediaError) {
        self.profile = rtp.profile
        self.rtp = try SRTPCipher(rtp, seals: true)
        self.rtcp = try SRTPCipher(rtcp, seals: true)
        self.nextRTCPIndex = firstRTCPIndex
    }

    /// Makes an SRTP packet of an RTP packet, in place.
    ///
    /// - Parameter packet: Becomes longer by the tag. If the result is not ``SRTPResult/ok``, it is empty, so that it
    ///   cannot be sent in clear.
    /// - Returns: ``SRTPResult/replay`` if its index was used before.
    package func protectRTP(_ packet: inout [UInt8]) -> SRTPResult {
        let result = self.sealRTP(&packet)
        if result != .ok { packet.removeAll(keepingCapacity: true) }
        return result
    }

    private func sealRTP(_ packet: inout [UInt8]) -> SRTPResult {
        let end = packet.count
        guard let header = SRTPHeader.rtpSize(packet, end: end) else { return .malformed }
        let sequence = SRTPHeader.number16(packet, at: 2)
        let ssrc = SRTPHeader.number32(packet, at: 8)
        let position = self.rtpStreams.position(of: ssrc)
        let index: UInt64
        if let position {
            let window = self.rtpStreams[position]
            guard let next = SRTPStreams.index(of: sequence, highest: window.highest) else { return .exhausted }
            guard window.admits(next) else { return .replay }
            index = next
        } else {
            guard !self.rtpStreams.isFull else { return .tooManySSRCs }
            index = UInt64(sequence)
        }
        // Recorded before the cipher uses the index: the index must not be used again even if something fails below.
        self.rtpStreams.insert(index, of: ssrc, at: position)
        packet.append(contentsOf: repeatElement(0, count: self.profile.tagSize))
        let layout = SRTPCipher.Layout(header: header, end: end, word: nil)
        return self.rtp.seal(&packet, layout: layout, ssrc: ssrc, index: index) ? .ok : .malformed
    }

    /// Makes an SRTCP packet of a compound RTCP packet, in place.
    ///
    /// - Parameter packet: See ``protectRTP(_:)``; becomes longer by tag and index.
    package func protectRTCP(_ packet: inout [UInt8]) -> SRTPResult {
        let result = self.sealRTCP(&packet)
        if result != .ok { packet.removeAll(keepingCapacity: true) }
        return result
    }

    private func sealRTCP(_ packet: inout [UInt8]) -> SRTPResult {
        let end = packet.count
        guard SRTPHeader.isRTCP(packet, end: end) else { return .malformed }
        guard self.nextRTCPIndex <= Self.greatestRTCPIndex else { return .exhausted }
        let index = self.nextRTCPIndex
        self.nextRTCPIndex += 1
        let ssrc = SRTPHeader.number32(packet, at: 4)
        packet.append(contentsOf: repeatElement(0, count: self.profile.tagSize + SRTPHeader.wordSize))
        let layout = SRTPCipher.Layout(header: SRTPHeader.rtcpSize, end: end, word: index | 0x8000_0000)
        return self.rtcp.seal(&packet, layout: layout, ssrc: ssrc, index: UInt64(index)) ? .ok : .malformed
    }
}
