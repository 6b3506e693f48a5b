import MediaTypes
import Room
import Testing

@Suite("Limits of the operator's metadata events: rate, ids, states")
struct MetadataDeskTests {
    private static func entry(_ text: String = "a") -> MetadataDesk.Entry {
        MetadataDesk.Entry(content: text, frame: 7)
    }

    @Test("the burst is accepted at once, then as many events a second as the rate")
    func rate() throws {
        var desk = MetadataDesk()
        for number in 1...MetadataDesk.burst {
            #expect(try desk.add(Self.entry(), id: nil, state: nil, now: 1_000) == number)
        }
        #expect(throws: MetadataDesk.Refusal.tooMany) { try desk.add(Self.entry(), id: nil, state: nil, now: 1_000) }
        var taken = 0
        for millisecond in 0..<5_000 as Range<Int64> {
            if (try? desk.add(Self.entry(), id: nil, state: nil, now: 1_000 + millisecond * 1_000_000)) != nil {
                taken += 1
            }
        }
        #expect((98...101).contains(taken), "\(taken)")
        // A clock that goes back adds nothing to the budget.
        #expect(throws: MetadataDesk.Refusal.tooMany) { try desk.add(Self.entry(), id: nil, state: nil, now: 0) }
    }

    @Test("publishers at full speed leave half of the rate to the operator")
    func reserve() throws {
        var desk = MetadataDesk()
        var taken = 0
        for millisecond in 0..<5_000 as Range<Int64> {
            let now = millisecond * 1_000_000
            if (try? desk.add(Self.entry(), id: nil, state: nil, leaving: MetadataDesk.reserve, now: now)) != nil {
                taken += 1
            }
        }
        #expect((128...131).contains(taken), "\(taken)")
        let now: Int64 = 4_999_000_000
        for _ in 0..<MetadataDesk.reserve { _ = try desk.add(Self.entry(), id: nil, state: nil, now: now) }
        #expect(throws: MetadataDesk.Refusal.tooMany) { try desk.add(Self.entry(), id: nil, state: nil, now: now) }
        // Publishers may send again when the operator's half is full.
        let later = now + MetadataDesk.reserve * 50_000_000
        #expect(throws: MetadataDesk.Refusal.tooMany) {
            try desk.add(Self.entry(), id: nil, state: nil, leaving: MetadataDesk.reserve, now: later - 50_000_000)
        }
        _ = try desk.add(Self.entry(), id: nil, state: nil, leaving: MetadataDesk.reserve, now: later + 50_000_000)
    }

    @Test("a repeated id with the same event is recognized, with another event it is refused")
    func ids() throws {
        var desk = MetadataDesk()
        #expect(try desk.known("g1", content: "a") == nil)
        _ = try desk.add(Self.entry(), id: "g1", state: nil, now: 0)
        #expect(try desk.known("g1", content: "a") == Self.entry())
        #expect(throws: MetadataDesk.Refusal.taken) { try desk.known("g1", content: "b") }
    }

    @Test("the number of stateful types is limited, and an ended state frees its place; a refusal uses up nothing")
    func states() throws {
        var desk = MetadataDesk()
        for number in 0..<MetadataDesk.mostStates {
            _ = try desk.add(Self.entry(), id: nil, state: ("s\(number)", true), now: 0)
        }
        for _ in 0..<100 {
            #expect(throws: MetadataDesk.Refusal.tooManyStates) {
                try desk.add(Self.entry(), id: nil, state: ("more", true), now: 0)
            }
        }
        _ = try desk.add(Self.entry(), id: nil, state: ("s0", true), now: 0)
        _ = try desk.add(Self.entry(), id: nil, state: ("s0", false), now: 0)
        _ = try desk.add(Self.entry(), id: nil, state: ("more", true), now: 0)
    }
}
