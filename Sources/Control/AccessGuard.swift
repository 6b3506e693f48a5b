package import HTTPTypes
package import MediaTypes

/// Decides who may use the control API.
///
/// With a token, who knows it. Without one the listener is on loopback, where every process of the machine may connect,
/// and so may every web page its user opens: a page cannot forge `Host` and `Origin`, so these tell it apart (DNS
/// rebinding shows in the first, cross-site requests in the second).
package struct AccessGuard: Sendable {
    private enum Rule {
        case token(ControlTokens, opensReads: Bool)
        case loopbackNames(boundHost: String, ControlOrigins)
        /// A Unix socket: the mode of its file decides.
        case fileMode
    }

    private let rule: Rule

    /// - Parameters:
    ///   - readToken: Is enough for what only reads.
    ///   - opensReads: What only reads needs no token.
    package init(listen: ListenAddress, token: String?, readToken: String? = nil, opensReads: Bool = false) {
        self.init(
            listen: listen, tokens: token.map { ControlTokens(command: $0, reader: readToken) }, opensReads: opensReads)
    }

    /// - Parameters:
    ///   - tokens: `nil`: the listener has none.
    ///   - opensReads: What only reads needs no token.
    ///   - origins: Whose pages may command where there is no token.
    package init(
        listen: ListenAddress, tokens: ControlTokens?, opensReads: Bool = false,
        origins: ControlOrigins = ControlOrigins()
    ) {
        if let tokens {
            self.rule = .token(tokens, opensReads: opensReads)
        } else if case .tcp(let host, _) = listen {
            self.rule = .loopbackNames(boundHost: host.lowercased(), origins)
        } else {
            self.rule = .fileMode
        }
    }

    /// What a sender has shown of itself, which decides with whom it shares a request budget.
    package enum Standing: Sendable, Hashable, CaseIterable {
        /// May command: has the token, or needs none.
        case commander
        /// Has the token that only reads.
        case reader
        case stranger
    }

    /// Looks at the head alone, in a time that does not depend on how much of a guessed token is right.
    package func standing(of head: HTTPRequest) -> Standing {
        switch self.rule {
        case .fileMode: .commander
        case .token(let tokens, _): Self.standing(of: head, tokens.current)
        case .loopbackNames(let boundHost, let origins):
            Self.foreign(head, boundHost: boundHost, origins) == nil ? .commander : .stranger
        }
    }

    private static func standing(of head: HTTPRequest, _ tokens: ControlTokens.Pair) -> Standing {
        if Self.bearer(head, is: tokens.command) { return .commander }
        return Self.bearer(head, is: tokens.reader) ? .reader : .stranger
    }

    /// Why the request is refused, or `nil`.
    ///
    /// - Parameters:
    ///   - isOpen: A health endpoint, whose probe carries no token, or what says nothing of this room.
    ///   - isReading: Changes nothing, and shows what operators who do not change anything may see.
    ///   - isInner: Shows what nobody without a token may see, whatever else is open.
    package func refusal(
        of head: HTTPRequest, isOpen: Bool, isReading: Bool = false, isInner: Bool = false
    ) -> ControlFailure? {
        switch self.rule {
        case .fileMode: nil
        case .token(let tokens, let opensReads):
            isOpen || (isReading && opensReads && !isInner)
                ? nil : Self.refusal(of: head, tokens.current, isReading: isReading)
        case .loopbackNames(let boundHost, let origins): Self.foreign(head, boundHost: boundHost, origins)
        }
    }

    private static func refusal(
        of head: HTTPRequest, _ tokens: ControlTokens.Pair, isReading: Bool
    ) -> ControlFailure? {
        switch Self.standing(of: head, tokens) {
        case .commander: nil
        case .reader: isReading ? nil : Self.readerCommands
        case .stranger: Self.tokenMissing
        }
    }

    private static let tokenMissing = ControlFailure.authDenied(
        "the request does not carry this room's token", fix: "send the field Authorization: Bearer TOKEN", status: 401)

    private static let readerCommands = ControlFailure.authDenied(
        "this token may look and not command", fix: "send the token of control.tokenFile or control.tokenEnv")

    private static func foreign(
        _ head: HTTPRequest, boundHost: String, _ origins: ControlOrigins
    ) -> ControlFailure? {
        let authority = (head.authority ?? "").lowercased()
        let host = Self.host(of: authority)
        guard ListenAddress.isLoopback(host: host) || (!host.isEmpty && host == boundHost) else {
            return .authDenied(
                "the request was sent to the host \"\(host)\", which is not this listener",
                fix: "use http://127.0.0.1 or http://localhost, or configure a bearer token")
        }
        guard let origin = head.headerFields[.origin]?.lowercased(), origin != "http://\(authority)",
            !origins.admits(head)
        else { return nil }
        return .authDenied(
            "a web page of \(origin) may not control this room",
            fix: "configure a bearer token and send it from your server, or list the page in control.allowOrigins")
    }

    /// The host of `HOST`, `HOST:PORT` or `[IPV6]:PORT`, without brackets.
    package static func host(of authority: String) -> String {
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    private static func bearer(_ head: HTTPRequest, is token: [UInt8]) -> Bool {
        guard let field = head.headerFields[.authorization], let space = field.firstIndex(of: " "),
            field[..<space].lowercased() == "bearer", !token.isEmpty
        else { return false }
        return ConstantTime.isEqual(token, Array(field[space...].drop { $0 == " " }.utf8))
    }
}
