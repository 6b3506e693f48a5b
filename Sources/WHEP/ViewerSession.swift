package import MediaTypes
package import OpenSSLCrypto
package import WebRTC

/// The protocols of one viewer: its transport and the packets of its rendition. Datagrams, the rendition and the time go
/// in; datagrams to send and changes of the state come out.
///
/// It has no socket, timer or thread. The caller calls ``send(_:now:into:)`` when the rendition has new packets, and
/// ``advance(_:to:into:)`` at ``deadline`` at the latest. States and rules of sending are those of ``PeerTransport``: media only
/// goes to an address that has proved that it receives it.
///
/// Times are nanoseconds of one monotonic clock.
package final class ViewerSession {
    /// Limits of a viewer's session; times in nanoseconds.
    package struct Limits: Sendable, Equatable {
        package var transport = PeerTransport.Limits()
        package var flow = ViewerFlow.Limits()
        /// Maximum delay of a viewer's video; a viewer that is further behind continues with a key frame.
        package var mostDelay: Int64 = 2_000_000_000
        /// The cached group of frames is sent again after this time at the earliest.
        package var groupInterval: Int64 = 300_000_000

        package init() {}
    }

    package let negotiated: NegotiatedSession
    let sources: ViewerSources
    let limits: Limits
    let transport: PeerTransport
    var video: TrackSender?
    var audio: TrackSender?
    var flow: ViewerFlow
    var budget: PaceBudget
    var repairs: TokenBucket
    package internal(set) var counters = ViewerCounters()
    /// Round-trip time in nanoseconds, by the viewer's reports; nil while unknown.
    package internal(set) var roundTrip: Int64?

    /// The viewer's latest estimate of its network (REMB) in bits per second.
    var estimate: (bitRate: UInt64, at: Int64)?
    var nextReport: Int64 = .max
    /// Whether packets wait because of ``budget``, or of a full connection.
    private var isBehind = false
    /// Addresses whose TCP connection is full.
    private var full: Set<ICEAddress> = []
    /// When the viewer was last sent the cached group of frames (`.max` after it was repeated), and the index of its first
    /// packet.
    var groupSent: (at: Int64, keyStart: Int64)?
    /// Key frame up to which groups have been counted as skipped.
    private var countedKey: Int64 = -1
    /// Greatest sum of lost packets that a report had, by SSRC.
    var reportedLoss: [UInt32: Int32] = [:]
    /// Reused, so that a packet costs fewer allocations.
    private var scratch: [UInt8] = []

    /// - Parameters:
    ///   - credentials: This side's ICE credentials in the answer.
    ///   - random: Random bits for sequence numbers and time stamps, for video and for audio.
    /// - Throws: ``MediaError`` if no fingerprint of the offer can be used, or OpenSSL has no memory.
    package init(
        _ negotiated: NegotiatedSession, credentials: ICECredentials, identity: DTLSIdentity, sources: ViewerSources,
        random: (UInt64, UInt64), now: Int64, limits: Limits = Limits(), timer: DTLSTransport.Timer = .doubling
    ) throws(MediaError) {
        self.negotiated = negotiated
        self.sources = sources
        self.limits = limits
        self.transport = try PeerTransport(
            negotiated, credentials: credentials, identity: identity, probes: true, now: now,
            limits: limits.transport, timer: timer)
        for track in negotiated.tracks {
            if track.kind == .video {
                self.video = TrackSender(track, sources: sources, random: random.0)
            } else {
                self.audio = TrackSender(track, sources: sources, random: random.1)
            }
        }
        self.flow = ViewerFlow(now: now, limits: limits.flow)
        self.budget = PaceBudget(now: now)
        self.repairs = TokenBucket((perSecond: 1_000, burst: 500), now: now)
    }

    /// This side's ICE user name fragments: connectivity checks with one of them are for this session.
    package var ufrags: [String] { self.transport.ufrags }
    /// The protection profile; nil before the end of the handshake.
    package var cipher: String? { self.transport.cipher }
    package var end: SessionEnd? { self.transport.end }
    /// Whether the handshake is complete and the session has not ended.
    package var isConnected: Bool { self.transport.isConnected }
    /// Whether a valid check came from the address, and the consent to send there has not expired.
    package func isKnown(_ address: ICEAddress, now: Int64) -> Bool { self.transport.isKnown(address, now: now) }
    /// Whether the session uses the address, so that no other session may get its datagrams: its handshake is not complete,
    /// or the viewer was last heard there within the time of silence.
    package func isUsing(_ address: ICEAddress, now: Int64) -> Bool {
        self.transport.isUsing(address, now: now, silence: self.limits.flow.silence)
    }

    /// Records that the TCP connection of an address was closed.
    package func lost(_ address: ICEAddress) {
        self.full.remove(address)
        self.transport.lost(address)
    }

    /// Records whether the TCP connection of an address is full. Then the viewer gets no media there: packets wait in the
    /// rendition's history, and video that has waited for ``Limits/mostDelay`` is left out up to a key frame.
    package func setFull(_ isFull: Bool, _ address: ICEAddress, now: Int64) {
        self.full = self.full.filter { $0 != address && self.isKnown($0, now: now) }
        if isFull { self.full.insert(address) }
    }

    /// Whether media for the address has to wait.
    func isFull(_ address: ICEAddress) -> Bool { address.isTCP && self.full.contains(address) }

    /// Begins an ICE restart with new credentials of this side and of the viewer.
    package func restart(credentials: ICECredentials, remote: ICECredentials) {
        self.transport.restart(credentials: credentials, remote: remote)
    }

    /// When ``advance(_:to:into:)`` has something to do; nil once the session has ended.
    package var deadline: Int64? {
        guard var due = self.transport.deadline else { return nil }
        due = min(due, self.nextReport)
        if self.isBehind, let media = self.transport.media, !self.isFull(media.address) {
            due = min(due, self.lastSend &+ PaceBudget.interval)
        }
        return due
    }

    // MARK: Media

    private var lastSend: Int64 = 0

    /// Begins to send: audio with the next packet, video with the latest key frame, or with the next one if there is none.
    func beginMedia(_ stream: RenditionStream, now: Int64) {
        self.audio?.begin(stream.audio.end)
        self.nextReport = now
        self.flow.heard(now: now)
        self.beginGroup(stream, now)
    }

    /// Begins with the latest key frame; does nothing if there is none.
    func beginGroup(_ stream: RenditionStream, _ now: Int64) {
        guard self.video != nil, let key = stream.video.keyStart else { return }
        self.video?.beginGroup(at: key, in: stream.video)
        self.groupSent = (now, key)
        self.countedKey = key
    }

    /// Sends the packets of the rendition that the viewer does not have yet.
    package func send(_ stream: RenditionStream, now: Int64, into output: inout ViewerOutput) {
        guard let (sender, address) = self.transport.media else { return }
        self.lastSend = now
        self.isBehind = false
        if self.flow.isSilent(now: now) {
            self.video?.begin(nil)
            self.audio?.begin(nil)
            return
        }
        if self.audio != nil, self.audio?.next == nil { self.audio?.begin(stream.audio.end) }
        let isFull = self.isFull(address)
        if !isFull { self.sendAudio(stream.audio, sender, to: address, into: &output) }
        guard self.video != nil else { return }
        self.budget.refill(now: now, bitrate: stream.bitrate(now: now))
        self.place(stream, now, isFull: isFull)
        while !isFull, self.budget.isOpen, self.video?.take(from: stream.video, into: &self.scratch) == true {
            guard self.protect(sender, to: address, into: &output) else { return }
            self.video?.keep(self.scratch)
            self.budget.spend(self.scratch.count)
        }
        self.isBehind = self.video?.next.map { $0 < stream.video.end } ?? false
    }

    private func sendAudio(
        _ history: PacketHistory, _ sender: SRTPSender, to address: ICEAddress, into output: inout ViewerOutput
    ) {
        if let next = self.audio?.next, next < history.start { self.audio?.begin(history.end) }
        while self.audio?.take(from: history, into: &self.scratch) == true {
            guard self.protect(sender, to: address, into: &output) else { return }
            self.audio?.keep(self.scratch)
        }
    }

    /// Protects the packet in ``scratch`` and adds it to the output.
    private func protect(_ sender: SRTPSender, to address: ICEAddress, into output: inout ViewerOutput) -> Bool {
        guard sender.protectRTP(&self.scratch) == .ok else { return false }
        output.add(self.scratch, to: address)
        self.counters.packets &+= 1
        self.counters.bytes &+= UInt64(self.scratch.count)
        return true
    }

    /// Decides where the video of this viewer continues.
    ///
    /// - Parameter isFull: Whether the viewer gets nothing now.
    private func place(_ stream: RenditionStream, _ now: Int64, isFull: Bool) {
        let history = stream.video
        if self.flow.isPaused(now: now) {
            self.video?.begin(nil)
            self.countSkipped(history)
            return
        }
        guard let next = self.video?.next else {
            if isFull { return self.countSkipped(history) }
            // After a pause only a new key frame will do: the group of an old one would be late.
            guard let key = history.keyStart, key > self.countedKey || self.groupSent == nil else { return }
            return self.beginGroup(stream, now)
        }
        let isLate = history[next].map { now &- $0.arrival > self.limits.mostDelay } ?? (next < history.start)
        guard isLate else { return }
        self.video?.begin(nil)
        self.countSkipped(history)
        if !isFull, let key = history.keyStart, key > next { self.beginGroup(stream, now) }
    }

    private func countSkipped(_ history: PacketHistory) {
        guard let key = history.keyStart, key > self.countedKey else { return }
        self.countedKey = key
        self.counters.skippedGroups &+= 1
    }

    // MARK: Time

    /// Sends what is due, and ends the session if it has timed out.
    package func advance(_ stream: RenditionStream, to now: Int64, into output: inout ViewerOutput) {
        self.transport.advance(to: now, into: &output)
        guard self.end == nil else { return }
        if self.isBehind, now >= self.lastSend &+ PaceBudget.interval { self.send(stream, now: now, into: &output) }
        if now >= self.nextReport { self.report(stream, now, into: &output) }
    }

    /// Ends the session with close_notify. Does nothing after its end.
    package func close(into output: inout ViewerOutput) { self.transport.finish(.closed, into: &output) }
}
