import OpenSSLCrypto
package import WebRTC

/// Connectivity checks, the handshake, and what the viewer sends.
extension ViewerSession {
    /// Takes a connectivity check that was sent to one of ``ufrags``.
    package func receive(
        _ check: STUNMessage, from address: ICEAddress, _ stream: RenditionStream, now: Int64,
        into output: inout ViewerOutput
    ) {
        switch self.transport.receive(check, from: address, now: now, into: &output) {
        case .ignored: self.counters.refused &+= 1
        case .error, .probed: break
        case .valid: if self.isConnected { self.heard(address, stream, now, into: &output) }
        }
    }

    /// Takes the answer to a check of this side.
    package func receive(
        answer: STUNMessage, from address: ICEAddress, _ stream: RenditionStream, now: Int64,
        into output: inout ViewerOutput
    ) {
        guard self.transport.receive(answer: answer, from: address) else {
            self.counters.refused &+= 1
            return
        }
        self.heard(address, stream, now, into: &output)
        self.beginGroup(stream, now)
        self.send(stream, now: now, into: &output)
    }

    /// Takes any other datagram, whose content is undefined afterwards.
    package func receive(
        _ datagram: inout [UInt8], from address: ICEAddress, _ stream: RenditionStream, now: Int64,
        into output: inout ViewerOutput
    ) {
        switch self.transport.receive(&datagram, from: address, now: now, into: &output) {
        case .dtls: break
        case .connected:
            self.beginMedia(stream, now: now)
            self.send(stream, now: now, into: &output)
        case .rtcp(.ok):
            guard let packets = RTCPPacket.parse(datagram) else {
                self.counters.refused &+= 1
                return
            }
            self.heard(address, stream, now, into: &output)
            for packet in packets { self.receive(packet, stream, now, into: &output) }
        // A viewer sends no media.
        case .rtp, .rtcp, .early, .malformed, .stranger: self.counters.refused &+= 1
        }
    }

    /// The viewer is there. One that was silent gets media again at once.
    private func heard(
        _ address: ICEAddress, _ stream: RenditionStream, _ now: Int64, into output: inout ViewerOutput
    ) {
        let wasSilent = self.flow.isSilent(now: now)
        self.flow.heard(now: now)
        self.transport.heard(address, now: now)
        guard wasSilent else { return }
        self.beginGroup(stream, now)
        self.send(stream, now: now, into: &output)
    }
}
