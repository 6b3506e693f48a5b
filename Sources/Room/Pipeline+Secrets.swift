package import Events
package import MediaTypes
package import Origin
package import PipelineSpec
package import Threading

/// Reads the secrets that the pipeline names.
extension Pipeline {
    /// The secrets with which viewers' URLs are signed; nil if URLs are not signed, so that everyone may watch.
    ///
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` if a secret is still a placeholder such as
    ///   `CHANGE_ME`.
    package func playbackSecrets() throws(MediaError) -> [String]? {
        guard let settings = self.hls?.http.signedURLs, let secret = settings.secret else { return nil }
        return try secret.lines(place: "outputs.http.signedUrls")
    }

    /// Verifies the signatures of viewers' URLs; nil if URLs are not signed, so that everyone may watch.
    ///
    /// - Parameter wall: The clock that decides whether a signature has expired.
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` if a secret is still a placeholder such as
    ///   `CHANGE_ME`.
    package func playbackGate(wall: any WallClock) throws(MediaError) -> SignedURLVerifier? {
        guard let secrets = try self.playbackSecrets() else { return nil }
        return SignedURLVerifier(room: self.room.roomID, secrets: secrets) {
            wall.now() / TimeMath.nanoseconds
        }
    }

    /// The directory in which the room's event log is stored; nil for an offline job and without an HLS output.
    package var eventDirectory: String? { self.clock == .offline ? nil : self.hls?.path }

    /// The webhooks that receive the room's events, with their URLs and secrets.
    ///
    /// - Throws: ``MediaError`` if a secret or URL cannot be read, or if a URL is invalid.
    package func webhooks() throws(MediaError) -> [Webhook] {
        var webhooks: [Webhook] = []
        for (index, sink) in self.control.events.enumerated() {
            let place = "control.events[\(index)]"
            let secrets = try sink.secret?.lines(place: place) ?? []
            let url = try sink.url.resolved(place: place)
            guard EventSink.isURL(url) else {
                throw MediaError(
                    .rejected, "the URL is not http://host/path or https://host/path", at: place,
                    fix: "correct the URL, or the variable or file that contains it")
            }
            webhooks.append(
                Webhook(url: url, types: sink.types, timeout: Int64(sink.timeoutMs) * 1_000_000, secrets: secrets))
        }
        return webhooks
    }
}

extension Pipeline.Control {
    /// The operators' access tokens: one for commands, one for reading; nil if the pipeline does not set it.
    ///
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` if a token is still a placeholder such as
    ///   `CHANGE_ME`, or if both are the same.
    func tokens() throws(MediaError) -> (command: String?, reader: String?) {
        let command = try self.token?.resolved(place: "control")
        let reader = try self.readToken?.resolved(place: "control")
        guard command == nil || command != reader else {
            throw MediaError(
                .rejected, "the read token is the same as the token for commands", at: "control",
                fix: "set a different token in control.readTokenFile or control.readTokenEnv")
        }
        return (command, reader)
    }
}
