import Libc
import Synchronization

/// Allocator for packet memory. Blocks are kept when a packet releases them, and reused for later packets.
///
/// The C library returns large blocks to the system each time, and the kernel clears every page anew. Smaller blocks it
/// mixes with those of decoders on other threads. Both cost CPU time that this allocator saves.
@safe
package enum PacketAllocator {
    /// Size of the smallest block that is kept for reuse, in bytes; for a smaller size the C library's allocator is
    /// used.
    package static let smallest = 128
    /// Maximum number of bytes in unused blocks, unless more bytes than this are in use: then as many may be unused as
    /// are in use. Blocks that are not needed again are freed by ``releaseUnused()``, which a room calls every minute.
    ///
    /// The value equals the maximum number of waiting bytes of one source, which are released at once when the source
    /// ends.
    package static let mostIdle = 32 << 20
    /// Binary logarithm of `smallest`.
    private static let smallestBits = 7
    /// Number of block sizes that are kept: four per power of two, from `smallest` to more than the longest RTMP
    /// message. At most a fifth of a block is wasted.
    private static let classes = 4 * 18

    private struct Idle {
        /// Addresses of the unused blocks, by size class.
        var blocks = [[UInt]](repeating: [], count: PacketAllocator.classes)
        var bytes = 0
        /// Total bytes of the blocks of these sizes that are in use.
        var used = 0
        /// By size class, the minimum number of unused blocks since ``releaseUnused()`` was called: that many were not
        /// needed since then.
        var fewest = [Int](repeating: 0, count: PacketAllocator.classes)
    }

    private static let idle = Mutex(Idle())

    /// Returns a block of at least `size` bytes, with any content. The caller owns it, and returns it with
    /// ``free(_:size:)``.
    ///
    /// - Returns: Its address and its actual size; `nil` if there is no memory.
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

    /// Returns a block to the allocator, which keeps it for reuse or frees it.
    ///
    /// - Parameter size: The size returned by ``allocate(size:)``.
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

    /// Frees blocks that were unused since the last call. Otherwise the memory of a burst, or of frames of many
    /// different sizes, would be kept forever. The time between calls should be longer than a keyframe interval.
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

    /// Total bytes of unused blocks.
    package static var idleBytes: Int { self.idle.withLock { $0.bytes } }

    /// Total bytes of blocks in use, without blocks of sizes that are not kept for reuse.
    package static var usedBytes: Int { self.idle.withLock { $0.used } }

    /// Size of the blocks of class `index`.
    private static func size(of index: Int) -> Int { (4 + index & 3) << (self.smallestBits - 2 + index >> 2) }

    /// Class of blocks for `size` bytes; `nil` for sizes that are not kept.
    private static func index(of size: Int) -> Int? {
        guard size >= self.smallest else { return nil }
        // The highest bit is the octave and the two bits below it are the quarter; if any lower bit is set, the next
        // class is needed.
        let octave = Int.bitWidth - 1 - size.leadingZeroBitCount
        let quarter = size >> (octave - 2)
        let index = (octave - self.smallestBits) * 4 + quarter - 4 + (quarter << (octave - 2) < size ? 1 : 0)
        return index < self.classes ? index : nil
    }

    private static func release(_ base: UnsafeMutableRawPointer) { unsafe Libc.free(base) }
}
