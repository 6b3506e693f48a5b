import HTTPListener
package import Ingest
package import MediaTypes
package import PipelineSpec
package import PublishAuth
package import TLSFiles

extension SourceIngest {
    /// The configuration of the publishers' listener, with its secrets.
    ///
    /// - Parameters:
    ///   - admission: The rules for admitting publishers.
    ///   - certificates: Opens the certificate of the listener `rtmps` or `whip`; nil if it has none.
    /// - Throws: ``MediaError`` if a secret, a variable with addresses or a certificate cannot be used.
    package func configuration(
        _ admission: Admission, certificates: (TLSSettings?, _ place: String) throws(MediaError) -> CertificateStore?
    ) throws(MediaError) -> IngestConfiguration {
        let (parts, pipeline) = (self.host.sourceParts, self.host.pipeline)
        let rtmp = pipeline.ingest.rtmp
        var configuration = IngestConfiguration(
            listen: parts.opensListeners ? rtmp.listen?.description : nil, admission: parts.saved.resumed(admission))
        configuration.wallClock = { [wall = parts.clocks.wall] in wall.now() / TimeMath.nanoseconds }
        configuration.onDuplicate = rtmp.onDuplicate == .reject ? .reject : .takeover
        configuration.session.chunkSize = rtmp.chunkSize
        configuration.session.firstMediaTimeout = Int64(rtmp.firstPacketTimeoutMs) * 1_000_000
        configuration.session.mediaIdleTimeout = Int64(rtmp.idleTimeoutMs) * 1_000_000
        configuration.maximumConnections = rtmp.maxConnections
        configuration.maximumWaitingPerAddress = rtmp.maxConnectionsPerAddress
        configuration.session.handshakeTimeout = Int64(rtmp.handshakeTimeoutMs) * 1_000_000
        configuration.session.publishTimeout = Int64(rtmp.publishTimeoutMs) * 1_000_000
        configuration.session.limits.mediaLength = rtmp.maxMessageBytes
        configuration.session.limits.partialBytes = rtmp.maxPartialBytes
        configuration.session.limits.partialMessages = rtmp.maxPartialMessages
        configuration.session.limits.chunkStreams = rtmp.maxChunkStreams
        configuration.session.limits.amfDepth = rtmp.maxAmfDepth
        configuration.proxies = pipeline.ingest.proxies
        if parts.opensListeners, let rtmps = pipeline.ingest.rtmps,
            let certificates = try certificates(rtmps.tls, "rtmps")
        {
            configuration.secure = IngestConfiguration.Secure(
                listen: rtmps.listen.description, certificates: certificates)
        }
        if parts.opensListeners, var webRTC = try WebRTCSettings(pipeline) {
            webRTC.certificates = try certificates(pipeline.ingest.webRTC?.tls, "whip")
            let page = PublisherPage(title: pipeline.room.title ?? pipeline.room.roomID, endpoint: "whip/\(rtmp.app)")
            webRTC.page = { path in PublisherPage.File(rawValue: path).map { page.reply($0) } }
            configuration.webRTC = webRTC
        }
        configuration.srt = parts.opensListeners ? try SRTSettings(pipeline) : nil
        configuration.refused = self.host.refusing.refused
        for (id, source) in parts.roster.sources {
            configuration.readPatience[id] = ReadDelayLimits(
                jitterBuffer: Int64(source.spec.jitterBufferMs) * 1_000_000)
        }
        configuration.setCodecs(pipeline)
        if let hook = try pipeline.publishHook() {
            configuration.hook = hook
            // The timeout of the webhook itself expires first, so that its error is reported.
            configuration.session.decisionTimeout = hook.timeout + 200_000_000
        }
        return configuration
    }
}
