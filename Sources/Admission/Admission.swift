package import MediaTypes
package import PipelineSpec
package import RTMP

/// Who may publish as what: the part that needs no network.
///
/// A static key is bound to one source. A signed key, and an address that a webhook decides on, names its source in the path
/// instead. Pure; lives where the connections live.
package struct Admission: Sendable {
    package enum Answer: Sendable, Hashable {
        case source(SourceID)
        case deny(PublishRefusal, reason: String)
    }

    /// Application name of the listener.
    package var app: String { didSet { self.keys = KeyTable(app: self.app, bindings: self.bindings) } }
    package var bindings: [IngestBinding] {
        didSet { self.keys = KeyTable(app: self.app, bindings: self.bindings) }
    }
    private var keys: KeyTable
    /// nil: no signed keys.
    package var signed: SignedKeyCheck?
    /// A signed key is good for one publication.
    package var isSingleUse = false
    /// What a signed address may name.
    package var signable: Set<SourceID> = []
    /// What an address may name without any key, because a webhook decides.
    package var open: Set<SourceID> = []
    /// Where publishers may be; empty: anywhere.
    package var allowedAddresses: [AddressRange] = []
    private var used = NonceStore()
    /// Salt of the hashes in ``used``. A later worker gets them, so it needs the same salt.
    private var usedSalt = ""
    /// What ``answer(to:now:)`` or ``giveBack(_:now:)`` has changed last; see ``takeUse()``.
    private var use: KeyUse?

    /// A signed key that is good for one publication was used, or was not used after all.
    package struct KeyUse: Sendable, Hashable {
        /// Salted hash of the key.
        package let digest: String
        /// Unix time in seconds up to which it could be used again; `nil`: it was given back.
        package let expiry: Int64?
    }

    package init(app: String = "live", bindings: [IngestBinding]) {
        self.app = app
        self.bindings = bindings
        self.keys = KeyTable(app: app, bindings: bindings)
    }

    /// Takes keys, secrets and sources from another one; signed keys that have been used stay used.
    package mutating func renew(from other: Admission) {
        self.bindings = other.bindings
        if let secrets = other.signed?.secrets { self.signed?.secrets = secrets }
        self.signable = other.signable
        self.open = other.open
    }

    /// Keys that were used under workers before this one stay used.
    ///
    /// - Parameters:
    ///   - keys: As ``KeyUse`` has told them, with their expiries.
    ///   - salt: Of their hashes, and of those of keys that are used from now on.
    package mutating func resume(used keys: [(digest: String, expiry: Int64)], salt: String) {
        self.usedSalt = salt
        for key in keys { _ = self.used.take(key.digest, expiry: key.expiry, now: .min) }
    }

    /// What the last answer has changed of used keys; `nil`: nothing.
    package mutating func takeUse() -> KeyUse? {
        defer { self.use = nil }
        return self.use
    }

    private func digest(_ name: String, _ nonce: String) -> String {
        SealedKey.digest(of: "\(name)|\(nonce)", salt: self.usedSalt, bytes: 12)
    }

    /// Everybody who may publish.
    package var sources: Set<SourceID> {
        Set(self.bindings.map(\.source)).union(self.signable).union(self.open)
    }

    /// Whether somebody at `address` may try; nil is an address that is no IP address, such as a Unix socket's.
    package func allows(_ address: IPAddress?) -> Bool {
        guard !self.allowedAddresses.isEmpty else { return true }
        guard let address else { return false }
        return self.allowedAddresses.contains { $0.contains(address) }
    }

    /// Somebody who wants to log in by name and password is let in by the key like anyone; without it, the refusal says that
    /// there is no such login. A challenge would only be answered by a password that nobody has set.
    ///
    /// - Parameter now: Unix time in seconds.
    package mutating func answer(to address: StreamAddress, now: Int64) -> Answer {
        let answer = self.keyAnswer(to: address, now: now)
        guard let login = address.login, case .deny(.denied, let reason) = answer else { return answer }
        return .deny(.noLogin, reason: "\(reason), with authmod=\(login.rawValue)")
    }

    /// Nothing has come of an address that ``answer(to:now:)`` has found a source for: a signed key that is good for one publication
    /// is good still.
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
        guard let name = address.key(app: self.app) else { return .deny(.denied, reason: "another app") }
        if let signed = self.signed {
            switch signed.verdict(on: address, name: name, now: now) {
            case .valid(let nonce, let expiry):
                guard let source = self.named(name, among: self.signable) else {
                    return .deny(.denied, reason: "a signed key for a source that is not here")
                }
                guard self.isSingleUse else { return .source(source) }
                let (digest, end) = (self.digest(name, nonce), expiry &+ signed.skew)
                guard self.used.take(digest, expiry: end, now: now) else {
                    return .deny(.denied, reason: "a signed key that was used before")
                }
                self.use = KeyUse(digest: digest, expiry: end)
                return .source(source)
            case .expired: return .deny(.expired, reason: "an expired key")
            case .wrong: if bound == nil { return .deny(.denied, reason: "a wrong signature") }
            case .absent: break
            }
        }
        if let source = bound ?? self.named(name, among: self.open) { return .source(source) }
        return .deny(.denied, reason: "an unknown key")
    }

    private func named(_ name: String, among sources: Set<SourceID>) -> SourceID? {
        guard !sources.isEmpty, let plain = PercentText.decode(name) else { return nil }
        return sources.first { $0.description == plain }
    }
}
