package import MediaTypes

extension Pipeline {
    /// The RTMPS listener: RTMP over TLS 1.2 or later, with the app, the keys and the limits of the plain one.
    package struct RTMPS: Sendable, Equatable {
        /// A TCP address. Default `0.0.0.0:1936`; encoders that are given no port use 443.
        package var listen = ListenAddress.tcp(host: "0.0.0.0", port: 1936)
        package var tls = TLSSettings()

        package init() {}
    }
}

extension Pipeline.RTMPS {
    static let rule = ObjectRule(
        "the RTMPS listener", Pipeline.RTMPS(),
        [
            Field("listen", \.listen, .address(unix: false), "host:port; port 0: any"),
            Field(
                required: "tls", \.tls, .object(TLSSettings.rule),
                "its certificate; new files are taken without a restart"),
        ])
}

extension PipelineRules {
    /// There is a door for publishers, and its certificate can be used.
    func checkDoors(_ log: inout SpecLog) {
        let ingest = self.pipeline.ingest
        ingest.rtmps?.tls.check(self.checks, at: "ingest.rtmps.tls", &log)
        let hasPublishers = self.pipeline.sources.contains { if case .rtmp = $0.input { true } else { false } }
        if hasPublishers, ingest.rtmp.listen == nil, ingest.rtmps == nil, ingest.srt == nil,
            log.isSound("ingest.rtmps", "ingest.srt", "sources")
        {
            log.mistake(
                "ingest.rtmp.listen", "is null, and there is neither rtmps nor srt: nobody could publish",
                fix: "write host:port, or add \"rtmps\" or \"srt\"")
        }
    }
}
