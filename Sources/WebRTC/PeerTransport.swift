package import MediaTypes
package import OpenSSLCrypto

/// The transport of one peer: ICE-lite, DTLS and SRTP. Datagrams and the time go in; datagrams to send and changes of the state
/// come out.
///
/// It has no socket, timer or thread. States: checking (no valid connectivity check yet) → handshaking → connected →
/// ended; any → ended. Before a valid check came from an address, only STUN errors are sent there. Before the address has
/// proved that it receives what is sent, it gets no more bytes than came from there. The first address proves this in the
/// DTLS handshake, later ones by their answer to a check of this side, if ``probes`` is set.
///
/// Times are nanoseconds of one monotonic clock.
package final class PeerTransport {
    /// Time limits for a peer's connectivity checks and DTLS handshake, in nanoseconds.
    package struct Limits: Sendable, Equatable {
        package var ice = ICELiteAgent.Limits()
        /// Maximum time from the first valid check to the end of the handshake.
        package var handshake: Int64 = 10_000_000_000

        package init() {}
    }

    /// The result of a connectivity check.
    package enum CheckResult: Sendable, Equatable {
        /// The check was refused without an answer, or the session has ended.
        case ignored
        /// The check was answered with an error.
        case error
        case valid
        /// The check is valid, but its address has not proved itself: a check was sent there instead of the answer.
        case probed
    }

    /// The content of a datagram that is not a connectivity check.
    package enum Content: Sendable, Equatable {
        /// The datagram came from an address that the ICE agent does not know, or the session has ended.
        case stranger
        /// Neither DTLS, RTP nor RTCP.
        case malformed
        /// Media before the end of the handshake.
        case early
        case dtls
        /// The DTLS message that has completed the handshake.
        case connected
        /// The datagram is decrypted if the result is ``SRTPResult/ok``.
        case rtp(SRTPResult)
        case rtcp(SRTPResult)
    }

    private static let checkInterval: Int64 = 500_000_000
    /// Bytes of two ClientHello messages. If this side is the DTLS client, it answers the peer's checks only after it may send so
    /// many bytes in addition: a peer repeats checks without an answer, but FFmpeg stops them after the first answer.
    private static let firstFlights = 2 * 166
    /// Shortest time between two checks to one address, in nanoseconds.
    private static let probeInterval: Int64 = 400_000_000

    /// The protection profile; nil before the end of the handshake.
    package private(set) var cipher: String?
    /// Time of the end of the handshake; nil before.
    package private(set) var connectedAt: Int64?
    /// The time that ``heard(_:now:)`` was last called with, or that of the end of the handshake.
    package private(set) var lastHeard: Int64 = 0
    package private(set) var end: SessionEnd?

    private let limits: Limits
    private let probes: Bool
    private var agent: ICELiteAgent
    private let dtls: DTLSTransport
    private let isDTLSClient: Bool
    private var hasStarted = false
    private var receiver: SRTPReceiver?
    private var sender: SRTPSender?
    private var allowance = SendAllowance()
    /// Credentials of the peer.
    private var remote: ICECredentials
    /// Where the last DTLS messages were sent.
    private var flightAddress: ICEAddress?
    /// The last check that was sent to an address without proof.
    private var probe: (address: ICEAddress, id: [UInt8], at: Int64)?
    private var heardAddress: ICEAddress?
    private var firstCheck: Int64?
    private var handshakeDeadline: Int64 = .max
    /// When the times of ``Limits`` are compared next.
    private var nextCheck: Int64

    /// - Parameters:
    ///   - credentials: This side's ICE credentials in the answer.
    ///   - probes: Whether an address to which the peer moves after the handshake must prove itself by its answer to a
    ///     check. If not, then it gets no more bytes than come from there.
    /// - Throws: ``MediaError`` if no fingerprint of the offer can be used, or OpenSSL has no memory.
    package init(
        _ negotiated: NegotiatedSession, credentials: ICECredentials, identity: DTLSIdentity, probes: Bool, now: Int64,
        limits: Limits = Limits(), timer: DTLSTransport.Timer = .doubling
    ) throws(MediaError) {
        self.limits = limits
        self.probes = probes
        self.agent = ICELiteAgent(credentials: credentials, now: now, limits: limits.ice)
        self.remote = ICECredentials(ufrag: negotiated.remoteUfrag, password: negotiated.remotePassword)
        self.isDTLSClient = negotiated.peerIsDTLSServer
        self.dtls = try DTLSTransport(
            identity: identity, role: negotiated.peerIsDTLSServer ? .client : .server,
            peerFingerprints: negotiated.fingerprints.map {
                DTLSFingerprint(algorithm: $0.algorithm, bytes: $0.bytes)
            }, timer: timer)
        self.nextCheck = now &+ Self.checkInterval
    }

    /// This side's ICE user name fragments: connectivity checks with one of them are for this session.
    package var ufrags: [String] { self.agent.ufrags }
    /// Whether media can be sent and received.
    package var isConnected: Bool { self.connectedAt != nil && self.end == nil }
    /// The address to send to; nil before the first valid check, and when ``lost(_:)`` has left none.
    package var selected: ICEAddress? { self.agent.selected }
    /// Where any number of bytes may be sent, and what protects them; nil before the handshake is complete, after the end, and
    /// while the selected address has not proved itself.
    package var media: (sender: SRTPSender, address: ICEAddress)? {
        guard let sender, self.end == nil, let address = self.agent.selected, self.allowance.isProven(address) else {
            return nil
        }
        return (sender, address)
    }
    /// Whether a valid check came from the address, and consent lasts.
    package func isKnown(_ address: ICEAddress, now: Int64) -> Bool { self.agent.isKnown(address, now: now) }
    /// Whether the session uses the address, so that no other session may get its datagrams: its handshake is not complete,
    /// or the peer was last heard there, and less than `silence` ago.
    package func isUsing(_ address: ICEAddress, now: Int64, silence: Int64) -> Bool {
        guard self.end == nil, self.isKnown(address, now: now) else { return false }
        return !self.isConnected || self.heardAddress == address && now &- self.lastHeard < silence
    }

    /// Records that something authentic arrived from an address.
    package func heard(_ address: ICEAddress, now: Int64) {
        self.heardAddress = address
        self.lastHeard = now
    }

    /// Records that the TCP connection of an address was closed.
    package func lost(_ address: ICEAddress) { self.agent.remove(address) }

    /// Begins an ICE restart with new credentials of this side and of the peer.
    package func restart(credentials: ICECredentials, remote: ICECredentials) {
        self.agent.restart(credentials: credentials)
        self.remote = remote
    }

    /// When ``advance(to:into:)`` has something to do; nil once the session has ended.
    package var deadline: Int64? { self.end == nil ? min(self.nextCheck, self.handshakeDeadline) : nil }

    // MARK: Connectivity checks

    /// Takes a connectivity check that was sent to one of ``ufrags``.
    package func receive(
        _ check: STUNMessage, from address: ICEAddress, now: Int64, into output: inout some SessionOutput
    ) -> CheckResult {
        guard self.end == nil else { return .ignored }
        switch self.agent.receive(check, from: address, now: now, hmac: { HMACSHA1.digest(key: $0, $1) }) {
        case .ignored: return .ignored
        case .error(let bytes):
            // The error is not longer than the check, so that it needs no allowance.
            output.addAlone(bytes, to: address)
            return .error
        case .answer(let bytes, _):
            if self.firstCheck == nil { self.firstCheck = now }
            output.changes.append(.known(address))
            self.allowance.received(check.bytes.count, from: address)
            if self.sendProbe(to: address, now, into: &output) { return .probed }
            let isStart = self.isDTLSClient && !self.hasStarted
            if isStart, self.allowance.left(for: address) < bytes.count + Self.firstFlights { return .valid }
            self.send([bytes], to: address, into: &output)
            if isStart {
                self.hasStarted = true
                self.sendFlight(self.dtls.start(), to: address, into: &output)
                self.follow(now, address, into: &output)
            }
            return .valid
        }
    }

    /// Sends a check to a selected address that has not proved itself, such as a new one of a peer that has moved. The caller
    /// sends this check instead of an answer; the peer repeats its own check.
    ///
    /// - Returns: Whether a check was sent.
    private func sendProbe(to address: ICEAddress, _ now: Int64, into output: inout some SessionOutput) -> Bool {
        guard self.probes, self.isConnected, address == self.agent.selected, !self.allowance.isProven(address) else {
            return false
        }
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
    ///
    /// - Returns: Whether the address has proved itself with it.
    package func receive(answer: STUNMessage, from address: ICEAddress) -> Bool {
        guard self.end == nil, let probe, probe.address == address, answer.kind == .success,
            answer.transactionID.elementsEqual(probe.id),
            answer.isAuthentic(password: Array(self.remote.password.utf8), hmac: { HMACSHA1.digest(key: $0, $1) })
        else { return false }
        self.probe = nil
        self.allowance.prove(address)
        return true
    }

    // MARK: Other datagrams

    /// Takes a datagram that is no STUN message. Its content is undefined afterwards, unless the result says that it is decrypted.
    package func receive(
        _ datagram: inout [UInt8], from address: ICEAddress, now: Int64, into output: inout some SessionOutput
    ) -> Content {
        guard self.end == nil, self.agent.isKnown(address, now: now) else { return .stranger }
        self.allowance.received(datagram.count, from: address)
        switch DatagramKind(datagram) {
        case .dtls:
            let wasConnected = self.isConnected
            self.receiveFlight(datagram, from: address, into: &output)
            self.follow(now, address, into: &output)
            return !wasConnected && self.isConnected ? .connected : .dtls
        case .rtp:
            guard let receiver else { return .early }
            return .rtp(receiver.unprotectRTP(&datagram))
        case .rtcp:
            guard let receiver else { return .early }
            return .rtcp(receiver.unprotectRTCP(&datagram))
        case .stun, .other: return .malformed
        }
    }

    /// Protects a compound RTCP packet and sends it to the selected address. The packet is dropped if the handshake is not
    /// complete, no address is selected, or the address may not be sent so many bytes.
    package func sendRTCP(_ packet: [UInt8], into output: inout some SessionOutput) {
        var bytes = packet
        guard let sender, let address = self.agent.selected, sender.protectRTCP(&bytes) == .ok else { return }
        self.send([bytes], to: address, into: &output)
    }

    /// Datagrams beyond the allowance of the address are dropped, as on the network.
    private func send(_ datagrams: [[UInt8]], to address: ICEAddress, into output: inout some SessionOutput) {
        for bytes in datagrams where self.allowance.spend(bytes.count, on: address) {
            output.addAlone(bytes, to: address)
        }
    }

    // MARK: The handshake

    /// Continues the handshake. An address has proved itself when it sends something that depends on what was sent there.
    private func receiveFlight(_ datagram: [UInt8], from address: ICEAddress, into output: inout some SessionOutput) {
        let (hadCookie, hadAnswer) = (self.dtls.hasCookie, self.dtls.hasAnswer)
        let port = [UInt8(address.port >> 8), UInt8(address.port & 0xFF)]
        let answers = self.dtls.receive(datagram, from: address.bytes + port)
        let isAnswer = self.dtls.hasAnswer && !hadAnswer && address == self.flightAddress
        if isAnswer || self.dtls.hasCookie && !hadCookie { self.allowance.prove(address) }
        self.sendFlight(answers, to: address, into: &output)
    }

    private func sendFlight(_ datagrams: [[UInt8]], to address: ICEAddress, into output: inout some SessionOutput) {
        guard !datagrams.isEmpty else { return }
        self.flightAddress = address
        self.send(datagrams, to: address, into: &output)
    }

    /// Acts on the state of the handshake, which a datagram of `address` may have changed.
    private func follow(_ now: Int64, _ address: ICEAddress, into output: inout some SessionOutput) {
        self.handshakeDeadline = self.dtls.nextTimeout().map { now &+ max(0, $0) } ?? .max
        switch self.dtls.state {
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
            self.connectedAt = now
            self.heard(address, now: now)
            output.changes.append(.connected)
        case .closed: self.finish(.closedByPeer, into: &output)
        case .failed(let reason): self.finish(.handshakeFailed(reason), into: &output)
        }
    }

    // MARK: Time and the end

    /// Sends messages of the handshake again, and ends the session when one of its ``Limits`` has passed.
    package func advance(to now: Int64, into output: inout some SessionOutput) {
        guard self.end == nil else { return }
        if now >= self.handshakeDeadline, let address = self.flightAddress ?? self.agent.selected {
            self.sendFlight(self.dtls.handleTimeout(), to: address, into: &output)
            self.follow(now, address, into: &output)
        }
        guard self.end == nil, now >= self.nextCheck else { return }
        self.nextCheck = now &+ Self.checkInterval
        switch self.agent.expiry(now: now) {
        case .neverConnected: return self.finish(.neverChecked, into: &output)
        case .consentLost: return self.finish(.consentLost, into: &output)
        case nil: break
        }
        if self.connectedAt == nil, let firstCheck, now &- firstCheck > self.limits.handshake {
            self.finish(.handshakeTimedOut, into: &output)
        }
    }

    /// Ends the session, and sends close_notify to the selected address if there is one. Does nothing after the end.
    package func finish(_ end: SessionEnd, into output: inout some SessionOutput) {
        guard self.end == nil else { return }
        self.end = end
        if let address = self.agent.selected { self.send(self.dtls.close(), to: address, into: &output) }
        output.changes.append(.ended(end))
    }
}
