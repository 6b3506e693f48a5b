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
            // An error, which is not longer than the check.
            guard self.agent.isKnown(address, now: now) else { return output.addAlone(bytes, to: address) }
            if self.firstCheck == nil { self.firstCheck = now }
            output.changes.append(.known(address))
            self.allowance.received(check.bytes.count, from: address)
            if self.isConnected {
                if self.sendProbe(to: address, now, into: &output) { return }
                self.send([bytes], to: address, into: &output)
                return self.heard(address, stream, now, into: &output)
            }
            let isStart = self.isDTLSClient && !self.hasStarted
            if isStart, self.allowance.left(for: address) < bytes.count + Self.firstFlights { return }
            self.send([bytes], to: address, into: &output)
            guard isStart else { return }
            self.hasStarted = true
            self.sendFlight(self.transport.start(), to: address, into: &output)
            self.shakeHands(address, stream, now, into: &output)
        }
    }

    /// Bytes of a ClientHello, sent twice. A DTLS client answers no check before so many more bytes were received: the checks of a
    /// peer that gets no answer are repeated.
    private static let firstFlights = 2 * 166
    /// Shortest time between two checks to one address, in nanoseconds.
    private static let probeInterval: Int64 = 400_000_000

    /// Sends a check to a selected address that has not proved itself, such as a new one of a viewer that has moved. It takes the
    /// place of the answer to the viewer's check, which is repeated.
    ///
    /// - Returns: Whether a check was sent.
    private func sendProbe(to address: ICEAddress, _ now: Int64, into output: inout ViewerOutput) -> Bool {
        guard address == self.agent.selected, !self.allowance.isProven(address) else { return false }
        if let probe, probe.address == address, now &- probe.at < Self.probeInterval { return false }
        var generator = SystemRandomNumberGenerator()
        let id = (0..<12).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let check = STUNWriter.check(transactionID: id, remote: self.remote, localUfrag: self.ufrags.first ?? "") {
            HMACSHA1.digest(key: $0, $1)
        }
        guard check.count <= self.allowance.left(for: address) else { return false }
        self.probe = (address, id, now)
        self.send([check], to: address, into: &output)
        return true
    }

    /// Takes the answer to a check of this side.
    package func receive(
        answer: STUNMessage, from address: ICEAddress, _ stream: RenditionStream, now: Int64,
        into output: inout ViewerOutput
    ) {
        guard self.end == nil else { return }
        guard let probe, probe.address == address, answer.kind == .success,
            answer.transactionID.elementsEqual(probe.id),
            answer.isAuthentic(password: Array(self.remote.password.utf8), hmac: { HMACSHA1.digest(key: $0, $1) })
        else {
            self.counters.refused &+= 1
            return
        }
        self.probe = nil
        self.allowance.prove(address)
        self.heard(address, stream, now, into: &output)
        self.beginGroup(stream, now)
        self.send(stream, now: now, into: &output)
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
        self.allowance.received(datagram.count, from: address)
        switch DatagramKind(datagram) {
        case .dtls:
            self.receiveFlight(datagram, from: address, into: &output)
            self.shakeHands(address, stream, now, into: &output)
        case .rtcp:
            guard let receiver = self.receiver, receiver.unprotectRTCP(&datagram) == .ok,
                let packets = RTCPPacket.parse(datagram)
            else {
                self.counters.refused &+= 1
                return
            }
            self.heard(address, stream, now, into: &output)
            for packet in packets { self.receive(packet, stream, now, into: &output) }
        // A viewer sends no media.
        case .rtp, .stun, .other: self.counters.refused &+= 1
        }
    }

    /// The viewer is there. One that was silent gets media again at once.
    private func heard(
        _ address: ICEAddress, _ stream: RenditionStream, _ now: Int64, into output: inout ViewerOutput
    ) {
        let wasSilent = self.isConnected && self.flow.isSilent(now: now)
        self.flow.heard(now: now)
        self.heardAddress = address
        guard wasSilent else { return }
        self.beginGroup(stream, now)
        self.send(stream, now: now, into: &output)
    }

    // MARK: The handshake

    /// Sends the last messages again.
    func repeatFlight(_ stream: RenditionStream, _ now: Int64, into output: inout ViewerOutput) {
        guard let address = self.flightAddress ?? self.agent.selected else { return }
        self.sendFlight(self.transport.handleTimeout(), to: address, into: &output)
        self.shakeHands(address, stream, now, into: &output)
    }

    /// Continues the handshake. An address has proved itself when it sends something that depends on what was sent there.
    private func receiveFlight(_ datagram: [UInt8], from address: ICEAddress, into output: inout ViewerOutput) {
        let (hadCookie, hadAnswer) = (self.transport.hasCookie, self.transport.hasAnswer)
        let port = [UInt8(address.port >> 8), UInt8(address.port & 0xFF)]
        let answers = self.transport.receive(datagram, from: address.bytes + port)
        let isAnswer = self.transport.hasAnswer && !hadAnswer && address == self.flightAddress
        if isAnswer || self.transport.hasCookie && !hadCookie { self.allowance.prove(address) }
        self.sendFlight(answers, to: address, into: &output)
    }

    private func sendFlight(_ datagrams: [[UInt8]], to address: ICEAddress, into output: inout ViewerOutput) {
        guard !datagrams.isEmpty else { return }
        self.flightAddress = address
        self.send(datagrams, to: address, into: &output)
    }

    /// Datagrams beyond the allowance of the address are dropped, as on the network.
    func send(_ datagrams: [[UInt8]], to address: ICEAddress, into output: inout ViewerOutput) {
        for bytes in datagrams where self.allowance.spend(bytes.count, on: address) {
            output.addAlone(bytes, to: address)
        }
    }

    /// Acts on the state of the handshake, which a datagram of `address` may have changed.
    private func shakeHands(
        _ address: ICEAddress, _ stream: RenditionStream, _ now: Int64, into output: inout ViewerOutput
    ) {
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
            self.heardAddress = address
            output.changes.append(.connected)
            self.beginMedia(stream, now: now)
            self.send(stream, now: now, into: &output)
        case .closed: self.finish(.closedByPeer, into: &output)
        case .failed(let reason): self.finish(.handshakeFailed(reason), into: &output)
        }
    }
}
