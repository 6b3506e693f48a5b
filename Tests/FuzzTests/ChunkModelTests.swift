import FuzzCases
import Testing

@Suite("RTMP chunks and media in every form that a writer may legally choose, read back")
struct ChunkModelTests {
    @Test(
        "a model writer's RTMP messages, in every legal chunk form and with aborts, are read back equal for random splits",
        arguments: 0..<120)
    func everyLegalChoice(seed: Int) {
        for largest in [Int.max, 1, 2, 3, 7, 127, 128, 4096] {
            let broken = ChunkModel.holds(seed: UInt64(seed), steps: 150, largest: largest)
            #expect(broken == nil, "seed \(seed), pieces of at most \(largest)")
        }
    }

    @Test("the 40 generated RTMP chunk schedules contain every chunk form of the model")
    func everyFormOccurs() {
        let forms = (0..<40).reduce(into: Set<String>()) {
            $0.formUnion(ChunkModel.forms(seed: UInt64($1), steps: 150))
        }
        #expect(forms == ChunkModel.allForms)
    }

    @Test(
        "an RTMP server session delivers a model publisher's media, also from aggregates and between control messages",
        arguments: 0..<120
    )
    func session(seed: Int) {
        for largest in [Int.max, 1, 128, 700] {
            let broken = SessionModel.holds(seed: UInt64(seed), largest: largest)
            #expect(broken == nil, "seed \(seed), pieces of at most \(largest)")
        }
    }

    @Test("if a Set Chunk Size is hidden from the RTMP chunk reader, more than half of 20 schedules are read wrongly")
    func modelCanFail() {
        let broken = (0..<20).compactMap { ChunkModel.holds(seed: UInt64($0), steps: 150, largest: .max, forgets: 1) }
        #expect(broken.count > 10)
    }
}
