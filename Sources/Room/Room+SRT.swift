import Ingest
import MediaTypes
import PipelineSpec

extension Room {
    /// The SRT listener, its passphrase read; nil: there is none.
    ///
    /// - Throws: ``MediaError/Code/notReadable``, ``MediaError/Code/rejected`` for a passphrase that SRT does not take.
    func srtSettings() throws(MediaError) -> SRTSettings? {
        guard let srt = self.pipeline.ingest.srt else { return nil }
        var settings = SRTSettings(listen: srt.listen.description)
        settings.latencyMs = srt.latencyMs
        settings.keyLength = srt.keyLength
        if let passphrase = try srt.passphrase?.resolved(place: "ingest.srt") {
            guard SRTURL.isPassphrase(passphrase) else {
                throw MediaError(
                    .rejected, "the passphrase has \(passphrase.utf8.count) bytes", at: "ingest.srt",
                    fix: "use one of 10 to 79 bytes")
            }
            settings.passphrase = passphrase
        }
        return settings
    }

    /// The sources that are fetched over SRT.
    ///
    /// - Throws: ``MediaError`` for a URL that cannot be read or is not allowed.
    func srtPulls() throws(MediaError) -> [SRTPullSettings] {
        var pulls: [SRTPullSettings] = []
        for source in self.pipeline.sources {
            guard case .srtPull(let secret) = source.input else { continue }
            let place = "source[\(source.id)]"
            guard let url = SRTURL(try secret.resolved(place: place)) else {
                throw MediaError(
                    .rejected, "the URL is not srt://host:port?streamid=…", at: place,
                    fix: "correct it; words: streamid, latency, passphrase, pbkeylen")
            }
            guard self.pipeline.ingest.pull.allows(url) else {
                throw MediaError(
                    .rejected, "\(url.host):\(url.port) is not in ingest.pull.allowedHosts", at: place,
                    fix: "add it there if it is yours")
            }
            var settings = SRTPullSettings(source: source.id, url: url, codecs: self.codecs(of: source))
            let rtmp = self.pipeline.ingest.rtmp
            settings.openTimeout = Int64(rtmp.firstPacketTimeoutMs) * 1_000_000
            settings.idleTimeout = Int64(rtmp.idleTimeoutMs) * 1_000_000
            settings.maximumBytes = rtmp.maxMessageBytes
            pulls.append(settings)
        }
        return pulls
    }
}
