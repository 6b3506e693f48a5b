import MediaTypes

/// Who asks to publish over SRT.
package struct SRTCaller: Sendable, Hashable {
    /// nil: it gave none. Secret.
    package var streamID: String?
    /// `SRT 1.5.1`, or `SRT`.
    package var software: String

    package init(streamID: String?, software: String) {
        self.streamID = streamID
        self.software = software
    }
}

/// The side of an SRT listener that many callers meet on one port. Pure: datagrams in, one action out.
///
/// libsrt's listener, as libavformat opens it, takes one caller and does not tell what stream id it gave. So this front does
/// the first half of the handshake itself: it answers inductions without keeping anything, and reads from the conclusion who
/// asks for what. Whoever is let in gets a listener of its own on loopback, which is led through the same handshake; only
/// the cookie in the conclusion differs. From then on datagrams pass as they are in both directions, so that encryption,
/// retransmission and timing stay what the two libraries agree on.
///
/// A peer: (unknown) → deciding (``receive(_:from:now:)``) → joining (``admit(_:)``) → concluding (the listener has given its
/// cookie) → relaying (it has agreed); deciding or concluding → refused (``refuse(_:code:now:)``, or the listener has said no);
/// any → unknown (``forget(_:)``). Those that are refused are remembered apart, and only the last of them: they take nobody's
/// place.
///
/// Spec: draft-sharabayko-srt-01 §4.3.1.
package struct SRTFront<Peer: Hashable & Sendable>: Sendable {
    package enum Action: Sendable, Hashable {
        case drop
        /// The datagram goes on as it is: to the listener, or to the peer.
        case forward
        /// For the peer.
        case answer([UInt8])
        /// For the listener.
        case ask([UInt8])
        /// Somebody asks to publish: ``admit(_:)`` or ``refuse(_:code:now:)`` follows.
        case decide(SRTCaller)
        /// The listener agrees. The datagram goes to the peer, or ``refuse(_:code:now:)`` follows.
        case established
        /// The listener has refused, for SRT's own reasons; the datagram goes to the peer.
        case refusedByListener(code: Int)
        /// The peer takes leave; the datagram goes to the listener.
        case left
    }

    private enum State: Sendable, Hashable {
        case deciding
        case joining
        case concluding(cookie: UInt32)
        case relaying(cookie: UInt32)
    }

    private struct Refusal: Sendable {
        var code: Int
        var until: Int64
    }

    private struct Entry: Sendable {
        var state = State.deciding
        var conclusion: [UInt8]
        var heard: Int64
    }

    /// How long a refused peer is told so when it asks again, in nanoseconds: it repeats what it said until it has an answer.
    private static var refusalMemory: Int64 { 3_000_000_000 }
    /// Refused peers that are remembered. Of more the oldest is forgotten: when it asks again it is judged again.
    package static var maximumRefusals: Int { 256 }
    /// SRT itself gives up after five seconds.
    private static var silence: Int64 { 15_000_000_000 }
    /// A conclusion that is longer than this is none.
    private static var longestConclusion: Int { 1500 }
    /// SRT_REJ_VERSION: callers of before 2018 have no stream id.
    private static var oldVersion: Int { 8 }
    /// How long a cookie is good, at least.
    private static var cookieTime: Int64 { 64_000_000_000 }

    private let secret: UInt64
    private let maximumPeers: Int
    private var entries: [Peer: Entry] = [:]
    private var refusals: [Peer: Refusal] = [:]

    /// - Parameters:
    ///   - secret: Random; what cookies are made of.
    ///   - maximumPeers: Without those that are refused.
    package init(secret: UInt64, maximumPeers: Int) {
        self.secret = secret
        self.maximumPeers = maximumPeers
    }

    /// Peers that are known, those that are refused included.
    package var count: Int { self.entries.count + self.refusals.count }

    /// A datagram came from outside.
    package mutating func receive(_ bytes: [UInt8], from peer: Peer, now: Int64) -> Action {
        if let refusal = self.refusals[peer] {
            guard now < refusal.until else {
                self.refusals[peer] = nil
                return self.meet(bytes, peer, now)
            }
            guard SRTHandshake(bytes)?.type == SRTHandshake.conclusion else { return .drop }
            return .answer(SRTHandshake.refusal(of: bytes, code: refusal.code))
        }
        guard let entry = self.entries[peer] else { return self.meet(bytes, peer, now) }
        self.entries[peer]?.heard = now
        switch entry.state {
        case .relaying(let cookie):
            guard let handshake = SRTHandshake(bytes) else {
                return bytes.count >= 16 && bytes[0] == 0x80 && bytes[1] == 5 ? .left : .forward
            }
            // It did not hear the listener's answer, and knows our cookie, not the listener's.
            guard handshake.type == SRTHandshake.conclusion else { return .drop }
            return .ask(SRTHandshake.conclusion(bytes, cookie: cookie))
        case .deciding, .joining, .concluding: return .drop
        }
    }

    /// The fast path: whether what `peer` sends is passed on without being looked at, but for control packets.
    package mutating func passes(_ firstByte: UInt8, from peer: Peer, now: Int64) -> Bool {
        guard firstByte & 0x80 == 0, let entry = self.entries[peer], case .relaying = entry.state else { return false }
        self.entries[peer]?.heard = now
        return true
    }

    private mutating func meet(_ bytes: [UInt8], _ peer: Peer, _ now: Int64) -> Action {
        guard bytes.count <= Self.longestConclusion, let handshake = SRTHandshake(bytes) else { return .drop }
        switch handshake.type {
        case SRTHandshake.induction:
            return .answer(SRTHandshake.inductionAnswer(to: bytes, cookie: self.cookie(for: peer, now: now)))
        case SRTHandshake.conclusion:
            guard self.isOurs(handshake.cookie, peer, now), self.entries.count < self.maximumPeers else { return .drop }
            guard handshake.version >= 5 else {
                return .answer(SRTHandshake.refusal(of: bytes, code: Self.oldVersion))
            }
            guard let extensions = SRTHandshake.extensions(of: bytes) else { return .drop }
            self.entries[peer] = Entry(conclusion: bytes, heard: now)
            let version = extensions.softwareVersion
            let software =
                version == 0 ? "SRT" : "SRT \(version >> 16 & 0xff).\(version >> 8 & 0xff).\(version & 0xff)"
            return .decide(SRTCaller(streamID: extensions.streamID, software: software))
        default: return .drop
        }
    }

    /// It is let in, and a listener is there for it, or will be soon: what is asked of the listener.
    package mutating func admit(_ peer: Peer) -> Action {
        guard let entry = self.entries[peer], entry.state == .deciding else { return .drop }
        self.entries[peer]?.state = .joining
        return .ask(SRTHandshake.induction(from: entry.conclusion))
    }

    /// What is asked of the listener once more, because a datagram to a port that is not open yet is lost.
    package func retry(_ peer: Peer) -> Action {
        guard let entry = self.entries[peer] else { return .drop }
        switch entry.state {
        case .joining: return .ask(SRTHandshake.induction(from: entry.conclusion))
        case .concluding(let cookie): return .ask(SRTHandshake.conclusion(entry.conclusion, cookie: cookie))
        default: return .drop
        }
    }

    /// - Parameter code: 1000 and more: SRT Access Control Guidelines.
    package mutating func refuse(_ peer: Peer, code: Int, now: Int64) -> Action {
        guard let entry = self.entries[peer] else { return .drop }
        self.remember(peer, code, now)
        return .answer(SRTHandshake.refusal(of: entry.conclusion, code: code))
    }

    /// A datagram came from the listener of `peer`.
    package mutating func receive(_ bytes: [UInt8], fromListenerOf peer: Peer, now: Int64) -> Action {
        guard let entry = self.entries[peer] else { return .drop }
        switch entry.state {
        case .relaying: return .forward
        case .joining:
            guard let handshake = SRTHandshake(bytes), handshake.type == SRTHandshake.induction else { return .drop }
            self.entries[peer]?.state = .concluding(cookie: handshake.cookie)
            return .ask(SRTHandshake.conclusion(entry.conclusion, cookie: handshake.cookie))
        case .concluding(let cookie):
            guard let handshake = SRTHandshake(bytes) else { return .drop }
            if handshake.type == SRTHandshake.conclusion {
                self.entries[peer]?.state = .relaying(cookie: cookie)
                return .established
            }
            guard handshake.type >= SRTHandshake.refusals else { return .drop }
            let code = Int(handshake.type - SRTHandshake.refusals)
            self.remember(peer, code, now)
            return .refusedByListener(code: code)
        case .deciding: return .drop
        }
    }

    private mutating func remember(_ peer: Peer, _ code: Int, _ now: Int64) {
        self.entries[peer] = nil
        if self.refusals.count >= Self.maximumRefusals,
            let oldest = self.refusals.min(by: { $0.value.until < $1.value.until })
        {
            self.refusals[oldest.key] = nil
        }
        self.refusals[peer] = Refusal(code: code, until: now &+ Self.refusalMemory)
    }

    /// The peer is nobody any more.
    package mutating func forget(_ peer: Peer) {
        self.entries[peer] = nil
        self.refusals[peer] = nil
    }

    /// Its listener is gone. A refusal is remembered all the same, so that it is told when it asks again.
    package mutating func release(_ peer: Peer) { self.entries[peer] = nil }

    /// Peers that have said nothing for a long time, and refusals that have been said: those are forgotten.
    ///
    /// - Returns: The silent ones, which the caller lets go.
    package mutating func sweep(now: Int64) -> [Peer] {
        self.refusals = self.refusals.filter { now < $0.value.until }
        return self.entries.filter { now &- $0.value.heard >= Self.silence }.map(\.key)
    }

    // MARK: Cookies

    private func cookie(for peer: Peer, now: Int64, back: Int64 = 0) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(self.secret)
        hasher.combine(peer)
        hasher.combine(now / Self.cookieTime &- back)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    /// Whoever shows it has read what was sent to its address.
    private func isOurs(_ cookie: UInt32, _ peer: Peer, _ now: Int64) -> Bool {
        cookie == self.cookie(for: peer, now: now) || cookie == self.cookie(for: peer, now: now, back: 1)
    }
}
