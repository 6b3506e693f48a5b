import HLSLint
import Testing

@Suite("Lint: a server that does not answer for a while, as between a worker and its successor")
struct OutageTests {
    private static let start: Int64 = 40_000_000_000

    /// The server is down for so many seconds: new requests are refused, blocked ones are cut off.
    private static func away(_ seconds: Int64) -> Fault {
        Fault(
            rule: nil,
            reply: { _, _, reply in
                let end = Self.start + seconds * 1_000_000_000
                guard reply.sentAt < end, max(reply.receivedAt, reply.sentAt) >= Self.start else { return reply }
                return LintReply(
                    status: 0, failure: "connection refused", sentAt: reply.sentAt,
                    receivedAt: max(Self.start, reply.sentAt))
            })
    }

    @Test("a server's outage of two seconds is listed under outages and is no finding; no segment is missed")
    func short() throws {
        let linter = ScriptServer(script: try Script.shared.get(), fault: Self.away(2)).run()
        #expect(linter.findings.isEmpty, "\(linter.findings.map(\.what))")
        let outage = try #require(linter.outages.first)
        #expect(linter.outages.count == 1)
        #expect(abs(outage.from - Self.start) < 10_000_000)
        #expect(abs(outage.duration - 2_000_000_000) < 300_000_000)
        #expect(outage.text(since: 10_000_000_000).hasPrefix("no answer for 2."))
        #expect(linter.report.text.contains("\"outages\":[{\"atSeconds\":30"))
        let whole = ScriptServer(script: try Script.shared.get(), fault: Fault(rule: nil)).run()
        #expect(linter.segmentCount == whole.segmentCount, "segments listed meanwhile are fetched")
        #expect(whole.outages.isEmpty)
    }

    @Test("if a server answers 404 for listed parts after an outage, the linter reports findings")
    func lostParts() throws {
        let end = Self.start + 2_000_000_000
        let away = Self.away(2).reply
        // Objects from before are gone, except whole segments.
        let fault = Fault(
            rule: nil,
            reply: { path, isListed, reply in
                let reply = away(path, isListed, reply)
                let name = path.split(separator: "/").last.map { $0.split(separator: "-").last ?? "" } ?? ""
                let numbers = name.split(separator: ".").compactMap { Int64($0) }
                // Parts of the incomplete segment, whose names are used again, and of those before.
                guard numbers.count == 2, numbers[0] <= 18, reply.sentAt >= end, reply.status != 0 else { return reply }
                return LintReply(status: 404, sentAt: reply.sentAt, receivedAt: reply.receivedAt)
            })
        let linter = ScriptServer(script: try Script.shared.get(), fault: fault).run()
        let rules = Set(linter.findings.map(\.rule))
        #expect(rules == [.resourceMissing, .partGone, .hintUnanswered], "\(rules.map(\.rawValue))")
    }

    @Test("a server's outage of nine seconds is a finding")
    func long() throws {
        let linter = ScriptServer(script: try Script.shared.get(), fault: Self.away(9)).run()
        #expect(linter.findings.contains { $0.rule == .resourceMissing })
    }
}
