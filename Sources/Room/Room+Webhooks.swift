import Control
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

extension RoomEvents {
    /// Emits an event about the delivery to a webhook.
    package func tell(_ webhook: Webhook, _ notice: WebhookQueue.Notice) {
        let url = JSONValue.string(webhook.shownURL)
        switch notice {
        case .failing(let reason): self.emit("webhook.failing", ["webhook": url, "reason": .string(reason)])
        case .restored(let failures): self.emit("webhook.restored", ["webhook": url, "failures": JSONValue(failures)])
        case .disabled: self.emit("webhook.disabled", ["webhook": url, "reason": "status 410: it wants no more"])
        case .lost(let count): self.emit("webhook.lost", ["webhook": url, "events": .integer(count)])
        case .removed(let count): self.emit("webhook.removed", ["webhook": url, "undelivered": .integer(count)])
        }
    }
}

extension Room {
    func addWebhooks(_ metrics: inout MetricsText) {
        metrics.family(
            "tandem_webhook_deliveries_total", .counter,
            "Attempts to deliver an event: delivered, refused with a status code, or failed without a response.")
        // Only the host of a webhook may be shown, and two webhooks may have the same host.
        var tallies: [String: WebhookCounters] = [:]
        for (url, tally) in self.delivery?.tallies ?? [] { tallies[url, default: WebhookCounters()].add(tally) }
        for (url, tally) in tallies.sorted(by: { $0.key < $1.key }) {
            for (result, count) in [
                ("delivered", tally.delivered), ("refused", tally.refused), ("failed", tally.failed),
            ] {
                metrics.sample("tandem_webhook_deliveries_total", ["webhook": url, "result": result], count)
            }
        }
    }

    /// Reads the webhooks' secrets again. If they cannot be read, then the old ones stay.
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

    /// The webhooks of a new version of the document, with their secrets; `nil`: they do not change.
    func webhooks(from before: Pipeline, to after: Pipeline) throws(ControlFailure) -> [Webhook]? {
        guard before.control.events != after.control.events else { return nil }
        do throws(MediaError) {
            return try after.webhooks()
        } catch {
            throw .invalidValue(error.place, error.what, fix: error.fix)
        }
    }
}
