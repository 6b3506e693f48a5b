package import MediaTypes

extension Pipeline {
    /// Settings of the control API and its listener, which is for operators only.
    package struct Control: Sendable, Equatable {
        /// Address of the control API (`/v1`). Default `127.0.0.1:0`: the system chooses the port.
        package var listen = ListenAddress.tcp(host: "127.0.0.1", port: 0)
        /// The bearer token of the control API; required unless ``listen`` is loopback or a Unix socket. Never
        /// ``Secret/inline(_:)``.
        package var token: Secret?
        /// A second bearer token that allows reads but no commands. Never ``Secret/inline(_:)``.
        package var readToken: Secret?
        /// Receivers of the room's events.
        package var events: [EventSink] = []

        /// Whether reads need no token, except those of the document, the log lines, the program's audio and files of
        /// clips. Default false.
        package var openReads = false
        /// Rate limit in requests per second (10…100,000), separately for requests with the token, with the read token
        /// and without one; further requests, except those to health endpoints, get status 429. Default 4,000.
        package var maxRequestsPerSecond = 4_000
        /// Origins of web pages that may use the API (CORS), such as `https://console.example`. There is no wildcard.
        package var allowOrigins: [String] = []
        /// Directory whose files API requests may name as secrets; `nil`: only files that the pipeline file names.
        package var secretsDirectory: String?
        /// Directory whose files API requests may name as images; `nil`: only files that the pipeline file names.
        package var imagesDirectory: String?
        /// Directory whose files API requests may name as file sources, overlays and models of noise suppression; `nil`: only
        /// those of the pipeline file.
        package var mediaDirectory: String?
        /// Directory of the file in which a successor worker finds earlier commands; `nil`: the HLS output's directory.
        package var stateDirectory: String?
        /// Servers that API requests may make the room connect to.
        package var egress = Egress()
        /// Other products whose event names and codes are added to events.
        package var compat: [EventVocabulary] = []

        package init() {}
    }
}

extension Pipeline.Control {
    /// Servers that API requests may set for relays, RTMP outputs and webhooks.
    package struct Egress: Sendable, Equatable {
        /// Servers that requests may name in addition to those that the pipeline file names; empty: none. Default
        /// `public`.
        package var allowedHosts = [EgressEntry.publicAddresses]

        package init() {}

        static let rule = ObjectRule(
            "servers that API requests may make the room connect to", Egress(),
            [
                Field(
                    "allowedHosts", \.allowedHosts, .list(of: .egressEntry, 0...64, standIn: .standIn),
                    "servers that API requests may set for relays, rtmp outputs and webhooks, in addition to those that this file names: public (every global address), ranges such as 127.0.0.0/8, HOST, HOST:PORT, HOST:*, *.DOMAIN; without a port, the default port of the URL's scheme; no entry allows link-local or metadata addresses"
                )
            ])
    }
}

/// An event vocabulary of another product, for platforms whose clients already use it.
package enum EventVocabulary: String, Sendable, CaseIterable { case flipflop, nertc, agora, remon }
