package import MediaTypes

extension Pipeline {
    /// The control listener: operators only.
    package struct Control: Sendable, Equatable {
        /// Where `/v1` is served. Default `127.0.0.1:0`, a port chosen by the system.
        package var listen = ListenAddress.tcp(host: "127.0.0.1", port: 0)
        /// The bearer token that guards it; required unless ``listen`` is loopback or a Unix socket. Never
        /// ``Secret/inline(_:)``.
        package var token: Secret?
        /// A second token, whose holders may look and not command. Never ``Secret/inline(_:)``.
        package var readToken: Secret?
        /// Who is sent the room's events.
        package var events: [EventSink] = []

        /// What only reads needs no token; commands do. Default false.
        package var openReads = false
        /// Requests a second that are answered (10…100,000); more get 429. Default 4,000.
        package var maxRequestsPerSecond = 4_000
        /// Origins of pages that may use it from a browser, such as `https://console.example`; there is no word for all.
        package var allowOrigins: [String] = []
        /// Other products' vocabularies whose names and codes events bear besides their own.
        package var compat: [EventVocabulary] = []

        package init() {}
    }
}

/// A vocabulary of another product, for platforms whose clients know it already.
package enum EventVocabulary: String, Sendable, CaseIterable { case flipflop, nertc, agora, remon }
