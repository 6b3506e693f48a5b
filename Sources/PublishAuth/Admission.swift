package import MediaTypes
package import PipelineSpec
package import RTMP

/// Decides from the address, without a network request, which source a publisher may publish. A webhook may refuse the
/// publisher afterwards.
///
/// A static key is bound to one source. With a signed key, or if a webhook decides, the path of the address names the
/// source. Pure; used on the event loop of the connections.
package struct Admission: Sendable {
    package enum Answer: Sendable, Hashable {
        case source(SourceID)
        case deny(PublishRefusal, reason: String)
    }

    /// Application name of the listener, the first part of the path.
    package var app: String { didSet { self.keys = KeyTable(app: self.app, bindings: self.bindings) } }
    package var bindings: [IngestBinding] {
        didSet { self.keys = KeyTable(app: self.app, bindings: self.bindings) }
    }
    private var keys: KeyTable
    /// Verifies signed stream keys; nil: signed keys are not accepted.
    package var signed: SignedKeyCheck?
    /// True if each signed key can be used for one publication only.
    package var isSingleUse = false
    /// Sources that an address with a signed key may name.
    package var signable: Set<SourceID> = []
    /// Sources that an address may name without a key, because a webhook decides.
    package var open: Set<SourceID> = []
    /// Networks that publishers may connect from; empty: any.
    package var allowedAddresses: [AddressRange] = []
    private var used = UsedKeyStore()
    /// Salt of the hashes in ``used``. The next worker of the room gets these hashes and the same salt.
    private var usedSalt = ""
    /// The single-use key that the last ``answer(to:now:)`` marked as used, or that the last ``giveBack(_:now:)``
    /// marked as unused; see ``takeUse()``.
    private var use: KeyUse?

    /// Reports that a single-use signed key was used, or was given back without a publication.
    package struct KeyUse: Sendable, Hashable {
        /// Salted hash of the key.
        package let digest: String
        /// Unix time in seconds after which the used key is no longer accepted, with the clock difference that is allowed;
        /// `nil` if the key was given back and may be used again.
        package let expiry: Int64?
    }

    package init(app: String = "live", bindings: [IngestBinding]) {
        self.app = app
        self.bindings = bindings
        self.keys = KeyTable(app: app, bindings: bindings)
    }

    /// Replaces the keys, secrets and sources with those of another value. The networks and the kind of signed keys do
    /// not change; used single-use keys stay used.
    package mutating func renew(from other: Admission) {
        self.bindings = other.bindings
        if let secrets = other.signed?.secrets { self.signed?.secrets = secrets }
        self.signable = other.signable
        self.open = other.open
    }

    /// Restores the single-use keys that were used while earlier workers ran the room.
    ///
    /// - Parameters:
    ///   - keys: The reported ``KeyUse`` digests with their expiries.
    ///   - salt: Salt of these hashes, and of those of keys used from now on.
    package mutating func resume(used keys: [(digest: String, expiry: Int64)], salt: String) {
        self.usedSalt = salt
        for key in keys { _ = self.used.take(key.digest, expiry: key.expiry, now: .min) }
    }

    /// Removes and returns the change that the last call made to the used keys; `nil` if there was none.
    package mutating func takeUse() -> KeyUse? {
        defer { self.use = nil }
        return self.use
    }

    private func digest(_ name: String, _ nonce: String) -> String {
        HashedStreamKey.digest(of: "\(name)|\(nonce)", salt: self.usedSalt, bytes: 12)
    }

    /// All sources that can be published.
    package var sources: Set<SourceID> {
        Set(self.bindings.map(\.source)).union(self.signable).union(self.open)
    }

    /// Returns whether a client at `address` may publish; `address` is nil if the client has no IP address, as on a
    /// Unix socket.
    package func allows(_ address: IPAddress?) -> Bool {
        guard !self.allowedAddresses.isEmpty else { return true }
        guard let address else { return false }
        return self.allowedAddresses.contains { $0.contains(address) }
    }

    /// Decides which source the publisher of `address` may publish. A publisher that wants to log in with a user name
    /// and password is accepted if its key is valid, as any other. If the key is not valid, the refusal says that there
    /// is no such login. A login challenge would be useless, because there are no passwords.
    ///
    /// - Parameter now: Unix time in seconds.
    package mutating func answer(to address: StreamAddress, now: Int64) -> Answer {
        let answer = self.keyAnswer(to: address, now: now)
        guard let login = address.login, case .deny(.denied, let reason) = answer else { return answer }
        return .deny(.noLogin, reason: "\(reason), with authmod=\(login.rawValue)")
    }

    /// Marks a single-use signed key as unused, because ``answer(to:now:)`` accepted it but no publication followed.
    /// The key can be used again.
    ///
    /// - Parameter now: Unix time in seconds.
    package mutating func giveBack(_ address: StreamAddress, now: Int64) {
        guard self.isSingleUse, let signed = self.signed, let name = address.key(app: self.app),
            case .valid(let nonce, _) = signed.verdict(on: address, name: name, now: now)
        else { return }
        let digest = self.digest(name, nonce)
        self.used.giveBack(digest)
        self.use = KeyUse(digest: digest, expiry: nil)
    }

    private mutating func keyAnswer(to address: StreamAddress, now: Int64) -> Answer {
        let bound = self.keys.source(of: address)
        guard let name = address.key(app: self.app) else {
            return .deny(.denied, reason: "the address names another app")
        }
        if let signed = self.signed {
            switch signed.verdict(on: address, name: name, now: now) {
            case .valid(let nonce, let expiry):
                guard let source = self.named(name, among: self.signable) else {
                    return .deny(.denied, reason: "the signed key names an unknown source")
                }
                guard self.isSingleUse else { return .source(source) }
                let (digest, end) = (self.digest(name, nonce), expiry &+ signed.skew)
                guard self.used.take(digest, expiry: end, now: now) else {
                    return .deny(.denied, reason: "the signed key was already used")
                }
                self.use = KeyUse(digest: digest, expiry: end)
                return .source(source)
            case .expired: return .deny(.expired, reason: "the signed key has expired")
            case .wrong: if bound == nil { return .deny(.denied, reason: "a wrong signature") }
            case .absent: break
            }
        }
        if let source = bound ?? self.named(name, among: self.open) { return .source(source) }
        return .deny(.denied, reason: "an unknown key")
    }

    private func named(_ name: String, among sources: Set<SourceID>) -> SourceID? {
        guard !sources.isEmpty, let plain = PercentEncoding.decode(name) else { return nil }
        return sources.first { $0.description == plain }
    }
}
