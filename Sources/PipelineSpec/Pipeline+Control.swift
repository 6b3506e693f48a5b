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
        /// Directory whose files requests may name as secrets; `nil`: none but those the pipeline file names.
        package var secretsDirectory: String?
        /// Directory whose files requests may name as images; `nil`: as ``secretsDirectory``.
        package var imagesDirectory: String?
        /// Directory of what is commanded, for successors; `nil`: that of the HLS output.
        package var stateDirectory: String?
        /// Where requests may make the room connect to.
        package var egress = Egress()
        /// Other products' vocabularies whose names and codes events bear besides their own.
        package var compat: [EventVocabulary] = []

        package init() {}
    }
}

extension Pipeline.Control {
    /// Servers that relays, RTMP outputs and webhooks set by requests may be at.
    package struct Egress: Sendable, Equatable {
        /// Default `public`. Empty: none but those the pipeline file names.
        package var allowedHosts = [EgressEntry.publicAddresses]

        package init() {}

        static let rule = ObjectRule(
            "where requests may make the room connect to", Egress(),
            [
                Field(
                    "allowedHosts", \.allowedHosts, .list(of: .egressEntry, 0...64, standIn: .standIn),
                    "servers of relays, rtmp outputs and webhooks that requests set, besides those this file names: public (every global address), ranges such as 127.0.0.0/8, HOST, HOST:PORT, HOST:*, *.DOMAIN; without a port the scheme's; link-local and metadata addresses are never allowed"
                )
            ])
    }
}

/// A vocabulary of another product, for platforms whose clients know it already.
package enum EventVocabulary: String, Sendable, CaseIterable { case flipflop, nertc, agora, remon }
