package import Events
package import MediaTypes
package import PipelineSpec
import Secrets

extension Pipeline {
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

extension Room {
    /// Reads the webhooks' secrets again. What cannot be read changes nothing.
    func reloadWebhooks() {
        guard let delivery = self.delivery, self.pipeline.control.events.contains(where: { $0.secret != nil }) else {
            return
        }
        do throws(MediaError) {
            // In the turn of the document, so that no other version of it comes between.
            try self.documentTurn.withLock { _ throws(MediaError) in delivery.replace(try self.pipeline.webhooks()) }
            self.logger.info("secrets of webhooks read again")
            self.events.emit("webhook.secretsRenewed", [:])
        } catch {
            self.logger.warning(
                "secrets of webhooks not read again, the old ones stay", metadata: ["error": "\(error)"])
            self.events.emit("webhook.secretsRefused", ["reason": .string(error.what), "fix": .string(error.fix)])
        }
    }
}
