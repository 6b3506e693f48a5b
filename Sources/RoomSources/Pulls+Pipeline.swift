import Ingest
import Libc
import MediaTypes
import PipelineSpec
import Secrets
import WebRTC

extension SRTSettings {
    /// The settings of a pipeline's SRT listener, with its passphrase; nil if the pipeline has none.
    ///
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` if the passphrase is a placeholder, or not
    ///   allowed in SRT.
    init?(_ pipeline: Pipeline) throws(MediaError) {
        guard let srt = pipeline.ingest.srt else { return nil }
        self.init(listen: srt.listen.description)
        self.latencyMs = srt.latencyMs
        self.keyLength = srt.keyLength
        guard let passphrase = try srt.passphrase?.resolved(place: "ingest.srt") else { return }
        guard SRTURL.isPassphrase(passphrase) else {
            throw MediaError(
                .rejected, "the passphrase has \(passphrase.utf8.count) bytes, which SRT does not allow",
                at: "ingest.srt", fix: "use a passphrase of 10 to 79 bytes")
        }
        self.passphrase = passphrase
    }
}

extension WebRTCSettings {
    /// The settings of a pipeline's listener for WebRTC publishers, with its secrets and without its certificate; nil if
    /// the pipeline has none.
    ///
    /// - Throws: ``MediaError/Code/notReadable`` if a password of a TURN server or the variable with addresses cannot be
    ///   read; ``MediaError/Code/rejected`` if a password is still a placeholder such as `CHANGE_ME`, or if the variable
    ///   contains something other than addresses.
    init?(_ pipeline: Pipeline) throws(MediaError) {
        guard let webRTC = pipeline.ingest.webRTC else { return nil }
        self.init(listen: webRTC.listen.description, udp: webRTC.udp.description)
        self.publicAddresses = try Self.publicAddresses(
            webRTC.publicAddresses, variable: webRTC.publicAddressesEnv,
            environment: { getenv($0).map { String(cString: $0) } })
        self.allowedOrigins = webRTC.allowOrigins
        self.maxBitrate = webRTC.maxBitrate
        for (index, server) in webRTC.iceServers.enumerated() {
            self.iceServers.append(
                WHIPSettings.ICEServer(
                    url: server.url, username: server.username,
                    credential: try server.credential?.resolved(place: "ingest.webrtc.iceServers[\(index)]")))
        }
    }
}

extension Pipeline {
    /// Settings of the sources that the worker fetches over RTMP.
    ///
    /// - Throws: ``MediaError`` if a URL cannot be read or is not allowed.
    func pulls() throws(MediaError) -> [PullSettings] {
        var pulls: [PullSettings] = []
        for source in self.sources { if let settings = try self.pull(source) { pulls.append(settings) } }
        return pulls
    }

    /// Settings of one source that the worker fetches over RTMP; nil for other sources.
    ///
    /// - Throws: ``MediaError`` if the URL cannot be read or is not allowed.
    func pull(_ source: Pipeline.Source) throws(MediaError) -> PullSettings? {
        guard case .pull(let secret) = source.input else { return nil }
        let place = "source[\(source.id)]"
        let url = try RTMPURL(secret, place: place)
        guard self.ingest.pull.allows(url) else { throw Self.notAllowed(url.host, url.port, place) }
        var settings = PullSettings(source: source.id, url: url)
        settings.idleTimeout = Int64(self.ingest.rtmp.idleTimeoutMs) * 1_000_000
        settings.codecs = self.codecs(of: source)
        return settings
    }

    /// Settings of the sources that the worker fetches over SRT.
    ///
    /// - Throws: ``MediaError`` if a URL cannot be read or is not allowed.
    func srtPulls() throws(MediaError) -> [SRTPullSettings] {
        var pulls: [SRTPullSettings] = []
        for source in self.sources { if let settings = try self.srtPull(source) { pulls.append(settings) } }
        return pulls
    }

    /// Settings of one source that the worker fetches over SRT; nil for other sources.
    ///
    /// - Throws: ``MediaError`` if the URL cannot be read or is not allowed.
    func srtPull(_ source: Pipeline.Source) throws(MediaError) -> SRTPullSettings? {
        guard case .srtPull(let secret) = source.input else { return nil }
        let place = "source[\(source.id)]"
        guard let url = SRTURL(try secret.resolved(place: place)) else {
            throw MediaError(
                .rejected, "the URL is not srt://host:port?streamid=…", at: place,
                fix: "correct the URL; its parameters are streamid, latency, passphrase, pbkeylen")
        }
        guard self.ingest.pull.allows(url) else { throw Self.notAllowed(url.host, url.port, place) }
        var settings = SRTPullSettings(source: source.id, url: url, codecs: self.codecs(of: source))
        settings.openTimeout = Int64(self.ingest.rtmp.firstPacketTimeoutMs) * 1_000_000
        settings.idleTimeout = Int64(self.ingest.rtmp.idleTimeoutMs) * 1_000_000
        settings.maximumBytes = self.ingest.rtmp.maxMessageBytes
        return settings
    }

    private static func notAllowed(_ host: String, _ port: Int, _ place: String) -> MediaError {
        MediaError(
            .rejected, "\(host):\(port) is not in ingest.pull.allowedHosts", at: place,
            fix: "add the server to ingest.pull.allowedHosts if it is yours")
    }
}

extension RTMPURL {
    /// Reads the RTMP URL of a pull or a relay.
    ///
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` if it is a placeholder or not an RTMP URL.
    init(_ secret: Secret, place: String) throws(MediaError) {
        guard let url = RTMPURL(try secret.resolved(place: place)) else {
            throw MediaError(.rejected, "the URL is not rtmp://host[:port]/app/key", at: place, fix: "correct the URL")
        }
        self = url
    }
}
