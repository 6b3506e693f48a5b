import Testing

import Events

@Suite("Counters of webhook deliveries")
struct WebhookCountersTests {
    @Test("a webhook's 2xx counts as delivered, another status as refused, no response as failed")
    func outcomes() {
        var tally = WebhookCounters()
        for outcome in [
            WebhookQueue.Outcome.status(200), .status(204), .status(302), .status(410), .status(503, retryAfter: 1),
            .failed("timeout"),
        ] { tally.count(outcome) }
        #expect(tally.delivered == 2 && tally.refused == 3 && tally.failed == 1)
        var sum = tally
        sum.add(tally)
        #expect(sum.delivered == 4 && sum.refused == 6 && sum.failed == 2)
    }
}
