package import MediaTypes

extension Pipeline {
    /// The listener for WebRTC publishers, which use WHIP (RFC 9725), with the app, keys, admission and timeouts of
    /// RTMP.
    package struct WebRTC: Sendable, Equatable {
        /// A STUN or TURN server that publishers are given.
        package struct ICEServer: Sendable, Equatable {
            /// URL of the server, such as `stun:stun.example.net` or `turn:turn.example.net?transport=udp`.
            package var url = ""
            /// User name for TURN; `nil`: none.
            package var username: String?
            /// Password for TURN; `nil`: none. Never ``Secret/inline(_:)``.
            package var credential: Secret?

            package init() {}
        }

        /// TCP address of the HTTP listener. Default `0.0.0.0:8889`.
        package var listen = ListenAddress.tcp(host: "0.0.0.0", port: 8889)
        /// Address at which the media of all publishers arrives, by UDP, or by TCP if their network blocks UDP. Default
        /// `0.0.0.0:8189`.
        package var udp = ListenAddress.tcp(host: "0.0.0.0", port: 8189)
        /// IP addresses at which publishers reach the UDP port; empty, and without ``publicAddressesEnv``: the address of
        /// ``udp``, which then is not a wildcard.
        package var publicAddresses: [String] = []
        /// Environment variable with further addresses, separated by commas; `nil`: none.
        package var publicAddressesEnv: String?
        /// Certificate of the HTTP listener; `nil`: HTTP.
        package var tls: TLSSettings?
        /// STUN and TURN servers that publishers are given; empty: none.
        package var iceServers: [ICEServer] = []
        /// Origins of web pages that may publish; `*` means any.
        package var allowOrigins = ["*"]
        /// Highest bit rate of video in bit/s that publishers are asked to send (100,000…100,000,000); `nil`: their own
        /// limit.
        package var maxBitrate: Int?

        package init() {}
    }
}

extension Pipeline.WebRTC {
    static let rule = ObjectRule(
        "the listener for WebRTC publishers (WHIP)", Pipeline.WebRTC(),
        [
            Field("listen", \.listen, .address(unix: false), "host:port of HTTP; port 0: any free port"),
            Field(
                "udp", \.udp, .address(unix: false),
                "host:port of UDP, at which the media of all publishers arrives, and of TCP for publishers whose network "
                    + "blocks UDP; port 0: any free port"),
            Field(
                "publicAddresses", \.publicAddresses, .list(of: .ipLiteral, 0...8, standIn: "127.0.0.1"),
                "IP addresses at which publishers reach the UDP port; default the address of udp, unless that is 0.0.0.0 or ::"
            ),
            Field(
                optional: "publicAddressesEnv", \.publicAddressesEnv, .variable,
                "environment variable with further publicAddresses, separated by commas, such as the address of a pod's node"
            ),
            Field(
                optional: "tls", \.tls, .object(TLSSettings.rule),
                "certificate for HTTPS; changed files are loaded without a restart. Browsers give pages a camera only over HTTPS or on localhost"
            ),
            Field(
                "iceServers", \.iceServers,
                .list(of: .object(ICEServer.rule, finish: ICEServer.checked), 0...8, standIn: ICEServer()),
                "STUN and TURN servers that publishers are given"),
            Field(
                "allowOrigins", \.allowOrigins,
                .list(
                    of: .text(
                        "\"*\", or an origin such as https://example.com", pattern: "^(\\*|https?://[^/\\s]+)$",
                        accepts: HLSOutput.HTTP.isOrigin),
                    0...64, standIn: ""),
                "origins of web pages that may publish (CORS); * means any"),
            Field(
                optional: "maxBitrate", \.maxBitrate, .integer(100_000...100_000_000),
                "highest bit rate of video in bit/s that publishers are asked to send; default their own limit"),
        ])

    /// Codecs that are added to the default of `ingest.codecs`, for all publishers, if the room has this listener.
    static let codecs: [Pipeline.Ingest.Codec] = [.vp8, .vp9, .opus]
}

