package import MediaTypes
package import Origin
package import PipelineSpec
import Secrets
package import Threading

extension Pipeline {
    /// The secrets that viewers' URLs are signed with, one a line; `nil`: anybody may watch.
    ///
    /// - Throws: ``MediaError/Code/notReadable``.
    package func playbackSecrets() throws(MediaError) -> [String]? {
        guard let settings = self.hls?.http.signedURLs, let secret = settings.secret else { return nil }
        return try secret.lines(place: "outputs.http.signedUrls")
    }

    /// Who may watch; `nil`: anybody.
    ///
    /// - Parameter wall: Tells whether a signature has expired.
    /// - Throws: ``MediaError/Code/notReadable``.
    package func playbackGate(wall: any WallClock) throws(MediaError) -> SignedURLVerifier? {
        guard let secrets = try self.playbackSecrets() else { return nil }
        return SignedURLVerifier(room: self.room.roomID, secrets: secrets) {
            wall.now() / TimeMath.nanoseconds
        }
    }
}
