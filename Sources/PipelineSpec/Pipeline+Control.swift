package import MediaTypes

extension Pipeline {
    /// The control listener: operators only.
    package struct Control: Sendable, Equatable {
        /// Where `/v1` is served. Default `127.0.0.1:0`, a port chosen by the system.
        package var listen = ListenAddress.tcp(host: "127.0.0.1", port: 0)
        /// The bearer token that guards it; required unless ``listen`` is loopback or a Unix socket. Never
        /// ``Secret/inline(_:)``.
        package var token: Secret?
        /// Who is sent the room's events.
        package var events: [EventSink] = []

        package init() {}
    }
}
