import BenchCases
import MediaKernels

extension KernelSuite {
    static let byteKernels: [KernelCase] = [
        dechunk(chunkSize: 128), dechunk(chunkSize: 4096), annexBWalk, annexBToLengths, lengthsWalk, sanitize, part,
    ]

    /// Assembles the payload of one message from its chunks with one copy.
    private static func dechunk(chunkSize: Int) -> KernelCase {
        KernelCase(name: "dechunk-\(chunkSize)", unit: "byte", unitsPerItem: Fixture.pictureSize) {
            let message = Fixture.codedBytes(Fixture.pictureSize, seed: 1)
            let header: UInt8 = 0xC6
            var wire: [UInt8] = []
            for start in stride(from: 0, to: message.count, by: chunkSize) {
                if start > 0 { wire.append(header) }
                wire += message[start..<min(start + chunkSize, message.count)]
            }
            let chunks = wire
            return KernelWork(
                kernel: { items in
                    var sum: UInt64 = 0
                    for _ in 0..<items {
                        var assembler = PacketAssembler(expecting: message.count)
                        var progress = ChunkProgress(chunkLeft: chunkSize, messageLeft: message.count)
                        _ = assembler.gather(
                            chunks.span, from: 0, progress: &progress, chunkSize: chunkSize, continuation: header)
                        sum &+= Self.mark(assembler.finish())
                    }
                    return sum
                },
                reference: { items in
                    var sum: UInt64 = 0
                    for _ in 0..<items {
                        var bytes: [UInt8] = []
                        bytes.reserveCapacity(message.count)
                        var left = chunkSize
                        for byte in chunks {
                            if left == 0 {
                                left = chunkSize
                            } else {
                                bytes.append(byte)
                                left -= 1
                            }
                        }
                        sum &+= Self.mark(bytes)
                    }
                    return sum
                })
        }
    }

    private static let annexBWalk = KernelCase(
        name: "annexb-walk", unit: "byte", unitsPerItem: Fixture.annexB().count
    ) {
        let bytes = Fixture.annexB()
        return KernelWork(
            kernel: { items in
                var sum: UInt64 = 0
                for _ in 0..<items {
                    bytes.withUnsafeBytes { buffer in
                        AnnexB.walk(buffer) { sum &+= UInt64($0.lowerBound ^ $0.upperBound) }
                    }
                }
                return sum
            },
            reference: { items in
                var sum: UInt64 = 0
                for _ in 0..<items {
                    for unit in Self.plainUnits(bytes) { sum &+= UInt64(unit.lowerBound ^ unit.upperBound) }
                }
                return sum
            })
    }

