package import HTTPTypes
package import MediaTypes

/// Decides which clients may use the control API, and for what.
///
/// If tokens are configured, then clients must send one that permits the request, except with requests that are open to
/// everyone. Without a token the listener is a Unix socket, whose file mode controls access, or it is on loopback,
/// where every process of the machine can connect, and so can every web page that a user of the machine opens. A page
/// cannot forge `Host` and `Origin`, so both are checked: `Host` reveals DNS rebinding, and `Origin` reveals cross-site
/// requests.
package struct AccessGuard: Sendable {
    private enum Rule {
        case token(ControlTokens, opensReads: Bool)
        case loopbackNames(boundHost: String, ControlOrigins)
        /// A Unix socket: the file mode controls access.
        case fileMode
    }

    private let rule: Rule

    /// - Parameters:
    ///   - readToken: Token that permits only reading requests; nil if there is none.
    ///   - opensReads: Whether reading requests need no token.
    package init(listen: ListenAddress, token: String?, readToken: String? = nil, opensReads: Bool = false) {
        self.init(
            listen: listen, tokens: token.map { ControlTokens(command: $0, reader: readToken) }, opensReads: opensReads)
    }

    /// - Parameters:
    ///   - tokens: The tokens for commands and reading; nil if the listener has none.
    ///   - opensReads: Whether reading requests need no token.
    ///   - origins: Web origins that may send commands if there is no token.
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

    /// The access level of a client, which also decides which request rate limit applies.
    package enum AccessLevel: Sendable, Hashable, CaseIterable {
        /// May send commands: the client has the command token, or no token is needed.
        case commander
        /// May only read: the client has the read token.
        case reader
        /// Has no valid token, and may send only requests that need none; or, on a listener without tokens, its `Host`
        /// or `Origin` is not accepted, and its requests are refused.
        case stranger
    }

    /// The access level of the client that sent a request. Reads only the request head, in a time that does not depend
    /// on how much of a guessed token is right.
    package func accessLevel(of head: HTTPRequest) -> AccessLevel {
        switch self.rule {
        case .fileMode: .commander
        case .token(let tokens, _): Self.accessLevel(of: head, tokens.current)
        case .loopbackNames(let boundHost, let origins):
            Self.foreign(head, boundHost: boundHost, origins) == nil ? .commander : .stranger
        }
    }

    private static func accessLevel(of head: HTTPRequest, _ tokens: ControlTokens.Pair) -> AccessLevel {
        if Self.bearer(head, is: tokens.command) { return .commander }
        return Self.bearer(head, is: tokens.reader) ? .reader : .stranger
    }

    /// Why a request is refused; nil if it is allowed.
    ///
    /// - Parameters:
    ///   - isOpen: Whether the request needs no token: a health endpoint, or content that is the same for every room.
    ///   - isReading: Whether the request changes nothing, so that the read token suffices.
    ///   - isInner: Whether the request needs a token even if reads are open.
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
        switch Self.accessLevel(of: head, tokens) {
        case .commander: nil
        case .reader: isReading ? nil : Self.readerCommands
        case .stranger: Self.tokenMissing
        }
    }

    private static let tokenMissing = ControlFailure.authDenied(
        "the request has no valid token for this room", fix: "send the header Authorization: Bearer TOKEN", status: 401)

    private static let readerCommands = ControlFailure.authDenied(
        "this token permits reading, but no commands", fix: "send the token of control.tokenFile or control.tokenEnv")

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
            "web pages from \(origin) may not control this room",
            fix: "configure a bearer token and send it from your server, or add the origin to control.allowOrigins")
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
