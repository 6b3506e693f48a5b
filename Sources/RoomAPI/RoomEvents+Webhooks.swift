package import Events
import MediaTypes

extension RoomEvents {
    /// Emits an event about the delivery of events to a webhook, such as `webhook.failing`.
    package func tell(_ webhook: Webhook, _ notice: WebhookQueue.Notice) {
        let url = JSONValue.string(webhook.shownURL)
        switch notice {
        case .failing(let reason): self.emit("webhook.failing", ["webhook": url, "reason": .string(reason)])
        case .restored(let failures): self.emit("webhook.restored", ["webhook": url, "failures": JSONValue(failures)])
        case .disabled:
            self.emit("webhook.disabled", ["webhook": url, "reason": "status 410: the receiver wants no more events"])
        case .lost(let count): self.emit("webhook.lost", ["webhook": url, "events": .integer(count)])
        case .removed(let count): self.emit("webhook.removed", ["webhook": url, "undelivered": .integer(count)])
        }
    }
}
