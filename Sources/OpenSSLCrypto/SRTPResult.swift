/// The result of protecting or decrypting a packet.
package enum SRTPResult: Sendable, Hashable {
    /// The packet is authentic and now decrypted, or it is now protected.
    case ok
    /// Its index was used before, or is at least ``ReplayWindow/size`` below the highest of its sender, or not above it if the
    /// sender was forgotten.
    case replay
    /// The packet was not made with these keys, or was changed.
    case forged
    /// The packet is too short, has another version or lengths that do not fit, or is not encrypted; or OpenSSL could not
    /// protect it.
    case malformed
    /// The packet is from a new sender, and there are already ``SRTPReceiver/mostSSRCs``, none of which is silent.
    case tooManySSRCs
    /// The keys may not protect more packets (2^48 RTP packets of an SSRC, or 2^31 RTCP packets, RFC 3711 §9.2).
    case exhausted
}
