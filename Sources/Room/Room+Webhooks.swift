import Control
package import Events
package import MediaTypes
package import PipelineSpec
import Secrets

extension Pipeline {
    /// Where the room's events are kept; `nil`: nowhere.
    package var eventDirectory: String? { self.clock == .offline ? nil : self.hls?.path }

    /// The receivers of the room's events.
    ///
    /// - Throws: ``MediaError`` for a secret or URL that cannot be read, and for what is no URL.
    package func webhooks() throws(MediaError) -> [Webhook] {
        var webhooks: [Webhook] = []
        for (index, sink) in self.control.events.enumerated() {
            let place = "control.events[\(index)]"
            let secrets = try sink.secret?.lines(place: place) ?? []
            let url = try sink.url.resolved(place: place)
            guard EventSink.isURL(url) else {
                throw MediaError(
                    .rejected, "the URL is not http://host/path or https://host/path", at: place,
                    fix: "correct what the variable holds")
            }
            webhooks.append(
                Webhook(url: url, types: sink.types, timeout: Int64(sink.timeoutMs) * 1_000_000, secrets: secrets))
        }
        return webhooks
    }
}

extension RoomEvents {
    /// Tells what came of the delivery to a webhook, as an event of its own.
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
            "Attempts to deliver an event: taken, refused by a status, or failed without one.")
        // Two may be at one host, which is all that may be shown of them.
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

    /// Reads the webhooks' secrets again. What cannot be read changes nothing.
    func reloadWebhooks() {
        guard let delivery = self.delivery, self.pipeline.control.events.contains(where: { $0.secret != nil }) else {
            return
        }
        do throws(MediaError) {
            // With the document, so that no other version of it comes between.
            try self.documentTurn.withLock { _ throws(MediaError) in delivery.replace(try self.pipeline.webhooks()) }
            self.logger.info("secrets of webhooks read again")
            self.events.emit("webhook.secretsRenewed", [:])
        } catch {
            self.logger.warning(
                "secrets of webhooks not read again, the old ones stay", metadata: ["error": "\(error)"])
            self.events.emit("webhook.secretsRefused", ["reason": .string(error.what), "fix": .string(error.fix)])
        }
    }

    /// Who is to be told the room's events, with the secrets read; `nil`: those who are.
    func webhooks(from before: Pipeline, to after: Pipeline) throws(ControlFailure) -> [Webhook]? {
        guard before.control.events != after.control.events else { return nil }
        do throws(MediaError) {
            return try after.webhooks()
        } catch {
            throw .invalidValue(error.place, error.what, fix: error.fix)
        }
    }
}
