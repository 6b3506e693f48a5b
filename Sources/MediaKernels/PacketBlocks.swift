#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import Synchronization

/// Memory for packets. Large blocks are kept when a packet lets go of them, for the packets that follow.
///
/// The C library takes a large block from the system and gives it back each time, and the kernel clears every page of it
/// anew: for a publisher of many megabits per second that was half of the CPU time of taking its bytes in.
@safe
enum PacketBlocks {
    /// Bytes of the smallest block that is kept: where the C library begins to ask the system for each.
    static let smallest = 256 << 10
    /// Bytes of all blocks that are kept at most: the pictures between two key pictures of 4K, which are let go of at once.
    static let mostIdle = 16 << 20
    /// Sizes of blocks that are kept: `smallest`, twice that …, up to more than the longest RTMP message.
    private static let classes = 8

    private struct Idle {
        /// Addresses, by size.
        var blocks = [[UInt]](repeating: [], count: PacketBlocks.classes)
        var bytes = 0
    }

    private static let idle = Mutex(Idle())

    /// A block of at least `size` bytes. The caller owns it, and gives it back by ``free(_:size:)``.
    ///
    /// - Returns: Its first byte and its size; `nil` when there is no memory.
    static func allocate(size: Int) -> (base: UnsafeMutableRawPointer, size: Int)? {
        guard let index = self.index(of: size) else { return unsafe malloc(size).map { unsafe ($0, size) } }
        let whole = self.smallest << index
        let kept = self.idle.withLock { idle -> UInt? in
            guard let address = idle.blocks[index].popLast() else { return nil }
            idle.bytes -= whole
            return address
        }
        if let kept, let base = unsafe UnsafeMutableRawPointer(bitPattern: kept) { return unsafe (base, whole) }
        return unsafe malloc(whole).map { unsafe ($0, whole) }
    }

    /// - Parameter size: What ``allocate(size:)`` said.
    static func free(_ base: UnsafeMutableRawPointer, size: Int) {
        if let index = self.index(of: size), size == self.smallest << index {
            let address = UInt(bitPattern: base)
            let isKept = self.idle.withLock { idle -> Bool in
                guard idle.bytes + size <= self.mostIdle else { return false }
                idle.bytes += size
                idle.blocks[index].append(address)
                return true
            }
            if isKept { return }
        }
        unsafe Self.release(base)
    }

    /// Bytes that are kept now.
    static var idleBytes: Int { self.idle.withLock { $0.bytes } }

    /// Which size of kept blocks holds `size` bytes; `nil` for those that are not kept.
    private static func index(of size: Int) -> Int? {
        guard size >= self.smallest else { return nil }
        let index = (0..<self.classes).first { self.smallest << $0 >= size }
        return index
    }

    #if canImport(Glibc)
        private static func release(_ base: UnsafeMutableRawPointer) { unsafe Glibc.free(base) }
    #elseif canImport(Musl)
        private static func release(_ base: UnsafeMutableRawPointer) { unsafe Musl.free(base) }
    #endif
}
