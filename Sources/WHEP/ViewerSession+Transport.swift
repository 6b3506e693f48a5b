import MediaTypes
import OpenSSLCrypto
package import WebRTC

/// Connectivity checks, the handshake, and what the viewer sends.
extension ViewerSession {
    /// Takes a connectivity check that was sent to one of ``ufrags``.
    package func receive(
        _ check: STUNMessage, from address: ICEAddress, _ stream: RenditionStream, now: Int64,
        into output: inout ViewerOutput
    ) {
        guard self.end == nil else { return }
        switch self.agent.receive(check, from: address, now: now, hmac: { HMACSHA1.digest(key: $0, $1) }) {
        case .ignored: self.counters.refused &+= 1
        case .answer(let bytes, _):
            output.addAlone(bytes, to: address)
            guard self.agent.isKnown(address, now: now) else { return }
            if self.firstCheck == nil { self.firstCheck = now }
            output.changes.append(.known(address))
            self.heard(stream, now, into: &output)
            guard self.isDTLSClient, !self.hasStarted else { return }
            self.hasStarted = true
            self.sendFlight(self.transport.start(), into: &output)
            self.shakeHands(stream, now, into: &output)
        }
    }

    /// Takes any other datagram, whose content is undefined afterwards.
    package func receive(
        _ datagram: inout [UInt8], from address: ICEAddress, _ stream: RenditionStream, now: Int64,
        into output: inout ViewerOutput
    ) {
        guard self.end == nil else { return }
        guard self.agent.isKnown(address, now: now) else {
            self.counters.refused &+= 1
            return
        }
        switch DatagramKind(datagram) {
        case .dtls:
            self.sendFlight(self.transport.receive(datagram), into: &output)
            self.shakeHands(stream, now, into: &output)
        case .rtcp:
            guard let receiver = self.receiver, receiver.unprotectRTCP(&datagram) == .ok,
                let packets = RTCPPacket.parse(datagram)
            else {
                self.counters.refused &+= 1
                return
            }
            self.heard(stream, now, into: &output)
            for packet in packets { self.receive(packet, stream, now, into: &output) }
        // A viewer sends no media.
        case .rtp, .stun, .other: self.counters.refused &+= 1
        }
    }

    /// The viewer is there. One that was silent gets media again at once.
    private func heard(_ stream: RenditionStream, _ now: Int64, into output: inout ViewerOutput) {
        let wasSilent = self.isConnected && self.flow.isSilent(now: now)
        self.flow.heard(now: now)
        guard wasSilent else { return }
        self.beginGroup(stream, now)
        self.send(stream, now: now, into: &output)
    }

    // MARK: The handshake

    /// Sends the last messages again.
    func repeatFlight(_ stream: RenditionStream, _ now: Int64, into output: inout ViewerOutput) {
        self.sendFlight(self.transport.handleTimeout(), into: &output)
        self.shakeHands(stream, now, into: &output)
    }

    private func sendFlight(_ datagrams: [[UInt8]], into output: inout ViewerOutput) {
        guard let address = self.agent.selected else { return }
        for bytes in datagrams { output.addAlone(bytes, to: address) }
    }

    /// Acts on the state of the handshake.
    private func shakeHands(_ stream: RenditionStream, _ now: Int64, into output: inout ViewerOutput) {
        self.handshakeDeadline = self.transport.nextTimeout().map { now &+ max(0, $0) } ?? .max
        switch self.transport.state {
        case .handshaking: break
        case .connected(let keys):
            guard self.receiver == nil else { return }
            do throws(MediaError) {
                self.receiver = try SRTPReceiver(keys: keys)
                self.sender = try SRTPSender(keys: keys)
            } catch {
                return self.finish(.handshakeFailed("\(error)"), into: &output)
            }
            self.cipher = keys.profile.rawValue
            output.changes.append(.connected)
            self.beginMedia(stream, now: now)
            self.send(stream, now: now, into: &output)
        case .closed: self.finish(.closedByPeer, into: &output)
        case .failed(let reason): self.finish(.handshakeFailed(reason), into: &output)
        }
    }
}
