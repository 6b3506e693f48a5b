package import Events
package import MediaTypes
package import Origin
package import PipelineSpec
package import Threading

/// The secrets that the pipeline names, read.
extension Pipeline {
    /// The secrets that viewers' URLs are signed with, one per line; `nil`: everybody may watch.
    ///
    /// - Throws: ``MediaError/Code/notReadable``.
    package func playbackSecrets() throws(MediaError) -> [String]? {
        guard let settings = self.hls?.http.signedURLs, let secret = settings.secret else { return nil }
        return try secret.lines(place: "outputs.http.signedUrls")
    }

    /// Verifies the URLs of viewers; `nil`: everybody may watch.
    ///
    /// - Parameter wall: Tells whether a signature has expired.
    /// - Throws: ``MediaError/Code/notReadable``.
    package func playbackGate(wall: any WallClock) throws(MediaError) -> SignedURLVerifier? {
        guard let secrets = try self.playbackSecrets() else { return nil }
        return SignedURLVerifier(room: self.room.roomID, secrets: secrets) {
            wall.now() / TimeMath.nanoseconds
        }
    }

    /// The directory in which the room's events are kept; `nil`: they are not kept.
    package var eventDirectory: String? { self.clock == .offline ? nil : self.hls?.path }

    /// The receivers of the room's events.
    ///
    /// - Throws: ``MediaError`` for a secret or URL that cannot be read, and for an invalid URL.
    package func webhooks() throws(MediaError) -> [Webhook] {
        var webhooks: [Webhook] = []
        for (index, sink) in self.control.events.enumerated() {
            let place = "control.events[\(index)]"
            let secrets = try sink.secret?.lines(place: place) ?? []
            let url = try sink.url.resolved(place: place)
            guard EventSink.isURL(url) else {
                throw MediaError(
                    .rejected, "the URL is not http://host/path or https://host/path", at: place,
                    fix: "correct the value of the variable")
            }
            webhooks.append(
                Webhook(url: url, types: sink.types, timeout: Int64(sink.timeoutMs) * 1_000_000, secrets: secrets))
        }
        return webhooks
    }
}

extension Pipeline.Control {
    /// The operators' tokens: the one for commands and the one for reading.
    ///
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` if both are the same.
    func tokens() throws(MediaError) -> (command: String?, reader: String?) {
        let command = try self.token?.resolved(place: "control")
        let reader = try self.readToken?.resolved(place: "control")
        guard command == nil || command != reader else {
            throw MediaError(
                .rejected, "the read token is the same as the token for commands", at: "control",
                fix: "write another token in control.readTokenFile or control.readTokenEnv")
        }
        return (command, reader)
    }
}
