import MediaKernels
import Testing

@Suite("Objects that are used again")
struct ReusedObjectsTests {
    private final class Thing {
        var fillings = 0
        var isEmpty = true
    }

    /// A maker as the pools are: what it hands out is filled, and was emptied exactly once since it was filled before.
    private struct Maker: ~Copyable {
        var objects: ReusedObjects<Thing>
        var made = 0
        var count: Int { self.objects.count }

        init(limit: Int) { self.objects = ReusedObjects(limit: limit) }

        mutating func make() -> Thing {
            self.objects.collect { thing in
                #expect(!thing.isEmpty, "freed once")
                thing.isEmpty = true
            }
            let thing: Thing
            if let free = self.objects.takeFree() {
                thing = free
            } else {
                thing = Thing()
                self.made += 1
            }
            #expect(thing.isEmpty, "nobody has it")
            thing.isEmpty = false
            thing.fillings += 1
            self.objects.handedOut(thing)
            return thing
        }
    }

    @Test("what somebody has is never handed out again, in whatever order things are let go of", arguments: [1, 7, 64])
    func random(limit: Int) {
        var maker = Maker(limit: limit)
        var held: [(thing: Thing, filling: Int)] = []
        var random = TestRandom(seed: UInt64(limit))
        for _ in 0..<20_000 {
            if Bool.random(using: &random) || held.isEmpty {
                let thing = maker.make()
                held.append((thing, thing.fillings))
            } else {
                held.swapAt(Int.random(in: 0..<held.count, using: &random), held.count - 1)
                held.removeLast()
            }
            if held.count > 100 { held.removeFirst(Int.random(in: 0..<100, using: &random)) }
            let count = maker.count
            #expect(count <= limit)
        }
        #expect(held.allSatisfy { !$0.thing.isEmpty && $0.thing.fillings == $0.filling })
        #expect(Set(held.map { ObjectIdentifier($0.thing) }).count == held.count)
    }

    @Test("beyond the limit objects are ordinary; within it no more are made than are out at once")
    func limits() {
        var maker = Maker(limit: 4)
        var all = (0..<10).map { _ in maker.make() }
        #expect(maker.made == 10 && maker.count == 4 && all.count == 10)
        all.removeAll()
        for _ in 0..<100 { _ = [maker.make(), maker.make(), maker.make()] }
        #expect(maker.made == 10 && maker.count == 4)
    }
}
