package import MediaTypes

extension Pipeline {
    /// The RTMPS listener: RTMP over TLS 1.2 or later, with the app, keys and limits of the RTMP listener.
    package struct RTMPS: Sendable, Equatable {
        /// TCP address of the listener. Default `0.0.0.0:1936`. Encoders use port 443 if the URL has no port.
        package var listen = ListenAddress.tcp(host: "0.0.0.0", port: 1936)
        package var tls = TLSSettings()

        package init() {}
    }
}

extension Pipeline.RTMPS {
    static let rule = ObjectRule(
        "the RTMPS listener", Pipeline.RTMPS(),
        [
            Field("listen", \.listen, .address(unix: false), "host:port; port 0: any free port"),
            Field(
                required: "tls", \.tls, .object(TLSSettings.rule),
                "its certificate; changed files are loaded without a restart"),
        ])
}

extension PipelineRules {
    /// Checks that publishers have a listener, that the certificate for RTMPS can be used, and that no two listeners of a
    /// live room use the same port. Also checks the WebRTC listener; see ``checkWebRTC(_:)``.
    func checkListeners(_ log: inout SpecLog) {
        let ingest = self.pipeline.ingest
        ingest.rtmps?.tls.check(self.checks, at: "ingest.rtmps.tls", &log)
        let hasPublishers = self.pipeline.hasPublishers
        if hasPublishers, ingest.rtmp.listen == nil, ingest.rtmps == nil, ingest.srt == nil, ingest.webRTC == nil,
            log.isValid("ingest.rtmps", "ingest.srt", "ingest.webrtc", "sources")
        {
            log.mistake(
                "ingest.rtmp.listen",
                "is null, and there is neither rtmps, srt nor webrtc, so publishers could not connect",
                fix: "write host:port, or add \"rtmps\", \"srt\" or \"webrtc\" to \"ingest\"")
        }
        self.checkWebRTC(&log)
        self.checkPorts(hasPublishers: hasPublishers, &log)
    }

    /// Checks that no two listeners use the same port: the second could not be opened.
    private func checkPorts(hasPublishers: Bool, _ log: inout SpecLog) {
        guard self.pipeline.clock == .live else { return }
        let ingest = self.pipeline.ingest
        self.checkCollisions(self.pipeline.listeners(hasPublishers: hasPublishers), &log)
        var datagrams: [(place: String, address: ListenAddress)] = []
        if hasPublishers {
            if let srt = ingest.srt { datagrams.append(("ingest.srt.listen", srt.listen)) }
            if let webRTC = ingest.webRTC { datagrams.append(("ingest.webrtc.udp", webRTC.udp)) }
        }
        for (index, output) in self.pipeline.outputs.enumerated() {
            if case .webRTC(let webRTC) = output { datagrams.append(("outputs[\(index)].udp", webRTC.udp)) }
        }
        self.checkCollisions(datagrams, &log)
    }

    private func checkCollisions(_ listeners: [(place: String, address: ListenAddress)], _ log: inout SpecLog) {
        for (index, listener) in listeners.enumerated() where log.isValid(listener.place) {
            let first = listeners[..<index].first { other in
                log.isValid(other.place) && other.address.collides(with: listener.address)
            }
            guard let first else { continue }
            log.mistake(
                listener.place, "\(first.place), \(first.address), already uses this port", fix: "use another port")
        }
    }
}

extension Pipeline {
    /// Whether a source has publishers, which need a listener.
    package var hasPublishers: Bool {
        self.sources.contains { if case .rtmp = $0.input { true } else { false } }
    }

    /// The addresses of a live room's listeners other than UDP, each with its path in the document (`place`).
    package func listeners(hasPublishers: Bool) -> [(place: String, address: ListenAddress)] {
        var listeners: [(place: String, address: ListenAddress)] = []
        if hasPublishers {
            if let address = self.ingest.rtmp.listen { listeners.append(("ingest.rtmp.listen", address)) }
            if let rtmps = self.ingest.rtmps { listeners.append(("ingest.rtmps.listen", rtmps.listen)) }
            if let webRTC = self.ingest.webRTC { listeners.append(("ingest.webrtc.listen", webRTC.listen)) }
        }
        for (index, output) in self.outputs.enumerated() {
            guard case .hls(let hls) = output, let address = hls.http.listen else { continue }
            listeners.append(("outputs[\(index)].http.listen", address))
        }
        listeners.append(("control.listen", self.control.listen))
        return listeners
    }
}

extension ListenAddress {
    /// Whether both addresses use the same port of the same host, judged by their texts. Port 0 means any free port
    /// and never collides.
    fileprivate func collides(with other: ListenAddress) -> Bool {
        guard case .tcp(let host, let port) = self, case .tcp(let otherHost, let otherPort) = other,
            port == otherPort, port != 0
        else { return false }
        func isIPv4(_ host: String) -> Bool { host.utf8.allSatisfy { $0 == 0x2e || $0.isDigit } }
        func isIPv6(_ host: String) -> Bool { host.utf8.contains(0x3a) }
        // A wildcard of one address family does not collide with an address of the other.
        return host == otherHost
            || (host == "0.0.0.0" || otherHost == "0.0.0.0") && isIPv4(host) && isIPv4(otherHost)
            || (host == "::" || otherHost == "::") && isIPv6(host) && isIPv6(otherHost)
    }
}
