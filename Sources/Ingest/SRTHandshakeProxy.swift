/// A caller that asks to publish over SRT.
package struct SRTCaller: Sendable, Hashable {
    /// The caller's stream id, which holds the stream key and must not be logged; nil if the caller sent none.
    package var streamID: String?
    /// The caller's SRT library with its version, such as `SRT 1.5.1`; `SRT` if the version is not known.
    package var software: String

    package init(streamID: String?, software: String) {
        self.streamID = streamID
        self.software = software
    }
}

/// Does the first part of the SRT handshake for many callers on one port. Pure: datagrams in, one action out.
///
/// libsrt's listener, as libavformat opens it, takes one caller and does not report its stream id. So this type does
/// the first part of the handshake itself: it answers inductions without keeping state, and reads the caller's request
/// from the conclusion. An accepted caller gets a libsrt listener of its own on loopback, which goes through the same
/// handshake; only the cookie in the conclusion differs. From then on datagrams pass unchanged in both directions, so
/// encryption, retransmission and timing remain between the two libraries.
///
/// States of a peer: (unknown) → deciding (``receive(_:from:now:)``) → joining (``admit(_:)``) → concluding (the
/// listener has sent its cookie) → relaying (the listener has accepted); any of these → refused
/// (``refuse(_:code:now:)``), and concluding → refused (by the listener); any → unknown (``forget(_:)``). Refused peers are remembered
/// separately, at most ``maximumRefusals`` of them, and do not count for the maximum number of peers.
///
/// Spec: draft-sharabayko-srt-01 §4.3.1.
package struct SRTHandshakeProxy<Peer: Hashable & Sendable>: Sendable {
    package enum Action: Sendable, Hashable {
        case drop
        /// Pass the datagram on unchanged: to the listener, or to the peer.
        case forward
        /// Send these bytes to the peer.
        case answer([UInt8])
        /// Send these bytes to the listener.
        case ask([UInt8])
        /// A caller asks to publish: call ``admit(_:)`` or ``refuse(_:code:now:)``.
        case decide(SRTCaller)
        /// The listener has accepted. Pass the datagram to the peer, or call ``refuse(_:code:now:)``.
        case established
        /// The listener has refused the caller with an SRT rejection code; pass the datagram to the peer.
        case refusedByListener(code: Int)
        /// The peer shuts down; pass the datagram to the listener.
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

    /// How long a refusal is repeated to a peer that asks again, in nanoseconds: a peer repeats its request until it
    /// gets an answer.
    private static var refusalMemory: Int64 { 3_000_000_000 }
    /// Maximum number of remembered refusals. Beyond it the oldest is forgotten; if that peer asks again, its request
    /// is decided anew.
    package static var maximumRefusals: Int { 256 }
    /// Nanoseconds without a datagram after which a peer counts as gone. SRT itself gives up after five seconds.
    private static var silence: Int64 { 15_000_000_000 }
    /// Maximum length of a conclusion, the second request of a caller's handshake, in bytes.
    private static var longestConclusion: Int { 1500 }
    /// Rejection code `SRT_REJ_VERSION`, for callers with an SRT version from before 2018, which send no stream id.
    private static var oldVersion: Int { 8 }
    /// Minimum validity of a cookie, in nanoseconds.
    private static var cookieTime: Int64 { 64_000_000_000 }

    private let secret: UInt64
    private let maximumPeers: Int
    private var entries: [Peer: Entry] = [:]
    private var refusals: [Peer: Refusal] = [:]

    /// Creates a proxy that knows no peers yet.
    ///
    /// - Parameters:
    ///   - secret: Random number that cookies are derived from.
    ///   - maximumPeers: Maximum number of peers, not counting refused ones.
    package init(secret: UInt64, maximumPeers: Int) {
        self.secret = secret
        self.maximumPeers = maximumPeers
    }

    /// Number of peers with a state, including refused ones.
    package var count: Int { self.entries.count + self.refusals.count }

    /// Handles a datagram that a peer has sent to the SRT port.
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
            // The peer missed the listener's answer. It uses our cookie, so the listener's cookie is put in.
            guard handshake.type == SRTHandshake.conclusion else { return .drop }
            return .ask(SRTHandshake.conclusion(bytes, cookie: cookie))
        case .deciding, .joining, .concluding: return .drop
        }
    }

    /// Fast path: returns true if the datagram is a data packet of a relaying peer, which passes without inspection.
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

    /// Accepts a caller for which a listener exists or is being created; returns the first datagram for the listener.
    package mutating func admit(_ peer: Peer) -> Action {
        guard let entry = self.entries[peer], entry.state == .deciding else { return .drop }
        self.entries[peer]?.state = .joining
        return .ask(SRTHandshake.induction(from: entry.conclusion))
    }

    /// Repeats the last handshake datagram for the listener, because a datagram to a port that is not open yet is lost.
    package func retry(_ peer: Peer) -> Action {
        guard let entry = self.entries[peer] else { return .drop }
        switch entry.state {
        case .joining: return .ask(SRTHandshake.induction(from: entry.conclusion))
        case .concluding(let cookie): return .ask(SRTHandshake.conclusion(entry.conclusion, cookie: cookie))
        default: return .drop
        }
    }

    /// Refuses a caller.
    ///
    /// - Parameter code: 1000 and more: SRT Access Control Guidelines.
    package mutating func refuse(_ peer: Peer, code: Int, now: Int64) -> Action {
        guard let entry = self.entries[peer] else { return .drop }
        self.remember(peer, code, now)
        return .answer(SRTHandshake.refusal(of: entry.conclusion, code: code))
    }

    /// Handles a datagram from the listener of `peer`.
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

    /// Removes the state of a peer, including its refusal.
    package mutating func forget(_ peer: Peer) {
        self.entries[peer] = nil
        self.refusals[peer] = nil
    }

    /// Forgets a peer whose listener has closed. Its refusal stays, and is repeated if the peer asks again.
    package mutating func release(_ peer: Peer) { self.entries[peer] = nil }

    /// Removes old refusals and finds peers that have sent nothing for a long time.
    ///
    /// - Returns: The silent peers; the caller closes them.
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

    /// Returns whether the cookie is one that was sent to this peer's address in the last one or two minutes, so that
    /// the address is not forged.
    private func isOurs(_ cookie: UInt32, _ peer: Peer, _ now: Int64) -> Bool {
        cookie == self.cookie(for: peer, now: now) || cookie == self.cookie(for: peer, now: now, back: 1)
    }
}