extension Pipeline.WebRTC.ICEServer {
    static let rule = ObjectRule(
        "a STUN or TURN server", Pipeline.WebRTC.ICEServer(),
        [
            Field(
                required: "url", \.url,
                .text(
                    "stun:host[:port] or turn:host[:port][?transport=udp]", pattern: "^(stuns?|turns?):[^\\s<>\"]+$",
                    accepts: Self.isURL), "URL of the server: stun:, stuns:, turn: or turns:"),
            Field(
                optional: "username", \.username,
                .text("1 to 256 visible characters") { $0.isVisible && $0.utf8.count <= 256 },
                "user name for TURN"),
            Field(
                optional: "credentialEnv", \.credential.variable, .variable,
                "environment variable that holds the password for TURN"),
            Field(
                optional: "credentialFile", \.credential.file, .path, "file that holds the password instead"),
        ])

    static func checked(_ server: Self, _ path: String, _ log: inout SpecLog) -> Self {
        log.checkSecret("credential", at: path)
        return server
    }

    /// Spec: RFC 7064 §3.1, RFC 7065 §3.1.
    private static func isURL(_ text: String) -> Bool {
        let parts = text.split(separator: ":", maxSplits: 1)
        return parts.count == 2 && ["stun", "stuns", "turn", "turns"].contains(parts[0])
            && text.utf8.count <= 256 && text.isVisible && !text.contains { "<>\"".contains($0) }
    }
}

extension ValueRule where Value == String {
    /// A rule for the address of one machine, IPv4 or IPv6 without brackets.
    static var ipLiteral: ValueRule {
        self.text("an IP address such as 192.0.2.1 or 2001:db8::1", pattern: "^[0-9a-fA-F.:]+$") { text in
            text.isPlain(marks: ".:") && IPAddress(text).map { !$0.isUnspecified } ?? false
        }
    }
}

extension Pipeline.Ingest {
    /// Adds the codecs of WebRTC if the document has this listener and names no codecs.
    static func checked(_ ingest: Self, _ path: String, _ log: inout SpecLog) -> Self {
        guard ingest.webRTC != nil, !log.isWritten("\(path).codecs") else { return ingest }
        var ingest = ingest
        ingest.codecs += Pipeline.WebRTC.codecs
        return ingest
    }
}

extension PipelineRules {
    /// Checks that WebRTC publishers can reach the room and have codecs in common with it.
    func checkWebRTC(_ log: inout SpecLog) {
        let path = "ingest.webrtc"
        guard let webRTC = self.pipeline.ingest.webRTC, log.isValid(path) else { return }
        webRTC.tls?.check(self.checks, at: "\(path).tls", &log)
        if webRTC.publicAddresses.isEmpty, webRTC.publicAddressesEnv == nil,
            webRTC.udp.ipAddress.map({ $0.isUnspecified }) ?? true
        {
            log.mistake(
                "\(path).publicAddresses",
                "is empty, and \(webRTC.udp) is not the address of one interface, so it is not known where publishers can send",
                fix:
                    "list the IP addresses at which publishers reach this machine, put one of them into udp, or name a variable in publicAddressesEnv"
            )
        }
        let codecs = self.pipeline.ingest.codecs
        guard log.isValid("ingest.codecs") else { return }
        if !codecs.contains(where: { [.h264, .vp8, .vp9].contains($0) }) {
            log.mistake(
                "ingest.codecs", "has no video codec of WebRTC, so ingest.webrtc could not accept video",
                fix: "add h264, vp8 or vp9, or remove ingest.webrtc")
        }
        if !codecs.contains(.opus) {
            log.mistake(
                "ingest.codecs", "has no opus, the only audio codec that ingest.webrtc accepts",
                fix: "add opus, or remove ingest.webrtc")
        }
    }
}

extension ListenAddress {
    /// The address if the host is an IP literal.
    var ipAddress: IPAddress? {
        guard case .tcp(let host, _) = self else { return nil }
        return IPAddress(host.filter { $0 != "[" && $0 != "]" })
    }
}
