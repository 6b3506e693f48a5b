package import MediaTypes
package import Origin
package import PipelineSpec
import Stages

extension Pipeline {
    /// The secrets that viewers' URLs are signed with; `nil`: anybody may watch.
    ///
    /// - Throws: ``MediaError/Code/notReadable``.
    private func playbackSecrets() throws(MediaError) -> [String]? {
        guard let settings = self.hls?.http.signedURLs, let secret = settings.secret else { return nil }
        let place = "outputs.http.signedUrls"
        let secrets = try secret.resolved(place: place).split(separator: "\n").map(String.init)
        guard !secrets.isEmpty else {
            throw MediaError(.notReadable, "the secret is empty", at: place, fix: "write one secret a line")
        }
        return secrets
    }

    /// Who may watch; `nil`: anybody.
    ///
    /// - Throws: ``MediaError/Code/notReadable``.
    package func playbackGate() throws(MediaError) -> PlaybackGate? {
        guard let secrets = try self.playbackSecrets() else { return nil }
        return PlaybackGate(room: self.room.roomID, secrets: secrets) {
            SystemClock.wallClock() / TimeMath.nanoseconds
        }
    }
}
