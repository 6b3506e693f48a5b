/// The packets of one maker, whose objects are used again: in the long run it takes nothing from the heap.
///
/// Of a packet that nobody has any more the block goes back to ``PacketBlocks`` when the next one is made, and the object
/// stays. A packet that is out is as immutable as any other.
///
/// Invariant: an object is written only while the pool has the only reference to it, so nobody can get another one.
package struct PacketPool: ~Copyable {
    /// Packets that are looked after; those beyond, as when a reader lags far behind, are ordinary objects. Two seconds of
    /// sound or of pictures, which are in a segment until that is whole.
    package static let limit = 256

    /// Handed out.
    private var out: [PacketMemory] = []
    /// Empty.
    private var spare: [PacketMemory] = []

    package init() {
        self.out.reserveCapacity(Self.limit)
        self.spare.reserveCapacity(Self.limit)
    }

    /// Objects the pool looks after.
    package var count: Int { self.out.count + self.spare.count }

    /// A copy of `bytes`.
    package mutating func memory(copying bytes: UnsafeRawBufferPointer) -> PacketMemory {
        let (base, size) = unsafe PacketMemory.block(copying: bytes)
        return unsafe self.memory(owning: base, size: size, count: bytes.count)
    }

    /// Takes over a block as `PacketMemory.init(owning:size:count:)` does.
    mutating func memory(owning base: UnsafeMutableRawPointer, size: Int, count: Int) -> PacketMemory {
        self.collect()
        let memory: PacketMemory
        if let spare = self.spare.popLast() {
            unsafe spare.fill(owning: base, size: size, count: count)
            memory = spare
        } else {
            unsafe memory = PacketMemory(owning: base, size: size, count: count)
        }
        if self.out.count < Self.limit { self.out.append(memory) }
        return memory
    }

    /// Empties what nobody has any more.
    private mutating func collect() {
        var index = 0
        while index < self.out.count {
            guard isKnownUniquelyReferenced(&self.out[index]) else {
                index += 1
                continue
            }
            self.out.swapAt(index, self.out.count - 1)
            if let free = self.out.popLast() {
                free.empty()
                self.spare.append(free)
            }
        }
    }
}
