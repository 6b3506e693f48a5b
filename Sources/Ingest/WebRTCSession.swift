package import MediaTypes
package import OpenSSLCrypto
package import WebRTC

/// The protocols of one WebRTC publisher: ICE, DTLS, SRTP and its media. Datagrams and the time go in; datagrams to send,
/// source items and changes of the state come out.
///
/// It has no socket, timer or thread. States: checking (no valid connectivity check yet) → handshaking → connected →
/// ended; any → ended. The caller calls ``advance(to:into:)`` at ``deadline`` at the latest. Before a valid check came from
/// an address, only STUN errors are sent there. Before the address has proved in the DTLS handshake that it receives what
/// is sent, it gets no more bytes than came from there.
///
/// Times are nanoseconds of one monotonic clock.
package final class WebRTCSession {
    /// Times in nanoseconds.
    package struct Limits: Sendable, Equatable {
        package var ice = ICELiteAgent.Limits()
        /// From the first valid check to the end of the handshake.
        package var handshake: Int64 = 10_000_000_000
        /// From the end of the handshake to the first RTP packet.
        package var firstMedia: Int64 = 20_000_000_000
        /// Time without RTP and RTCP until the publisher counts as lost. A publisher that has removed its track sends reports only.
        package var silence: Int64 = 2_000_000_000
        /// Time without RTP until the session ends.
        package var idle: Int64 = 90_000_000_000

        package init() {}
    }

    /// Why a session has ended.
    package enum End: Equatable {
        /// No valid check came in time.
        case neverChecked
        /// No valid check for 30 s.
        case consentLost
        case handshakeTimedOut
        case handshakeFailed(String)
        /// The publisher has sent close_notify.
        case closedByPeer
        case noMedia
        case idle
        /// ``WebRTCSession/close(into:)`` was called.
        case closed

        package var text: String {
            switch self {
            case .neverChecked: "no valid connectivity check arrived at the UDP or TCP port in time"
            case .consentLost: "no connectivity check arrived for 30 s"
            case .handshakeTimedOut: "the DTLS handshake took too long"
            case .handshakeFailed(let reason): reason
            case .closedByPeer: "closed by the publisher"
            case .noMedia: "no media arrived after the handshake"
            case .idle: "no media received"
            case .closed: "closed"
            }
        }
    }

    /// Datagrams that were dropped, by their reason.
    package struct Counters: Equatable {
        /// From an address that has not proved that it belongs to the publisher.
        package var strangers: UInt64 = 0
        /// Connectivity checks that were ignored; see ``ICELiteAgent/Refusal``.
        package var badChecks: UInt64 = 0
        package var forged: UInt64 = 0
        package var replayed: UInt64 = 0
        /// Neither STUN, DTLS, RTP nor RTCP, or wrong lengths.
        package var malformed: UInt64 = 0
        package var tooManySources: UInt64 = 0
        /// Media before the end of the handshake.
        package var early: UInt64 = 0
    }

    package let negotiated: NegotiatedSession
    private let limits: Limits
    private var agent: ICELiteAgent
    private let transport: DTLSTransport
    private let isDTLSClient: Bool
    private var hasStarted = false
    private var receiver: SRTPReceiver?
    private var sender: SRTPSender?
    private var media: RTCPeerMedia
    private var assemblies: [MediaAssembly?]
    package private(set) var counters = Counters()
    /// The protection profile; nil before the end of the handshake.
    package private(set) var cipher: String?
    package private(set) var end: End?

    private var allowance = SendAllowance()
    /// Where the last DTLS messages were sent.
    private var flightAddress: ICEAddress?
    /// Bytes of RTP and RTCP packets that were authentic, as they were on the network.
    package private(set) var mediaBytes: UInt64 = 0
    private var firstCheck: Int64?
    private var connectedAt: Int64 = 0
    private var lastRTP: Int64?
    /// Time of the last authentic RTP or RTCP packet, or of the end of the handshake.
    private var lastMedia: Int64 = 0
    /// Where that packet came from, or the address with which the handshake ended.
    private var mediaAddress: ICEAddress?
    private var isSilent = false
    private var handshakeDeadline: Int64 = .max
    /// When the times of ``Limits`` are compared next.
    private var nextCheck: Int64
    /// Reused, so that a packet costs fewer allocations.
    private var packets: [TrackPacket] = []

    private static let checkInterval: Int64 = 500_000_000
    /// Bytes of a ClientHello, sent twice. A DTLS client answers no check before it received so many more bytes: the checks of a
    /// peer that gets no answer are repeated, while those of FFmpeg end with the first answer.
    private static let firstFlights = 2 * 166

    /// - Parameters:
    ///   - credentials: This side's ICE credentials in the answer.
    ///   - localSSRC: SSRC of the receiver in its reports; any number.
    ///   - maxBitrate: Highest bit rate of video in bits per second for publishers that expect REMB.
    /// - Throws: ``MediaError`` if no fingerprint of the offer can be used, or OpenSSL has no memory.
    package init(
        _ negotiated: NegotiatedSession, credentials: ICECredentials, identity: DTLSIdentity, localSSRC: UInt32,
        now: Int64, limits: Limits = Limits(), maxBitrate: Int? = nil, timer: DTLSTransport.Timer = .doubling
    ) throws(MediaError) {
        self.negotiated = negotiated
        self.limits = limits
        self.agent = ICELiteAgent(credentials: credentials, now: now, limits: limits.ice)
        self.isDTLSClient = negotiated.peerIsDTLSServer
        self.transport = try DTLSTransport(
            identity: identity, role: negotiated.peerIsDTLSServer ? .client : .server,
            peerFingerprints: negotiated.fingerprints.map {
                DTLSFingerprint(algorithm: $0.algorithm, bytes: $0.bytes)
            }, timer: timer)
        var settings = RTCPeerMediaSettings()
        settings.localSSRC = localSSRC
        if let maxBitrate {
            let audio = negotiated.tracks.contains { $0.kind == .audio } ? AnswerSettings.audioBitrate : 0
            settings.highestBitRate = maxBitrate + audio
        }
        settings.ignoresKeyFrameRequests = RTCPeerMediaSettings.ignoresKeyFrameRequests(software: negotiated.software)
        self.media = RTCPeerMedia(tracks: negotiated.tracks, settings: settings)
        self.assemblies = negotiated.tracks.map { MediaAssembly(track: $0) }
        self.nextCheck = now &+ Self.checkInterval
    }

    /// The user name fragments that find this session.
    package var ufrags: [String] { self.agent.ufrags }
    /// `udp` or `tcp`; nil before the end of the handshake.
    package var transportName: String? { self.cipher.map { _ in self.agent.selected?.isTCP == true ? "tcp" : "udp" } }
    /// Whether media can be received.
    package var isConnected: Bool { self.receiver != nil && self.end == nil }
    /// Whether the session uses the address, so that no other session may get its datagrams: its handshake is not complete,
    /// or its last media came from there within the time of silence.
    package func isUsing(_ address: ICEAddress, now: Int64) -> Bool {
        guard self.end == nil, self.isKnown(address, now: now) else { return false }
        guard self.isConnected else { return true }
        return self.mediaAddress == address && now &- self.lastMedia < self.limits.silence
    }
    /// Whether a valid check came from the address, and consent lasts.
    package func isKnown(_ address: ICEAddress, now: Int64) -> Bool { self.agent.isKnown(address, now: now) }

    /// Records that the TCP connection of an address was closed.
    package func lost(_ address: ICEAddress) { self.agent.remove(address) }

    /// Begins an ICE restart with new credentials of this side.
    package func restart(credentials: ICECredentials) { self.agent.restart(credentials: credentials) }

    /// Counters and measurements of the media.
    package func statistics(now: Int64) -> (media: RTCMediaStatistics, assemblies: [MediaAssembly.Counters]) {
        (self.media.statistics(at: now), self.assemblies.compactMap { $0?.counters })
    }

    /// When ``advance(to:into:)`` has something to do; nil once the session has ended.
    package var deadline: Int64? {
        guard self.end == nil else { return nil }
        return min(self.nextCheck, min(self.handshakeDeadline, self.media.deadline ?? .max))
    }

    // MARK: Datagrams

    /// Takes a connectivity check that was sent to one of ``ufrags``.
    package func receive(
        _ check: STUNMessage, from address: ICEAddress, now: Int64, into output: inout WebRTCSessionOutput
    ) {
        guard self.end == nil else { return }
        switch self.agent.receive(check, from: address, now: now, hmac: { HMACSHA1.digest(key: $0, $1) }) {
        case .ignored: self.counters.badChecks += 1
        case .answer(let bytes, _):
            // An error, which is not longer than the check.
            guard self.agent.isKnown(address, now: now) else {
                return output.datagrams.append(WebRTCSessionOutput.Datagram(bytes: bytes, address: address))
            }
            if self.firstCheck == nil { self.firstCheck = now }
            output.changes.append(.known(address))
            self.allowance.received(check.bytes.count, from: address)
            let isStart = self.isDTLSClient && !self.hasStarted
            if isStart, self.allowance.left(for: address) < bytes.count + Self.firstFlights { return }
            self.send([bytes], to: address, into: &output)
            guard isStart else { return }
            self.hasStarted = true
            self.sendFlight(self.transport.start(), to: address, into: &output)
            self.handshake(now, address, into: &output)
        }
    }

    /// Takes any other datagram, whose content is undefined afterwards.
    package func receive(
        _ datagram: inout [UInt8], from address: ICEAddress, now: Int64, into output: inout WebRTCSessionOutput
    ) {
        guard self.end == nil else { return }
        guard self.agent.isKnown(address, now: now) else {
            self.counters.strangers += 1
            return
        }
        let count = datagram.count
        self.allowance.received(count, from: address)
        switch DatagramKind(datagram) {
        case .dtls:
            self.receiveFlight(datagram, from: address, into: &output)
            self.handshake(now, address, into: &output)
        case .rtp:
            guard let receiver = self.receiver else { return self.counters.early += 1 }
            guard self.count(receiver.unprotectRTP(&datagram)) else { return }
            self.receivedMedia(count, from: address, now)
            self.lastRTP = now
            if self.isSilent {
                self.isSilent = false
                output.changes.append(.resumed)
            }
            _ = self.media.receiveRTP(datagram, at: now, into: &self.packets)
            self.assemble(now, into: &output)
        case .rtcp:
            guard let receiver = self.receiver else { return self.counters.early += 1 }
            guard self.count(receiver.unprotectRTCP(&datagram)) else { return }
            self.receivedMedia(count, from: address, now)
            // A goodbye needs no action: another SSRC may follow it, or silence.
            _ = self.media.receiveRTCP(datagram, at: now)
        case .stun, .other: self.counters.malformed += 1
        }
    }

    private func receivedMedia(_ bytes: Int, from address: ICEAddress, _ now: Int64) {
        self.mediaBytes &+= UInt64(bytes)
        self.lastMedia = now
        self.mediaAddress = address
    }

    /// Continues the handshake. An address has proved itself when it sends something that depends on what was sent there.
    private func receiveFlight(
        _ datagram: [UInt8], from address: ICEAddress, into output: inout WebRTCSessionOutput
    ) {
        let (hadCookie, hadAnswer) = (self.transport.hasCookie, self.transport.hasAnswer)
        let port = [UInt8(address.port >> 8), UInt8(address.port & 0xFF)]
        let answers = self.transport.receive(datagram, from: address.bytes + port)
        let isAnswer = self.transport.hasAnswer && !hadAnswer && address == self.flightAddress
        if isAnswer || self.transport.hasCookie && !hadCookie { self.allowance.prove(address) }
        self.sendFlight(answers, to: address, into: &output)
    }

    /// Counts the result and returns whether the packet is authentic.
    private func count(_ result: SRTPResult) -> Bool {
        switch result {
        case .ok: return true
        case .replay: self.counters.replayed += 1
        case .forged: self.counters.forged += 1
        case .malformed, .exhausted: self.counters.malformed += 1
        case .tooManySSRCs: self.counters.tooManySources += 1
        }
        return false
    }

    private func assemble(_ now: Int64, into output: inout WebRTCSessionOutput) {
        for packet in self.packets {
            self.assemblies[packet.track]?.receive(packet.packet, time: packet.time, into: &output.items)
        }
        self.packets.removeAll(keepingCapacity: true)
        for track in self.assemblies.indices where self.assemblies[track]?.needsKeyFrame == true {
            self.media.requestKeyFrame(track: track, at: now)
        }
    }

    /// Asks for a key frame of every video track.
    package func requestKeyFrames(now: Int64) {
        for (index, track) in self.negotiated.tracks.enumerated() where track.kind == .video {
            self.media.requestKeyFrame(track: index, at: now)
        }
    }

    // MARK: Time and the handshake

    /// Sends what is due, gives out what no longer waits for lost packets, reports silence, and ends the session when one
    /// of its ``Limits`` has passed.
    package func advance(to now: Int64, into output: inout WebRTCSessionOutput) {
        guard self.end == nil else { return }
        if now >= self.handshakeDeadline {
            if let address = self.flightAddress ?? self.agent.selected {
                self.sendFlight(self.transport.handleTimeout(), to: address, into: &output)
                self.handshake(now, address, into: &output)
            }
        }
        if self.end == nil, let due = self.media.deadline, now >= due {
            let reports = self.media.advance(to: now, into: &self.packets)
            for report in reports {
                var bytes = report
                guard let sender = self.sender, let address = self.agent.selected,
                    sender.protectRTCP(&bytes) == .ok
                else { continue }
                self.send([bytes], to: address, into: &output)
            }
            self.assemble(now, into: &output)
        }
        guard self.end == nil, now >= self.nextCheck else { return }
        self.nextCheck = now &+ Self.checkInterval
        self.compareTimes(now, into: &output)
    }

    private func compareTimes(_ now: Int64, into output: inout WebRTCSessionOutput) {
        switch self.agent.expiry(now: now) {
        case .neverConnected: return self.finish(.neverChecked, into: &output)
        case .consentLost: return self.finish(.consentLost, into: &output)
        case nil: break
        }
        guard self.receiver != nil else {
            guard let firstCheck = self.firstCheck, now &- firstCheck > self.limits.handshake else { return }
            return self.finish(.handshakeTimedOut, into: &output)
        }
        guard let lastRTP = self.lastRTP else {
            guard now &- self.connectedAt > self.limits.firstMedia else { return }
            return self.finish(.noMedia, into: &output)
        }
        if now &- lastRTP > self.limits.idle { return self.finish(.idle, into: &output) }
        guard !self.isSilent, now &- self.lastMedia >= self.limits.silence else { return }
        self.isSilent = true
        output.changes.append(.silent)
    }

    /// Acts on the state of the handshake, which a datagram of `address` may have changed.
    private func handshake(_ now: Int64, _ address: ICEAddress, into output: inout WebRTCSessionOutput) {
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
            self.connectedAt = now
            self.lastMedia = now
            self.mediaAddress = address
            output.changes.append(.connected)
        case .closed: self.finish(.closedByPeer, into: &output)
        case .failed(let reason): self.finish(.handshakeFailed(reason), into: &output)
        }
    }

    private func sendFlight(
        _ datagrams: [[UInt8]], to address: ICEAddress, into output: inout WebRTCSessionOutput
    ) {
        guard !datagrams.isEmpty else { return }
        self.flightAddress = address
        self.send(datagrams, to: address, into: &output)
    }

    /// Datagrams beyond the allowance of the address are dropped, as on the network.
    private func send(_ datagrams: [[UInt8]], to address: ICEAddress, into output: inout WebRTCSessionOutput) {
        for bytes in datagrams where self.allowance.spend(bytes.count, on: address) {
            output.datagrams.append(WebRTCSessionOutput.Datagram(bytes: bytes, address: address))
        }
    }

    // MARK: The end

    /// Ends the session with close_notify. Does nothing after its end.
    package func close(into output: inout WebRTCSessionOutput) { self.finish(.closed, into: &output) }

    private func finish(_ end: End, into output: inout WebRTCSessionOutput) {
        guard self.end == nil else { return }
        self.end = end
        if let address = self.agent.selected { self.send(self.transport.close(), to: address, into: &output) }
        output.changes.append(.ended(end))
    }
}
