import PublishAuth
import MediaTypes
import PipelineSpec
import RTMP
import Testing

@Suite("Temporary refusals, and the rate limit of wrong-key answers")
struct RefusalTests {
    static let second: Int64 = 1_000_000_000

    @Test("a source is refused until the refusal's end time; a new refusal replaces it, also with an earlier end")
    func table() {
        var table = RefusalTable()
        let (one, other) = (SourceID(uid: "1"), SourceID(uid: "2"))
        table.refuse(one, .kicked, until: 10)
        var told = [table.refusal(of: one, now: 9), table.refusal(of: other, now: 9), table.refusal(of: one, now: 10)]
        #expect(told == [.kicked, nil, nil])
        table.refuse(one, .quarantined, until: 100)
        table.refuse(one, .kicked, until: 0)
        told = [table.refusal(of: one, now: 50)]
        #expect(told == [nil])
    }

    @Test("an address gets ten wrong-key responses at once, then one per second; other addresses have their own limit")
    func bucket() throws {
        var limiter = AuthFailureLimiter()
        let one = try #require(IPAddress("192.0.2.1")), other = try #require(IPAddress("192.0.2.2"))
        var answers: [AuthFailureLimiter.Answer] = []
        for index in 0..<5_000 { answers.append(limiter.failed(at: one, now: Int64(index) * Self.second / 500)) }
        #expect(answers.prefix(10).allSatisfy { $0 == .explain })
        #expect(answers.count { $0 == .explain } == 10 + 9, "ten seconds of 500 a second")
        let answer = limiter.failed(at: other, now: 10 * Self.second)
        #expect(answer == .explain)
    }

    @Test(
        "the limiter of wrong-key responses keeps at most 1,025 of 20,000 addresses, and a known address still gets its response"
    )
    func bounded() throws {
        var limiter = AuthFailureLimiter()
        let known = try #require(IPAddress("192.0.2.1"))
        _ = limiter.failed(at: known, now: 0)
        var explained = 0
        for index in 0..<20_000 {
            let address = try #require(IPAddress("10.\(index >> 16 & 255).\(index >> 8 & 255).\(index & 255)"))
            if limiter.failed(at: address, now: 1) == .explain { explained += 1 }
        }
        #expect(limiter.count <= 1025 && explained < 1_100)
        let answer = limiter.failed(at: known, now: 2)
        #expect(answer == .explain)
        _ = limiter.failed(at: known, now: 100 * Self.second)
        let later = limiter.failed(at: try #require(IPAddress("203.0.113.9")), now: 100 * Self.second)
        #expect(later == .explain && limiter.count <= 3, "entries are removed after their end")
    }
}
