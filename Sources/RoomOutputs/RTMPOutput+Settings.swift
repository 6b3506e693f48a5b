package import MediaTypes
package import PipelineSpec
package import Push
import RTMP
import Secrets

extension RTMPOutput {
    /// The settings of the output for the RTMP push client.
    ///
    /// - Parameter bitrate: Bit rate of the rendition, in bits per second.
    /// - Throws: ``MediaError`` if a secret cannot be read, or if the URL or the key is invalid.
    package func settings(rendition: String, bitrate: Int) throws(MediaError) -> PushSettings {
        let place = "output[\(self.outputID)]"
        let text = try self.url.resolved(place: place)
        let key = try self.key?.resolved(place: place)
        if let key, !RTMPOutput.isKey(key) {
            throw MediaError(
                .rejected, "the key is not one line of 1 to 256 printable ASCII characters", at: place,
                fix: "write only the stream key, on one line")
        }
        guard let url = RTMPURL(text, allowsTLS: true, key: key), url.streamName.first.map({ $0 != "?" }) == true else {
            throw MediaError(
                .rejected, "the URL is not rtmp://host[:port]/app/key", at: place, fix: "correct the URL or the key")
        }
        var core = PushCore.Settings(url: url)
        core.stallTimeout = Int64(self.stallTimeoutMs) * 1_000_000
        core.firstRetry = Int64(self.retry.initialDelayMs) * 1_000_000
        core.longestRetry = Int64(self.retry.maxDelayMs) * 1_000_000
        // Half a second of media, but from 32 KiB to 1 MiB.
        core.acknowledgementWindow = UInt32(clamping: min(max(bitrate / 16, 32 << 10), 1 << 20))
        var settings = PushSettings(outputID: self.outputID, rendition: rendition, core: core)
        settings.authorities = self.tls.authorities
        settings.trustsAnybody = !self.tls.verify
        return settings
    }
}
