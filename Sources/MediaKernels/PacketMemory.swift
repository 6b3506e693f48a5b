import Libc

/// The bytes of one coded packet: written before the object is returned, then immutable and shared by reference.
///
/// Invariant: ``padding`` zero bytes follow the ``count`` payload bytes, because libavcodec's bit readers read past the
/// end of their input (`AV_INPUT_BUFFER_PADDING_SIZE`). So a packet can be passed to a decoder without a copy.
@safe
public final class PacketMemory: @unchecked Sendable {
    // @unchecked Sendable: the block is written only before this object owns it, by the one function or PacketAssembler
    // that made it. After that, only a PacketPool writes here, and only while it has the only reference.

    /// Number of zero bytes after the payload.
    public static let padding = 64

    /// Address of the memory block; `nil` while the object is unused in a ``PacketPool``.
    private var base: UnsafeMutableRawPointer?
    /// Size of the block in bytes.
    private var size: Int
    private var payload: Int
    /// Number of payload bytes; 0 while the object is unused in a ``PacketPool``.
    public var count: Int { self.payload }
    /// Size of the memory block in bytes, including payload and padding.
    public var blockSize: Int { self.size }

    /// Takes ownership of `base`, a block of ``PacketAllocator`` of `size` bytes, at least `count` + ``padding``, whose
    /// padding is already zero.
    init(owning base: UnsafeMutableRawPointer, size: Int, count: Int) {
        unsafe self.base = base
        self.size = size
        self.payload = count
    }

    deinit { self.empty() }

    /// Releases the block. There must be no other reference to the object.
    func empty() {
        if let base = unsafe self.base.take() { unsafe PacketAllocator.free(base, size: self.size) }
        (self.size, self.payload) = (0, 0)
    }

    /// Takes ownership of a block like ``init(owning:size:count:)``. The object must be empty, with no other reference
    /// to it.
    func fill(owning base: UnsafeMutableRawPointer, size: Int, count: Int) {
        unsafe self.base = base
        self.size = size
        self.payload = count
    }

    /// Creates a packet with a copy of `bytes`.
    public convenience init(copying bytes: UnsafeRawBufferPointer) {
        let (base, size) = unsafe PacketMemory.block(copying: bytes)
        unsafe self.init(owning: base, size: size, count: bytes.count)
    }

    /// Allocates a block with a copy of `bytes` and the padding, and returns it with its size.
    static func block(copying bytes: UnsafeRawBufferPointer) -> (base: UnsafeMutableRawPointer, size: Int) {
        let (base, size) = unsafe PacketMemory.allocate(capacity: bytes.count)
        if let source = bytes.baseAddress { unsafe base.copyMemory(from: source, byteCount: bytes.count) }
        unsafe memset(base + bytes.count, 0, PacketMemory.padding)
        return unsafe (base, size)
    }

    /// Creates a packet with a copy of `bytes`.
    public convenience init(_ bytes: [UInt8]) {
        let (base, size) = unsafe PacketMemory.allocate(capacity: bytes.count)
        unsafe bytes.withUnsafeBytes { source in
            if let start = source.baseAddress { unsafe base.copyMemory(from: start, byteCount: source.count) }
        }
        unsafe memset(base + bytes.count, 0, PacketMemory.padding)
        unsafe self.init(owning: base, size: size, count: bytes.count)
    }

    /// Gives access to the payload. The pointer is valid only inside `body`.
    public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try unsafe body(UnsafeRawBufferPointer(start: self.base, count: self.payload))
    }

    /// Gives access to the part of the payload in `range`, which is limited to the payload.
    public func withBytes<R, E: Error>(
        in range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        let inside = range.clamped(to: 0..<self.payload)
        let start = unsafe self.base.map { unsafe $0 + inside.lowerBound }
        return try unsafe body(UnsafeRawBufferPointer(start: start, count: inside.count))
    }

    /// A copy of the payload as an array, for headers, tests and text.
    public var bytes: [UInt8] { unsafe self.withBytes { unsafe [UInt8]($0) } }

    /// Allocates a block for `capacity` payload bytes and the padding, and returns it with its actual size.
    static func allocate(capacity: Int) -> (base: UnsafeMutableRawPointer, size: Int) {
        // Running out of memory for one packet cannot be handled without losing the room: glibc overcommits, so `nil`
        // here means an address space limit, and the supervisor's restart is the remedy.
        guard let block = unsafe PacketAllocator.allocate(size: capacity + PacketMemory.padding) else {
            fatalError("out of memory for a packet")
        }
        return unsafe block
    }
}

/// Assembles one packet from pieces. Memory grows only as bytes actually arrive: if a peer announces 16 MiB and sends
/// ten bytes, only the reserve is allocated. Beyond the reserve, at most eight times the received bytes are allocated.
@safe
public struct PacketAssembler: ~Copyable {
    private var base: UnsafeMutableRawPointer
    /// Size of the block in bytes.
    private var size: Int
    /// Announced length of the packet in bytes.
    private let expected: Int
    private var capacity: Int { self.size - PacketMemory.padding }
    /// Number of bytes assembled so far.
    public private(set) var count: Int

    /// Default maximum number of bytes that are allocated before any byte has arrived.
    public static let usualReserve = 64 << 10

    /// Creates an empty assembler.
    ///
    /// - Parameters:
    ///   - expected: The announced length in bytes.
    ///   - reserve: Maximum number of payload bytes that are allocated in advance, at least 64; longer packets are
    ///     moved as they grow.
    public init(expecting expected: Int, reserving reserve: Int = Self.usualReserve) {
        (unsafe self.base, self.size) = unsafe PacketMemory.allocate(capacity: max(64, min(expected, reserve)))
        self.expected = expected
        self.count = 0
    }

    deinit { unsafe PacketAllocator.free(self.base, size: self.size) }

    /// Appends a copy of `bytes`. Amortized O(*n*): a block that is full at least doubles.
    @inline(__always)
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        let end = self.count + bytes.count
        if end > self.capacity { self.grow(to: end) }
        // Checked above: `end` fits the capacity.
        unsafe (self.base + self.count).copyMemory(from: source, byteCount: bytes.count)
        self.count = end
    }

    private mutating func grow(to needed: Int) {
        // Grow to the announced size, but at most eight times the current one, so that a large packet is moved only
        // once.
        let wanted = max(needed, self.capacity &* 2, min(self.expected, self.capacity &* 8))
        let (base, size) = unsafe PacketMemory.allocate(capacity: wanted)
        unsafe base.copyMemory(from: self.base, byteCount: self.count)
        unsafe PacketAllocator.free(self.base, size: self.size)
        unsafe self.base = base
        self.size = size
    }

    /// Returns the finished packet and consumes the assembler; no byte is copied.
    public consuming func finish() -> PacketMemory {
        unsafe memset(self.base + self.count, 0, PacketMemory.padding)
        let memory = unsafe PacketMemory(owning: self.base, size: self.size, count: self.count)
        discard self
        return memory
    }

    /// Returns the finished packet like ``finish()``, but reuses a packet object of `pool`.
    package consuming func finish(in pool: inout PacketPool) -> PacketMemory {
        unsafe memset(self.base + self.count, 0, PacketMemory.padding)
        let memory = unsafe pool.memory(owning: self.base, size: self.size, count: self.count)
        discard self
        return memory
    }
}
