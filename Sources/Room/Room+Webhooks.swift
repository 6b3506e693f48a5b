import Control
package import Events
package import MediaTypes
package import PipelineSpec

extension Pipeline {
    /// Where the room's events are kept; `nil`: nowhere.
    package var eventDirectory: String? { self.clock == .offline ? nil : self.hls?.path }

    /// The receivers of the room's events.
    ///
    /// - Throws: ``MediaError`` for a secret that cannot be read.
    package func webhooks() throws(MediaError) -> [Webhook] {
        var webhooks: [Webhook] = []
        for (index, sink) in self.control.events.enumerated() {
            let text = try sink.secret?.resolved(place: "control.events[\(index)]") ?? ""
            let secrets = text.split(separator: "\n").map(String.init)
            webhooks.append(
                Webhook(
                    url: sink.url, types: sink.types, timeout: Int64(sink.timeoutMs) * 1_000_000, secrets: secrets))
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
