import MediaTypes
import Room
import RoomAPI
import Testing

@Suite("Limits of timed metadata: rate, ids, lasting states")
struct MetadataLimiterTests {
    private static func entry(_ text: String = "a") -> MetadataLimiter.Entry {
        MetadataLimiter.Entry(content: text, frame: 7)
    }

    @Test("metadata events pass in one burst, then at about 20 a second")
    func rate() throws {
        var limiter = MetadataLimiter()
        for number in 1...MetadataLimiter.burst {
            #expect(try limiter.add(Self.entry(), id: nil, state: nil, now: 1_000) == number)
        }
        #expect(throws: MetadataLimiter.Refusal.tooMany) {
            try limiter.add(Self.entry(), id: nil, state: nil, now: 1_000)
        }
        var taken = 0
        for millisecond in 0..<5_000 as Range<Int64> {
            if (try? limiter.add(Self.entry(), id: nil, state: nil, now: 1_000 + millisecond * 1_000_000)) != nil {
                taken += 1
            }
        }
        #expect((98...101).contains(taken), "\(taken)")
        // A clock that goes back gives nothing.
        #expect(throws: MetadataLimiter.Refusal.tooMany) { try limiter.add(Self.entry(), id: nil, state: nil, now: 0) }
    }

    @Test("publishers' data messages use at most half of the burst, so that the operator's events still pass")
    func reserve() throws {
        var limiter = MetadataLimiter()
        var taken = 0
        for millisecond in 0..<5_000 as Range<Int64> {
            let now = millisecond * 1_000_000
            if (try? limiter.add(Self.entry(), id: nil, state: nil, leaving: MetadataLimiter.reserve, now: now)) != nil
            {
                taken += 1
            }
        }
        #expect((128...131).contains(taken), "\(taken)")
        let now: Int64 = 4_999_000_000
        for _ in 0..<MetadataLimiter.reserve { _ = try limiter.add(Self.entry(), id: nil, state: nil, now: now) }
        #expect(throws: MetadataLimiter.Refusal.tooMany) {
            try limiter.add(Self.entry(), id: nil, state: nil, now: now)
        }
        // Their turn comes when the operator's half is whole again.
        let later = now + MetadataLimiter.reserve * 50_000_000
        #expect(throws: MetadataLimiter.Refusal.tooMany) {
            try limiter.add(
                Self.entry(), id: nil, state: nil, leaving: MetadataLimiter.reserve, now: later - 50_000_000)
        }
        _ = try limiter.add(
            Self.entry(), id: nil, state: nil, leaving: MetadataLimiter.reserve, now: later + 50_000_000)
    }

    @Test("a metadata id used again with the same content is recognized, and with other content refused")
    func ids() throws {
        var limiter = MetadataLimiter()
        #expect(try limiter.known("g1", content: "a") == nil)
        _ = try limiter.add(Self.entry(), id: "g1", state: nil, now: 0)
        #expect(try limiter.known("g1", content: "a") == Self.entry())
        #expect(throws: MetadataLimiter.Refusal.taken) { try limiter.known("g1", content: "b") }
    }

    @Test("the number of metadata types with a lasting state is limited; ending one frees its place")
    func states() throws {
        var limiter = MetadataLimiter()
        for number in 0..<MetadataLimiter.mostStates {
            _ = try limiter.add(Self.entry(), id: nil, state: ("s\(number)", true), now: 0)
        }
        for _ in 0..<100 {
            #expect(throws: MetadataLimiter.Refusal.tooManyStates) {
                try limiter.add(Self.entry(), id: nil, state: ("more", true), now: 0)
            }
        }
        _ = try limiter.add(Self.entry(), id: nil, state: ("s0", true), now: 0)
        _ = try limiter.add(Self.entry(), id: nil, state: ("s0", false), now: 0)
        _ = try limiter.add(Self.entry(), id: nil, state: ("more", true), now: 0)
    }
}
