#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Synchronization

/// Memory for packets. Blocks are kept when a packet lets go of them, for the packets that follow.
///
/// The C library takes a large block from the system and gives it back each time, and the kernel clears every page of it
/// anew: for a publisher of many megabits per second that was half of the CPU time of taking its bytes in. Smaller blocks it
/// puts beside those of decoders on other threads, and its heaps grow page by page: a quarter of the time of a hundred
/// publishers of two megabits per second. And an encoder's thread takes nothing from the heap for its packets.
@safe
package enum PacketBlocks {
    /// Bytes of the smallest block that is kept: below it there is no room for the padding and a payload.
    package static let smallest = 128
    /// Bytes of all blocks that are kept at most, but where more than that is in use: what waits of one source at most, and is let go
    /// of at once when it is over. What nobody needs again goes within two minutes; see ``releaseUnused()``.
    ///
    /// Where more is in use as many bytes may lie here: a hundred sources with key pictures at the same time let go of half of what
    /// they have at once, and take as much again before the next ones.
    package static let mostIdle = 32 << 20
    /// Bits of `smallest`.
    private static let smallestBits = 7
    /// Sizes of blocks that are kept: four in each octave, from `smallest` to more than the longest RTMP message. So no
    /// more than a fifth of a block is unused.
    private static let classes = 4 * 18

    private struct Idle {
        /// Addresses, by size.
        var blocks = [[UInt]](repeating: [], count: PacketBlocks.classes)
        var bytes = 0
        /// Bytes of blocks of these sizes that are in use.
        var used = 0
        /// By size, the fewest there were since ``releaseUnused()``: the first so many of ``blocks``.
        var fewest = [Int](repeating: 0, count: PacketBlocks.classes)
    }

    private static let idle = Mutex(Idle())

    /// A block of at least `size` bytes. The caller owns it, and gives it back by ``free(_:size:)``.
    ///
    /// - Returns: Its first byte and its size; `nil` when there is no memory.
    package static func allocate(size: Int) -> (base: UnsafeMutableRawPointer, size: Int)? {
        guard let index = self.index(of: size) else { return unsafe malloc(size).map { unsafe ($0, size) } }
        let whole = self.size(of: index)
        let kept = self.idle.withLock { idle -> UInt? in
            idle.used += whole
            guard let address = idle.blocks[index].popLast() else { return nil }
            idle.bytes -= whole
            idle.fewest[index] = min(idle.fewest[index], idle.blocks[index].count)
            return address
        }
        if let kept, let base = unsafe UnsafeMutableRawPointer(bitPattern: kept) { return unsafe (base, whole) }
        guard let base = unsafe malloc(whole) else {
            self.idle.withLock { $0.used -= whole }
            return nil
        }
        return unsafe (base, whole)
    }

    /// - Parameter size: What ``allocate(size:)`` said.
    package static func free(_ base: UnsafeMutableRawPointer, size: Int) {
        if let index = self.index(of: size), size == self.size(of: index) {
            let address = UInt(bitPattern: base)
            let isKept = self.idle.withLock { idle -> Bool in
                idle.used -= size
                guard idle.bytes + size <= max(self.mostIdle, idle.used) else { return false }
                idle.bytes += size
                idle.blocks[index].append(address)
                return true
            }
            if isKept { return }
        }
        unsafe Self.release(base)
    }

    /// Gives back what has lain here since the last call: a burst, or pictures of many sizes one after the other, would be kept for
    /// ever. Calls should be further apart than key pictures are.
    package static func releaseUnused() {
        let unused = self.idle.withLock { idle -> [UInt] in
            var unused: [UInt] = []
            for index in idle.blocks.indices {
                let count = min(idle.fewest[index], idle.blocks[index].count)
                unused += idle.blocks[index].prefix(count)
                idle.blocks[index].removeFirst(count)
                idle.bytes -= count * self.size(of: index)
                idle.fewest[index] = idle.blocks[index].count
            }
            return unused
        }
        for address in unused {
            if let base = unsafe UnsafeMutableRawPointer(bitPattern: address) { unsafe Self.release(base) }
        }
    }

    /// Bytes that are kept now.
    package static var idleBytes: Int { self.idle.withLock { $0.bytes } }

    /// Bytes of blocks that are in use now, but for those of sizes that are not kept.
    package static var usedBytes: Int { self.idle.withLock { $0.used } }

    /// Bytes of the blocks of class `index`.
    private static func size(of index: Int) -> Int { (4 + index & 3) << (self.smallestBits - 2 + index >> 2) }

    /// Which class of kept blocks holds `size` bytes; `nil` for those that are not kept.
    private static func index(of size: Int) -> Int? {
        guard size >= self.smallest else { return nil }
        // The highest bit is the octave, the two below it are the quarter; anything under those asks for the next one.
        let octave = Int.bitWidth - 1 - size.leadingZeroBitCount
        let quarter = size >> (octave - 2)
        let index = (octave - self.smallestBits) * 4 + quarter - 4 + (quarter << (octave - 2) < size ? 1 : 0)
        return index < self.classes ? index : nil
    }

    #if canImport(Glibc)
        private static func release(_ base: UnsafeMutableRawPointer) { unsafe Glibc.free(base) }
    #elseif canImport(Musl)
        private static func release(_ base: UnsafeMutableRawPointer) { unsafe Musl.free(base) }
    #endif
}
