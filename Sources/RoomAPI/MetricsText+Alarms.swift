package import Control
package import Events

extension MetricsText {
    /// Adds the number of active alarms by type and severity. A combination without active alarms has no sample.
    package mutating func addAlarms(_ alarms: [RoomAlarm]) {
        self.family("tandem_alarms", .gauge, "Active alarms; absent if there is none of the type and severity.")
        var counts: [[String]: Int64] = [:]
        for alarm in alarms { counts[[alarm.type, alarm.severity], default: 0] += 1 }
        for (alarm, count) in counts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            self.sample("tandem_alarms", ["type": alarm[0], "severity": alarm[1]], count)
        }
    }

    /// Adds the expiry times of the listeners' certificates.
    ///
    /// - Parameter certificates: Name of each listener, with the expiry as Unix time in seconds.
    package mutating func addCertificates(_ certificates: [(listener: String, validUntil: Int64)]) {
        guard !certificates.isEmpty else { return }
        self.family(
            "tandem_certificate_expiry_timestamp_seconds", .gauge,
            "When the listener's certificate expires, since the Unix epoch.")
        for (listener, time) in certificates {
            self.sample("tandem_certificate_expiry_timestamp_seconds", ["listener": listener], time)
        }
    }

    /// Adds the number of events after the last one that each webhook has received or that was skipped for it.
    ///
    /// - Parameter backlogs: The public part of each webhook's URL with its number of events. Numbers of equal URLs are
    ///   added.
    package mutating func addWebhookQueues(_ backlogs: [(url: String, events: Int64)]) {
        guard !backlogs.isEmpty else { return }
        self.family(
            "tandem_webhook_queue_events", .gauge,
            "Events after the last one that the webhook has received or that was skipped for it, those of other types included."
        )
        let sums = Dictionary(backlogs.map { ($0.url, $0.events) }, uniquingKeysWith: +)
        for (url, events) in sums.sorted(by: { $0.key < $1.key }) {
            self.sample("tandem_webhook_queue_events", ["webhook": url], events)
        }
    }
}
