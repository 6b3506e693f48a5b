import MediaKernels
import TestSupport
import Testing

@Suite("Memory of packets", .serialized)
struct PacketBlocksTests {
    @Test("a block is as large as asked for, and at most a quarter larger")
    func sizes() throws {
        var random = TestRandom(seed: 11)
        var sizes = (0...14).flatMap { octave in (-1...1).map { (PacketAllocator.smallest << octave) + $0 } }
        sizes += (0..<2_000).map { _ in Int.random(in: 1...(9 << 20), using: &random) }
        for size in sizes {
            let block = try #require(PacketAllocator.allocate(size: size))
            defer { PacketAllocator.free(block.base, size: block.size) }
            #expect(block.size >= size)
            #expect(block.size <= size + size / 4, "\(size): \(block.size)")
        }
    }

    /// Nothing is kept behind it but what threads of other tests give back meanwhile.
    private static func releaseAll() {
        PacketAllocator.releaseUnused()
        PacketAllocator.releaseUnused()
    }

    @Test("what was given back is used again, and no more than the limit is kept")
    func reuse() throws {
        // What other tests have left may be all that is kept.
        Self.releaseAll()
        let size = 3 << 20
        let first = try #require(PacketAllocator.allocate(size: size))
        PacketAllocator.free(first.base, size: first.size)
        let second = try #require(PacketAllocator.allocate(size: size - 1000))
        #expect(second.base == first.base)
        PacketAllocator.free(second.base, size: second.size)
        let many = try (0..<20).map { _ in try #require(PacketAllocator.allocate(size: size)) }
        let half = (PacketAllocator.usedBytes + PacketAllocator.idleBytes) / 2
        for block in many { PacketAllocator.free(block.base, size: block.size) }
        // Less or more by what other tests do meanwhile.
        #expect(PacketAllocator.idleBytes <= max(PacketAllocator.mostIdle, half) + (4 << 20))
        #expect(PacketAllocator.idleBytes >= PacketAllocator.mostIdle - (4 << 20))
    }

    @Test("where much is in use as much may be kept: half of it that is let go of at once is there for who comes next")
    func busy() throws {
        Self.releaseAll()
        let size = 3 << 20
        let most = PacketAllocator.mostIdle
        let blocks = try (0..<2 * most / size + 16).map { _ in try #require(PacketAllocator.allocate(size: size)) }
        let before = PacketAllocator.idleBytes
        for block in blocks.prefix(blocks.count / 2) { PacketAllocator.free(block.base, size: block.size) }
        let kept = PacketAllocator.idleBytes - before
        #expect(kept > blocks.count / 2 * size - (4 << 20) && kept > most + size)
        // With what the other tests have in use, as far as it is more than usual.
        let half = (PacketAllocator.usedBytes + PacketAllocator.idleBytes) / 2
        for block in blocks.dropFirst(blocks.count / 2) { PacketAllocator.free(block.base, size: block.size) }
        #expect(PacketAllocator.idleBytes <= max(most, half) + (4 << 20), "and no more than as much")
        Self.releaseAll()
    }

    @Test("what nobody has needed from one look to the next is given back, what somebody has is kept")
    func unused() throws {
        Self.releaseAll()
        let size = 3 << 20
        let three = try (0..<3).map { _ in try #require(PacketAllocator.allocate(size: size)) }
        for block in three { PacketAllocator.free(block.base, size: block.size) }
        PacketAllocator.releaseUnused()
        let before = PacketAllocator.idleBytes
        let one = try #require(PacketAllocator.allocate(size: size))
        PacketAllocator.free(one.base, size: one.size)
        PacketAllocator.releaseUnused()
        // Two blocks, less what other tests may have given back meanwhile.
        #expect(PacketAllocator.idleBytes < before - size)
        let again = try #require(PacketAllocator.allocate(size: size))
        #expect(again.base == one.base)
        PacketAllocator.free(again.base, size: again.size)
    }
}
