import MediaKernels
import TestSupport
import Testing

@Suite("Part assembly: ISO/IEC 14496-12 §8.8.8 and §8.1.1")
struct PartAssemblyTests {
    /// The kernel's expected result, written plainly.
    private static func reference(prefix: [UInt8], samples: [PartSample], table: PartAssembly.Table) -> [UInt8] {
        func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        var rows: [UInt8] = []
        var payload: [UInt8] = []
        for sample in samples {
            let bytes = Array(sample.memory.bytes[sample.range])
            rows += big(sample.duration) + big(UInt32(bytes.count))
            if case .full = table {
                rows += big(sample.flags) + big(UInt32(bitPattern: sample.compositionOffset))
            }
            payload += bytes
        }
        return prefix + rows + big(UInt32(payload.count + 8)) + Array("mdat".utf8) + payload
    }

    private static func randomSamples(_ random: inout TestRandom, count: Int) -> [PartSample] {
        (0..<count).map { _ in
            let memory = PacketMemory(
                (0..<random.next(below: 700)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
            let start = random.next(below: memory.count + 1)
            let end = start + random.next(below: memory.count - start + 1)
            return PartSample(
                memory: memory, range: start..<end, duration: UInt32(truncatingIfNeeded: random.next()),
                flags: UInt32(truncatingIfNeeded: random.next()),
                compositionOffset: Int32(truncatingIfNeeded: random.next()))
        }
    }

    @Test("random fMP4 parts equal those of a plain implementation", arguments: 0..<200)
    func agreesWithReference(seed: Int) {
        var random = TestRandom(state: UInt64(seed))
        let prefix = (0..<random.next(below: 130)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let samples = Self.randomSamples(&random, count: random.next(below: 40))
        for table in [PartAssembly.Table.short, .full] {
            let part = PartAssembly.assemble(prefix: prefix, samples: samples, table: table)
            #expect(part.bytes == Self.reference(prefix: prefix, samples: samples, table: table))
        }
    }

    @Test("a sample range that exceeds its packet is clamped to the packet")
    func rangeIsCut() {
        let memory = PacketMemory([1, 2, 3])
        let sample = PartSample(memory: memory, range: 1..<900, duration: 0, flags: 0, compositionOffset: 0)
        #expect(sample.range == 1..<3)
        #expect(PartAssembly.payloadSize(of: [sample]) == 2)
    }

    @Test("an fMP4 part without samples is the prefix and an empty mdat box")
    func emptyPart() {
        let part = PartAssembly.assemble(prefix: [7], samples: [], table: .full)
        #expect(part.bytes == [7, 0, 0, 0, 8] + Array("mdat".utf8))
    }
}

extension TestRandom {
    fileprivate mutating func next(below bound: Int) -> Int { bound <= 0 ? 0 : Int(self.next() % UInt64(bound)) }
}
