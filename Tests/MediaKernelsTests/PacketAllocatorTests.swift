import MediaKernels
import TestSupport
import Testing

@Suite("PacketAllocator: memory blocks of packets", .serialized)
struct PacketAllocatorTests {
    @Test("a packet memory block is at least as large as requested and at most a quarter larger")
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

    /// Returns all idle blocks to the system, except those that other tests free meanwhile.
    private static func releaseAll() {
        PacketAllocator.releaseUnused()
        PacketAllocator.releaseUnused()
    }

    @Test("freed packet memory blocks are reused, and idle ones are kept only up to the limit")
    func reuse() throws {
        // All idle blocks may be from other tests.
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
        // Less or more by the activity of other tests.
        #expect(PacketAllocator.idleBytes <= max(PacketAllocator.mostIdle, half) + (4 << 20))
        #expect(PacketAllocator.idleBytes >= PacketAllocator.mostIdle - (4 << 20))
    }

    @Test("idle packet memory blocks may exceed the usual limit while at least as many bytes are in use")
    func busy() throws {
        Self.releaseAll()
        let size = 3 << 20
        let most = PacketAllocator.mostIdle
        let blocks = try (0..<2 * most / size + 16).map { _ in try #require(PacketAllocator.allocate(size: size)) }
        let before = PacketAllocator.idleBytes
        for block in blocks.prefix(blocks.count / 2) { PacketAllocator.free(block.base, size: block.size) }
        let kept = PacketAllocator.idleBytes - before
        #expect(kept > blocks.count / 2 * size - (4 << 20) && kept > most + size)
        // Includes the use by other tests, if it is higher than usual.
        let half = (PacketAllocator.usedBytes + PacketAllocator.idleBytes) / 2
        for block in blocks.dropFirst(blocks.count / 2) { PacketAllocator.free(block.base, size: block.size) }
        #expect(
            PacketAllocator.idleBytes <= max(most, half) + (4 << 20), "no more than the limit, or half of all bytes")
        Self.releaseAll()
    }

    @Test("idle packet memory blocks that were not reused between two cleanups are returned to the system")
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
        // Two blocks, minus those that other tests may have freed meanwhile.
        #expect(PacketAllocator.idleBytes < before - size)
        let again = try #require(PacketAllocator.allocate(size: size))
        #expect(again.base == one.base)
        PacketAllocator.free(again.base, size: again.size)
    }
}
