/// The packets of one maker, whose objects are used again: in the long run it takes nothing from the heap.
///
/// Of a packet that nobody has any more the block goes back to ``PacketBlocks`` when the next one is made, and the object
/// stays. A packet that is out is as immutable as any other; see ``ReusedObjects``.
package struct PacketPool: ~Copyable {
    /// Packets that are looked after: two seconds of sound or of pictures, which are in a segment until that is whole.
    package static let limit = 256

    private var objects = ReusedObjects<PacketMemory>(limit: Self.limit)

    package init() {}

    /// Objects the pool looks after.
    package var count: Int { self.objects.count }

    /// A copy of `bytes`.
    package mutating func memory(copying bytes: UnsafeRawBufferPointer) -> PacketMemory {
        let (base, size) = unsafe PacketMemory.block(copying: bytes)
        return unsafe self.memory(owning: base, size: size, count: bytes.count)
    }

    /// Takes over a block as `PacketMemory.init(owning:size:count:)` does.
    mutating func memory(owning base: UnsafeMutableRawPointer, size: Int, count: Int) -> PacketMemory {
        self.objects.collect { $0.empty() }
        let memory: PacketMemory
        if let free = self.objects.takeFree() {
            unsafe free.fill(owning: base, size: size, count: count)
            memory = free
        } else {
            unsafe memory = PacketMemory(owning: base, size: size, count: count)
        }
        self.objects.handedOut(memory)
        return memory
    }
}
