import FuzzCases
import Testing

@Suite("RTMP chunks: whatever a writer may legally choose, the reader gives what was meant")
struct ChunkModelTests {
    @Test(
        "headers of every type, ids in every form, extended timestamps, aborts, chunk sizes, interleaved, at any cut",
        arguments: 0..<120)
    func everyLegalChoice(seed: Int) {
        for largest in [Int.max, 1, 2, 3, 7, 127, 128, 4096] {
            let broken = ChunkModel.holds(seed: UInt64(seed), steps: 150, largest: largest)
            #expect(broken == nil, "seed \(seed), pieces of at most \(largest)")
        }
    }

    @Test("the schedules of the model have every form in them")
    func everyFormOccurs() {
        let forms = (0..<40).reduce(into: Set<String>()) {
            $0.formUnion(ChunkModel.forms(seed: UInt64($1), steps: 150))
        }
        #expect(forms == ChunkModel.allForms)
    }

    @Test(
        "a session gives the media of a model, aggregates and interleaved control messages included", arguments: 0..<120
    )
    func session(seed: Int) {
        for largest in [Int.max, 1, 128, 700] {
            let broken = SessionModel.holds(seed: UInt64(seed), largest: largest)
            #expect(broken == nil, "seed \(seed), pieces of at most \(largest)")
        }
    }

    @Test("a reader that is told another chunk size than the writer's is noticed: the model can fail")
    func modelCanFail() {
        let broken = (0..<20).compactMap { ChunkModel.holds(seed: UInt64($0), steps: 150, largest: .max, forgets: 1) }
        #expect(broken.count > 10)
    }
}
