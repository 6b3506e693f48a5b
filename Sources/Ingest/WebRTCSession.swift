package import MediaTypes
package import OpenSSLCrypto
package import WebRTC

/// The protocols of one WebRTC publisher: its transport and its media. Datagrams and the time go in; datagrams to send,
/// source items and changes of the state come out.
///
/// It has no socket, timer or thread. The caller calls ``advance(to:into:)`` at ``deadline`` at the latest. ``PeerTransport``
/// has the states, and limits what is sent before the client has proved its address.
///
/// Times are nanoseconds of one monotonic clock.
package final class WebRTCSession {
    /// Time limits of a publisher's session, in nanoseconds.
    package struct Limits: Sendable, Equatable {
        package var transport = PeerTransport.Limits()
        /// Maximum time from the end of the handshake to the first RTP packet.
        package var firstMedia: Int64 = 20_000_000_000
        /// Time without RTP and RTCP until the publisher counts as lost. A publisher that has removed its track sends reports only.
        package var silence: Int64 = 2_000_000_000
        /// Time without RTP until the session ends.
        package var idle: Int64 = 90_000_000_000

        package init() {}
    }

    /// Datagrams that were dropped, by their reason.
    package struct Counters: Equatable {
        /// From an address without a valid connectivity check, or after the end of the session.
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
    private let transport: PeerTransport
    private var media: RTCPeerMedia
    private var assemblies: [MediaAssembly?]
    package private(set) var counters = Counters()
    /// Bytes of RTP and RTCP packets that were authentic, as they were on the network.
    package private(set) var mediaBytes: UInt64 = 0
    private var lastRTP: Int64?
    private var isSilent = false
    /// Reused, so that a packet costs fewer allocations.
    private var packets: [TrackPacket] = []

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
        // A publisher gets reports only, which are fewer bytes than its media.
        self.transport = try PeerTransport(
            negotiated, credentials: credentials, identity: identity, probes: false, now: now,
            limits: limits.transport, timer: timer)
        var settings = RTCPeerMediaSettings()
        settings.localSSRC = localSSRC
        if let maxBitrate {
            let audio = negotiated.tracks.contains { $0.kind == .audio } ? AnswerSettings.audioBitrate : 0
            settings.highestBitRate = maxBitrate + audio
        }
        settings.ignoresKeyFrameRequests = RTCPeerMediaSettings.ignoresKeyFrameRequests(software: negotiated.software)
        self.media = RTCPeerMedia(tracks: negotiated.tracks, settings: settings)
        self.assemblies = negotiated.tracks.map { MediaAssembly(track: $0) }
    }

    /// This side's ICE user name fragments: connectivity checks with one of them are for this session.
    package var ufrags: [String] { self.transport.ufrags }
    /// The protection profile; nil before the end of the handshake.
    package var cipher: String? { self.transport.cipher }
    /// `udp` or `tcp`; nil before the end of the handshake.
    package var transportName: String? {
        self.cipher.map { _ in self.transport.selected?.isTCP == true ? "tcp" : "udp" }
    }
    package var end: SessionEnd? { self.transport.end }
    /// Whether media can be received.
    package var isConnected: Bool { self.transport.isConnected }
    /// Whether the session uses the address, so that no other session may get its datagrams: its handshake is not complete,
    /// or its last media came from there within the time of silence.
    package func isUsing(_ address: ICEAddress, now: Int64) -> Bool {
        self.transport.isUsing(address, now: now, silence: self.limits.silence)
    }
    /// Whether a valid check came from the address, and consent lasts.
    package func isKnown(_ address: ICEAddress, now: Int64) -> Bool { self.transport.isKnown(address, now: now) }

    /// Records that the TCP connection of an address was closed.
    package func lost(_ address: ICEAddress) { self.transport.lost(address) }

    /// Begins an ICE restart with new credentials of this side and of the publisher.
    package func restart(credentials: ICECredentials, remote: ICECredentials) {
        self.transport.restart(credentials: credentials, remote: remote)
    }

    /// Counters and measurements of the media.
    package func statistics(now: Int64) -> (media: RTCMediaStatistics, assemblies: [MediaAssembly.Counters]) {
        (self.media.statistics(at: now), self.assemblies.compactMap { $0?.counters })
    }

    /// When ``advance(to:into:)`` has something to do; nil once the session has ended.
    package var deadline: Int64? { self.transport.deadline.map { min($0, self.media.deadline ?? .max) } }

    // MARK: Datagrams

    /// Takes a connectivity check that was sent to one of ``ufrags``.
    package func receive(
        _ check: STUNMessage, from address: ICEAddress, now: Int64, into output: inout WebRTCSessionOutput
    ) {
        if self.transport.receive(check, from: address, now: now, into: &output) == .ignored {
            self.counters.badChecks += 1
        }
    }

    /// Takes any other datagram, whose content is undefined afterwards.
    package func receive(
        _ datagram: inout [UInt8], from address: ICEAddress, now: Int64, into output: inout WebRTCSessionOutput
    ) {
        let count = datagram.count
        switch self.transport.receive(&datagram, from: address, now: now, into: &output) {
        case .stranger: self.counters.strangers += 1
        case .malformed: self.counters.malformed += 1
        case .early: self.counters.early += 1
        case .dtls, .connected: break
        case .rtp(let result):
            guard self.count(result) else { return }
            self.receivedMedia(count, from: address, now)
            self.lastRTP = now
            if self.isSilent {
                self.isSilent = false
                output.changes.append(.resumed)
            }
            _ = self.media.receiveRTP(datagram, at: now, into: &self.packets)
            self.assemble(now, into: &output)
        case .rtcp(let result):
            guard self.count(result) else { return }
            self.receivedMedia(count, from: address, now)
            // A goodbye needs no action: another SSRC may follow it, or silence.
            _ = self.media.receiveRTCP(datagram, at: now)
        }
    }

    private func receivedMedia(_ bytes: Int, from address: ICEAddress, _ now: Int64) {
        self.mediaBytes &+= UInt64(bytes)
        self.transport.heard(address, now: now)
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

    // MARK: Time and the end

    /// Sends what is due, gives out what no longer waits for lost packets, reports silence, and ends the session when one
    /// of its ``Limits`` has passed.
    package func advance(to now: Int64, into output: inout WebRTCSessionOutput) {
        self.transport.advance(to: now, into: &output)
        guard self.end == nil else { return }
        if let due = self.media.deadline, now >= due {
            for report in self.media.advance(to: now, into: &self.packets) {
                self.transport.sendRTCP(report, into: &output)
            }
            self.assemble(now, into: &output)
        }
        guard let connectedAt = self.transport.connectedAt else { return }
        guard let lastRTP = self.lastRTP else {
            if now &- connectedAt > self.limits.firstMedia { self.transport.finish(.noMedia, into: &output) }
            return
        }
        if now &- lastRTP > self.limits.idle { return self.transport.finish(.idle, into: &output) }
        guard !self.isSilent, now &- self.transport.lastHeard >= self.limits.silence else { return }
        self.isSilent = true
        output.changes.append(.silent)
    }

    /// Ends the session with close_notify. Does nothing after its end.
    package func close(into output: inout WebRTCSessionOutput) { self.transport.finish(.closed, into: &output) }
}