    /// Finds the NAL units of an Annex B stream byte by byte.
    private static func plainUnits(_ bytes: [UInt8]) -> [Range<Int>] {
        var units: [Range<Int>] = []
        var first: Int?
        var zeros = 0
        for (offset, byte) in bytes.enumerated() {
            if byte == 1 && zeros >= 2 {
                if let start = first, offset - zeros > start { units.append(start..<offset - zeros) }
                first = offset + 1
            }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        if let start = first, bytes.count - zeros > start { units.append(start..<bytes.count - zeros) }
        return units
    }

    private static let annexBToLengths = KernelCase(
        name: "annexb-to-lengths", unit: "byte", unitsPerItem: Fixture.annexB().count
    ) {
        let bytes = Fixture.annexB()
        return KernelWork(
            kernel: { items in
                var sum: UInt64 = 0
                for _ in 0..<items { sum &+= Self.mark(bytes.withUnsafeBytes { AnnexB.lengthPrefixed($0) }.memory) }
                return sum
            },
            reference: { items in
                var sum: UInt64 = 0
                for _ in 0..<items {
                    var output: [UInt8] = []
                    for unit in Self.plainUnits(bytes) {
                        output += Fixture.bigEndian(UInt32(unit.count))
                        output += bytes[unit]
                    }
                    sum &+= Self.mark(output)
                }
                return sum
            })
    }

    /// The walk reads only the lengths, so one item is a frame in 1,200-byte slices: the number of units matters more than the
    /// bytes.
    private static let lengthsWalk = KernelCase(
        name: "lengths-walk", unit: "unit", unitsPerItem: 32, itemsToCount: 400
    ) {
        var slices: [UInt8] = []
        for slice in 0..<32 {
            slices += Fixture.bigEndian(1200) + [0x41] + Fixture.codedBytes(1199, seed: UInt64(slice))
        }
        let bytes = slices
        return KernelWork(
            kernel: { items in
                var sum: UInt64 = 0
                for _ in 0..<items {
                    let summary = bytes.withUnsafeBytes { LengthPrefixedNALs.summary($0, lengthSize: 4) }
                    sum &+= UInt64(summary.units) &+ (summary.lands ? 1000 : 0)
                }
                return sum
            },
            reference: { items in
                var sum: UInt64 = 0
                for _ in 0..<items {
                    var offset = 0
                    var units = 0
                    while offset + 4 <= bytes.count {
                        let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
                        if length > 0 { units += 1 }
                        offset += 4 + length
                    }
                    sum &+= UInt64(units) &+ (offset == bytes.count ? 1000 : 0)
                }
                return sum
            })
    }

    /// The common case: a payload that is already well-formed and must not be copied.
    private static let sanitize = KernelCase(
        name: "sanitize-in-form", unit: "unit", unitsPerItem: 4, itemsToCount: 4000
    ) {
        let bytes = Fixture.lengthPrefixed()
        return KernelWork(
            kernel: { items in
                var sum: UInt64 = 0
                for _ in 0..<items {
                    if case .unchanged(let types) = bytes.withUnsafeBytes({ NALSanitizer.sanitize($0, lengthSize: 4) })
                    {
                        sum &+= UInt64(types.rawValue)
                    }
                }
                return sum
            },
            reference: { items in
                var sum: UInt64 = 0
                for _ in 0..<items {
                    var offset = 0
                    var types: UInt64 = 0
                    while offset + 4 < bytes.count {
                        types |= 1 << UInt64(bytes[offset + 4] & 31)
                        offset += 4 + bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
                    }
                    sum &+= types
                }
                return sum
            })
    }

    /// One part of 16 frames at 2.5 Mbit/s.
    private static let part = KernelCase(name: "part-assembly", unit: "byte", unitsPerItem: 16 * 10_400) {
        let samples = (0..<16).map { index in
            let memory = PacketMemory(Fixture.codedBytes(10_400, seed: UInt64(index)))
            return PartSample(
                memory: memory, range: 0..<memory.count, duration: 3000, flags: 0x0101_0000, compositionOffset: 3000)
        }
        let prefix = Fixture.codedBytes(104, seed: 99)
        return KernelWork(
            kernel: { items in
                var sum: UInt64 = 0
                for _ in 0..<items {
                    sum &+= Self.mark(PartAssembly.assemble(prefix: prefix, samples: samples, table: .full))
                }
                return sum
            },
            reference: { items in
                var sum: UInt64 = 0
                for _ in 0..<items { sum &+= Self.mark(Self.plainPart(prefix: prefix, samples: samples)) }
                return sum
            })
    }

    private static func plainPart(prefix: [UInt8], samples: [PartSample]) -> [UInt8] {
        var rows: [UInt8] = []
        var payload: [UInt8] = []
        for sample in samples {
            rows += Fixture.bigEndian(sample.duration) + Fixture.bigEndian(UInt32(sample.range.count))
            rows += Fixture.bigEndian(sample.flags) + Fixture.bigEndian(UInt32(bitPattern: sample.compositionOffset))
            payload += sample.memory.bytes[sample.range]
        }
        return prefix + rows + Fixture.bigEndian(UInt32(payload.count + 8)) + Array("mdat".utf8) + payload
    }

    /// A checksum of the length and some bytes of the data, cheap compared with the measured work.
    private static func mark(_ memory: PacketMemory) -> UInt64 { memory.withBytes { self.mark($0) } }
    private static func mark(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { self.mark($0) } }
    private static func mark(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum = UInt64(bytes.count)
        for offset in stride(from: 0, to: bytes.count, by: 997) { sum = sum &* 31 &+ UInt64(bytes[offset]) }
        return sum
    }
}
