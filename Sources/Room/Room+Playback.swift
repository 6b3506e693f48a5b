package import MediaTypes
package import Origin
import Packager
package import PipelineSpec
import Secrets
package import Stages

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
    package func playbackGate(wall: any WallClock) throws(MediaError) -> PlaybackGate? {
        guard let secrets = try self.playbackSecrets() else { return nil }
        return PlaybackGate(room: self.room.roomID, secrets: secrets) {
            wall.now() / TimeMath.nanoseconds
        }
    }

    /// How the HLS output is encrypted; `nil`: not at all.
    ///
    /// - Throws: ``MediaError/Code/notReadable``.
    func encryptionSettings() throws(MediaError) -> EncryptionSettings? {
        guard let settings = self.hls?.encryption else { return nil }
        let place = "outputs.encryption"
        let secret = try settings.secret?.resolved(place: place)
        guard secret.map({ (16...4_096).contains($0.utf8.count) }) ?? true else {
            throw MediaError(
                .notReadable, "the secret is too short or too long", at: place, fix: "write 16 to 4096 bytes")
        }
        return EncryptionSettings(
            room: self.room.roomID, rotation: Int64(settings.rotateEverySegments), keyURI: settings.keyURI,
            secret: secret.map { Array($0.utf8) })
    }
}
