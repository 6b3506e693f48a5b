/// The packets of one producer, whose objects are reused, so that in the long run nothing is allocated.
///
/// After a packet's last other reference is gone, its block returns to ``PacketAllocator`` when the next packet is
/// made, and the object is kept for reuse. A packet that is in use is as immutable as any other.
///
/// Invariant: an object is written only while the pool has the only reference to it, so no other reference can appear.
package struct PacketPool: ~Copyable {
    /// Maximum number of packets in use that are tracked for reuse; further packets, for example when a reader is far
    /// behind, are ordinary objects.
    package static let limit = 256

    /// Packets that are in use, or not in use any more but not collected yet.
    private var out: [PacketMemory] = []
    /// Packet objects that are empty and can be reused.
    private var spare: [PacketMemory] = []

    package init() {
        self.out.reserveCapacity(Self.limit)
        self.spare.reserveCapacity(Self.limit)
    }

    /// Number of objects that the pool tracks.
    package var count: Int { self.out.count + self.spare.count }

    /// Returns a packet with a copy of `bytes`.
    package mutating func memory(copying bytes: UnsafeRawBufferPointer) -> PacketMemory {
        let (base, size) = unsafe PacketMemory.block(copying: bytes)
        return unsafe self.memory(owning: base, size: size, count: bytes.count)
    }

    /// Returns a packet that owns a block, as with `PacketMemory.init(owning:size:count:)`.
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

    /// Releases the blocks of packets that are not referenced any more.
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
