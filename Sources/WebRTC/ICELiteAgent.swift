/// This program's ICE agent for one peer: answers its connectivity checks and selects the address for media.
///
/// An ICE-lite agent sends no checks of its own and is always in the controlled role. An address is known once a valid
/// check came from it; until then only answers to its checks are sent there, never longer than the check. The selected
/// address is the one last nominated by USE-CANDIDATE, or before any nomination the first known one, UDP before TCP. But
/// a TCP address replaces a selected UDP address only after no valid check came from that for 6 s, because TCP delays
/// media after a loss. An ICE restart forgets all addresses, and the selection begins anew.
///
/// Pure: time is passed in, as nanoseconds of a monotonic clock.
///
/// Spec: RFC 8445 §2.5, §7.3, RFC 7675 (consent).
package struct ICELiteAgent: Sendable {
    /// Time limits of the agent, in nanoseconds.
    package struct Limits: Sendable, Hashable {
        /// Time from the start of the session within which a valid check must arrive.
        package var firstCheck: Int64 = 10_000_000_000
        /// Time from the last valid check until the session ends, and until an address is no longer known (RFC 7675 §5.1).
        /// Peers send a check every 2.4 to 5 s.
        package var consent: Int64 = 30_000_000_000

        package init() {}
    }

    /// The result of a received datagram.
    package enum Outcome: Sendable, Hashable {
        case ignored(Refusal)
        /// Send this error to the address that the check came from. The check makes no address known
        /// or selected.
        case error([UInt8])
        /// Send this success to the address that the check came from. `isMoved`: the selected address has changed.
        case answer([UInt8], isMoved: Bool)
    }

    /// Why a datagram gets no answer.
    package enum Refusal: String, Sendable, Hashable, CaseIterable {
        /// The datagram is no STUN message, or its FINGERPRINT is wrong or missing.
        case malformed
        /// The message is a response or an indication, or has another method than Binding.
        case notARequest
        /// The check is for another session, or for credentials that an ICE restart has replaced.
        case unknownUfrag
        case wrongIntegrity
        /// Another address has already sent a check with this transaction ID, so this one is a copy.
        case replayed
        /// The answer would be longer than the request.
        case tooShort
    }

    /// Why a session has ended.
    package enum Expiry: Sendable, Hashable {
        /// No valid check came in time after the start.
        case neverConnected
        /// No valid check came for longer than ``Limits/consent``.
        case consentLost
    }

    private struct KnownAddress: Sendable {
        var address: ICEAddress
        var lastCheck: Int64
    }

    private struct Transaction: Sendable {
        var high: UInt64
        var low: UInt32
        var address: ICEAddress

        init(_ id: ArraySlice<UInt8>, _ address: ICEAddress) {
            self.high = id.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            self.low = id.dropFirst(8).reduce(0) { $0 << 8 | UInt32($1) }
            self.address = address
        }
    }

    /// Maximum number of known addresses; beyond it, the one with the oldest check is forgotten, but not the selected one.
    /// Clients have few network interfaces.
    private static let mostAddresses = 8
    /// Transactions that are remembered: those of more than a minute at usual rates.
    private static let mostTransactions = 64

    /// How long after its last check a selected UDP address is kept although a TCP address could replace it, in nanoseconds.
    /// Clients send a check every 2.4 to 5 s while the address works.
    private static let preferenceForUDP: Int64 = 6_000_000_000

    private let limits: Limits
    private let start: Int64
    private var current: ICECredentials
    /// New credentials during an ICE restart, until the first valid check with them.
    private var next: ICECredentials?
    private var known: [KnownAddress] = []
    private var transactions: [Transaction] = []
    /// Index in ``transactions`` that is replaced next.
    private var oldest = 0
    private var isNominated = false
    private var lastCheck: Int64?

    /// The address to send to; nil before the first valid check, and when ``remove(_:)`` has left none.
    package private(set) var selected: ICEAddress?

    package init(credentials: ICECredentials, now: Int64, limits: Limits = Limits()) {
        self.current = credentials
        self.start = now
        self.limits = limits
    }

    /// The user name fragments that find this agent; one, or two during an ICE restart.
    package var ufrags: [String] { [self.current.ufrag] + [self.next?.ufrag].compactMap(\.self) }

    /// Whether packets from the address belong to this session: a valid check came from it within ``Limits/consent``.
    package func isKnown(_ address: ICEAddress, now: Int64) -> Bool {
        self.known.contains { $0.address == address && now - $0.lastCheck <= self.limits.consent }
    }

    /// Begins an ICE restart. The old credentials stay valid until a check with the new ones arrives; a restart that was
    /// not completed is replaced.
    ///
    /// Spec: RFC 8445 §9, RFC 9725 §4.3.2.
    package mutating func restart(credentials: ICECredentials) { self.next = credentials }

    /// Why the session has ended at this time; nil if it has not.
    package func expiry(now: Int64) -> Expiry? {
        guard let lastCheck else { return now - self.start > self.limits.firstCheck ? .neverConnected : nil }
        return now - lastCheck > self.limits.consent ? .consentLost : nil
    }

    /// - Parameters:
    ///   - datagram: One STUN message.
    ///   - hmac: HMAC-SHA1. It is called at most once for a datagram without the right password.
    package mutating func receive(
        _ datagram: [UInt8], from address: ICEAddress, now: Int64, hmac: STUNMessage.HMAC
    ) -> Outcome {
        guard let message = STUNMessage(datagram) else { return .ignored(.malformed) }
        return self.receive(message, from: address, now: now, hmac: hmac)
    }

    /// Takes a STUN message that was parsed already, for example to find the agent.
    package mutating func receive(
        _ message: STUNMessage, from address: ICEAddress, now: Int64, hmac: STUNMessage.HMAC
    ) -> Outcome {
        guard message.hasFingerprint else { return .ignored(.malformed) }
        guard message.kind == .request, message.method == STUNMessage.binding else { return .ignored(.notARequest) }
        guard let ufrag = message.receiverUfrag, let credentials = self.credentials(for: ufrag) else {
            return .ignored(.unknownUfrag)
        }
        let password = Array(credentials.password.utf8)
        guard message.isAuthentic(password: password, hmac: hmac) else { return .ignored(.wrongIntegrity) }
        guard self.remember(Transaction(message.transactionID, address)) else { return .ignored(.replayed) }
        let (answer, isSuccess) = Self.answer(message, to: address, password: password, hmac: hmac)
        guard answer.count <= message.bytes.count else { return .ignored(.tooShort) }
        guard isSuccess else { return .error(answer) }
        return .answer(
            answer, isMoved: self.accept(message, from: address, now: now, isRestart: ufrag == self.next?.ufrag))
    }

    private func credentials(for ufrag: String) -> ICECredentials? {
        if let next, next.ufrag == ufrag { return next }
        return self.current.ufrag == ufrag ? self.current : nil
    }

    /// - Returns: false if the transaction came from another address before. A retransmission from the same one is fine.
    private mutating func remember(_ transaction: Transaction) -> Bool {
        for other in self.transactions where other.high == transaction.high && other.low == transaction.low {
            return other.address == transaction.address
        }
        if self.transactions.count < Self.mostTransactions {
            self.transactions.append(transaction)
        } else {
            self.transactions[self.oldest] = transaction
            self.oldest = (self.oldest + 1) % Self.mostTransactions
        }
        return true
    }

    // MARK: Selection

    private mutating func accept(
        _ message: STUNMessage, from address: ICEAddress, now: Int64, isRestart: Bool
    ) -> Bool {
        self.lastCheck = now
        if isRestart, let next {
            // The old generation ends here, with its nomination.
            self.current = next
            self.next = nil
            self.isNominated = false
            self.known = []
        }
        if let index = self.known.firstIndex(where: { $0.address == address }) {
            self.known[index].lastCheck = now
        } else {
            if self.known.count >= Self.mostAddresses { self.forgetOldest() }
            self.known.append(KnownAddress(address: address, lastCheck: now))
        }
        let isBetter = isRestart || self.selected.map { $0.isTCP && !address.isTCP } ?? true
        guard message.usesCandidate || !self.isNominated && isBetter else { return false }
        if address.isTCP, self.isUDPSelected(now: now) { return false }
        if message.usesCandidate { self.isNominated = true }
        guard self.selected != address else { return false }
        self.selected = address
        return true
    }

    private func isUDPSelected(now: Int64) -> Bool {
        guard let selected, !selected.isTCP else { return false }
        return self.known.contains { $0.address == selected && now - $0.lastCheck <= Self.preferenceForUDP }
    }

    /// Forgets an address whose TCP connection was closed. If it was selected, the address with the latest check is
    /// selected instead.
    package mutating func remove(_ address: ICEAddress) {
        self.known.removeAll { $0.address == address }
        guard self.selected == address else { return }
        self.selected = self.known.max { $0.lastCheck < $1.lastCheck }?.address
        self.isNominated = false
    }

    private mutating func forgetOldest() {
        let removable = self.known.indices.filter { self.known[$0].address != self.selected }
        guard let index = removable.min(by: { self.known[$0].lastCheck < self.known[$1].lastCheck }) else { return }
        self.known.remove(at: index)
    }

    // MARK: Answers

    private static func answer(
        _ message: STUNMessage, to address: ICEAddress, password: [UInt8], hmac: STUNMessage.HMAC
    ) -> (bytes: [UInt8], isSuccess: Bool) {
        let unknown = message.unknownAttributes
        if !unknown.isEmpty {
            // RFC 8489 §6.3.1.
            var writer = STUNWriter(.error, transactionID: message.transactionID)
            writer.addError(420, "Unknown")
            writer.add(
                AttributeType.unknownAttributes, unknown.prefix(4).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
            return (writer.finished(password: password, hmac: hmac), false)
        }
        if message.controlledTieBreaker != nil {
            // RFC 8445 §7.3.1.1: the peer has to take the controlling role, since a lite agent cannot.
            var writer = STUNWriter(.error, transactionID: message.transactionID)
            writer.addError(487, "Role Conflict")
            return (writer.finished(password: password, hmac: hmac), false)
        }
        var writer = STUNWriter(.success, transactionID: message.transactionID)
        writer.addMappedAddress(address)
        return (writer.finished(password: password, hmac: hmac), true)
    }
}
