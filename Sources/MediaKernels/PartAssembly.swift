import Libc

/// One coded sample of a part: the range of its bytes, and its row in the fragment's table.
public struct PartSample: Sendable {
    /// Memory that contains the sample's bytes; shared and never written.
    public let memory: PacketMemory
    /// Range of the sample in ``memory``; always inside it.
    public let range: Range<Int>
    /// Duration in ticks of the track's timescale.
    public var duration: UInt32
    /// Sample flags. Spec: ISO/IEC 14496-12 §8.8.3.1.
    public var flags: UInt32
    /// Presentation minus decoding time in ticks; may be negative (`trun` version 1).
    public var compositionOffset: Int32

    /// Creates a sample.
    ///
    /// - Parameter range: Limited to `memory`.
    public init(
        memory: PacketMemory, range: Range<Int>, duration: UInt32, flags: UInt32, compositionOffset: Int32
    ) {
        self.memory = memory
        self.range = range.clamped(to: 0..<memory.count)
        self.duration = duration
        self.flags = flags
        self.compositionOffset = compositionOffset
    }
}

/// Assembles the bytes of one part: every sample is copied exactly once, to memory of the exact size.
public enum PartAssembly {
    /// The columns of the sample table, in the order of ISO/IEC 14496-12 §8.8.8.
    public enum Table: Sendable {
        /// Duration and size: 8 bytes per sample.
        case short
        /// Duration, size, flags and composition offset: 16 bytes per sample.
        case full

        /// Number of bytes per row of the table.
        public var rowSize: Int {
            switch self {
            case .short: 8
            case .full: 16
            }
        }
    }

    /// Size of the media data box's header in bytes.
    public static let mediaDataHeaderSize = 8

    /// Returns the sum of the sample sizes in bytes. Does not allocate.
    public static func payloadSize(of samples: [PartSample]) -> Int {
        var total = 0
        for sample in samples { total &+= sample.range.count }
        return total
    }

    /// Returns `prefix`, the sample table (big-endian), the `mdat` header and the payload of every sample, in that
    /// order.
    ///
    /// - Parameters:
    ///   - prefix: Bytes of the fragment up to the first row of the `trun` table.
    ///   - samples: Samples in decoding order. The sum of their sizes plus the `mdat` header must be below 4 GiB, the
    ///     limit of the box's size field; a larger sum is written modulo 2^32.
    ///   - table: The columns that `prefix` announces.
    /// - Returns: The finished part. Allocates once.
    public static func assemble(prefix: [UInt8], samples: [PartSample], table: Table) -> PacketMemory {
        let payload = self.payloadSize(of: samples)
        let total = prefix.count + samples.count * table.rowSize + self.mediaDataHeaderSize + payload
        let (base, size) = unsafe PacketMemory.allocate(capacity: total)
        // Each write below ends inside `total`: the sum above counts the same pieces.
        unsafe prefix.withUnsafeBytes { source in
            if let start = source.baseAddress { unsafe base.copyMemory(from: start, byteCount: source.count) }
        }
        var cursor = unsafe base + prefix.count
        for sample in samples {
            unsafe self.store(sample.duration, at: &cursor)
            unsafe self.store(UInt32(truncatingIfNeeded: sample.range.count), at: &cursor)
            if case .full = table {
                unsafe self.store(sample.flags, at: &cursor)
                unsafe self.store(UInt32(bitPattern: sample.compositionOffset), at: &cursor)
            }
        }
        unsafe self.store(UInt32(truncatingIfNeeded: payload + self.mediaDataHeaderSize), at: &cursor)
        unsafe self.store(0x6D64_6174, at: &cursor)  // "mdat"
        for sample in samples {
            unsafe sample.memory.withBytes(in: sample.range) { source in
                guard let start = source.baseAddress else { return }
                unsafe cursor.copyMemory(from: start, byteCount: source.count)
            }
            unsafe cursor += sample.range.count
        }
        unsafe memset(cursor, 0, PacketMemory.padding)
        return unsafe PacketMemory(owning: base, size: size, count: total)
    }

    @inline(__always)
    private static func store(_ value: UInt32, at cursor: inout UnsafeMutableRawPointer) {
        unsafe cursor.storeBytes(of: value.bigEndian, as: UInt32.self)
        unsafe cursor += 4
    }
}
