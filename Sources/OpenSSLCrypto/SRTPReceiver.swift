package import MediaTypes

/// Checks and decrypts the packets of one peer.
///
/// Nothing is remembered of a packet before it is authenticated, so packets of strangers neither move a window nor fill
/// memory. Used by one thread at a time. With GCM, packets of known senders need no allocation.
///
/// Spec: RFC 3711 §3.3, §3.4; RFC 7714.
package final class SRTPReceiver {
    /// Maximum number of senders (SSRCs) of one peer at the same time, for RTP and for RTCP each: audio, and three simulcast
    /// layers of video with their retransmissions, are seven.
    package static let mostSSRCs = 8
    /// Numbers of RTP and RTCP packets from other senders after which a new sender may take the place of a silent one. Video
    /// at 2.5 Mbit/s has 512 RTP packets in about two seconds.
    package static let patience: (rtp: UInt64, rtcp: UInt64) = (512, 32)

    private let profile: SRTPKeys.Profile
    private let rtp: SRTPCipher
    private let rtcp: SRTPCipher
    private var rtpStreams = SRTPStreams(patience: SRTPReceiver.patience.rtp)
    private var rtcpStreams = SRTPStreams(patience: SRTPReceiver.patience.rtcp)

    /// A receiver for what the peer protects with its keys.
    ///
    /// - Throws: ``MediaError/Code/rejected`` if a key has the wrong size; ``MediaError/Code/internal`` if OpenSSL fails.
    package convenience init(keys: SRTPKeys) throws(MediaError) {
        let (profile, key, salt) = (keys.profile, keys.remoteKey, keys.remoteSalt)
        try self.init(
            rtp: SRTPKeyDerivation.sessionKeys(profile, key: key, salt: salt, forRTCP: false),
            rtcp: SRTPKeyDerivation.sessionKeys(profile, key: key, salt: salt, forRTCP: true))
    }

    /// A receiver with session keys.
    package init(rtp: SRTPSessionKeys, rtcp: SRTPSessionKeys) throws(MediaError) {
        self.profile = rtp.profile
        self.rtp = try SRTPCipher(rtp, seals: false)
        self.rtcp = try SRTPCipher(rtcp, seals: false)
    }

    /// Makes an RTP packet of an SRTP packet, in place.
    ///
    /// - Parameter packet: Becomes shorter by the tag. If the result is not ``SRTPResult/ok``, its content is undefined
    ///   and must not be used.
    package func unprotectRTP(_ packet: inout [UInt8]) -> SRTPResult {
        let end = packet.count - self.profile.tagSize
        guard let header = SRTPHeader.rtpSize(packet, end: end) else { return .malformed }
        let sequence = SRTPHeader.number16(packet, at: 2)
        let ssrc = SRTPHeader.number32(packet, at: 8)
        let layout = SRTPCipher.Layout(header: header, end: end, word: nil)
        guard let position = self.rtpStreams.position(of: ssrc) else {
            guard self.rtpStreams.hasRoom else { return .tooManySSRCs }
            return self.unprotectFirst(&packet, layout, ssrc, sequence)
        }
        let window = self.rtpStreams[position]
        guard let index = SRTPStreams.index(of: sequence, highest: window.highest) else { return .exhausted }
        guard window.admits(index) else { return .replay }
        guard self.rtp.open(&packet, layout: layout, ssrc: ssrc, index: index) else { return .forged }
        self.rtpStreams.insert(index, of: ssrc, at: position)
        packet.removeLast(self.profile.tagSize)
        return .ok
    }

    /// The first packet of a sender. If its first packets were lost and it began shortly before 65,535, then its sequence
    /// number has wrapped already, and with a rollover counter of 0 none of its packets could ever be decrypted.
    private func unprotectFirst(
        _ packet: inout [UInt8], _ layout: SRTPCipher.Layout, _ ssrc: UInt32, _ sequence: UInt16
    ) -> SRTPResult {
        if let highest = self.rtpStreams.forgottenIndex(of: ssrc) {
            guard let index = SRTPStreams.index(of: sequence, highest: highest) else { return .exhausted }
            guard index > highest else { return .replay }
            guard self.rtp.open(&packet, layout: layout, ssrc: ssrc, index: index) else { return .forged }
            self.rtpStreams.insert(index, of: ssrc, at: nil)
            packet.removeLast(self.profile.tagSize)
            return .ok
        }
        let original = packet
        for round: UInt64 in sequence < 0x8000 ? 0...1 : 0...0 {
            let index = round << 16 | UInt64(sequence)
            packet = original
            guard self.rtp.open(&packet, layout: layout, ssrc: ssrc, index: index) else { continue }
            self.rtpStreams.insert(index, of: ssrc, at: nil)
            packet.removeLast(self.profile.tagSize)
            return .ok
        }
        return .forged
    }

    /// Makes a compound RTCP packet of an SRTCP packet, in place.
    ///
    /// A packet that is authenticated but not encrypted is ``SRTPResult/malformed``: the profiles of DTLS-SRTP encrypt
    /// RTCP (RFC 5764 §4.1.2).
    ///
    /// - Parameter packet: See ``unprotectRTP(_:)``; becomes shorter by tag and index.
    package func unprotectRTCP(_ packet: inout [UInt8]) -> SRTPResult {
        let trailer = self.profile.tagSize + SRTPHeader.wordSize
        let end = packet.count - trailer
        guard SRTPHeader.isRTCP(packet, end: end) else { return .malformed }
        let ssrc = SRTPHeader.number32(packet, at: 4)
        // RFC 7714 §9.2 has the word behind the tag, RFC 3711 §3.4 before it.
        let word = SRTPHeader.number32(
            packet, at: self.profile == .aes128GCM ? packet.count - SRTPHeader.wordSize : end)
        guard word >> 31 == 1 else { return .malformed }
        let index = UInt64(word & 0x7FFF_FFFF)
        let position = self.rtcpStreams.position(of: ssrc)
        if let position {
            guard self.rtcpStreams[position].admits(index) else { return .replay }
        } else if !self.rtcpStreams.hasRoom {
            return .tooManySSRCs
        } else if let highest = self.rtcpStreams.forgottenIndex(of: ssrc), index <= highest {
            return .replay
        }
        let layout = SRTPCipher.Layout(header: SRTPHeader.rtcpSize, end: end, word: word)
        guard self.rtcp.open(&packet, layout: layout, ssrc: ssrc, index: index) else { return .forged }
        self.rtcpStreams.insert(index, of: ssrc, at: position)
        packet.removeLast(trailer)
        return .ok
    }
}
