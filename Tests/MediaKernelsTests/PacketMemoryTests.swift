import MediaKernels
import Testing

@Suite("Packet memory")
struct PacketMemoryTests {
    /// Bytes that differ from those of another `seed`.
    private static func bytes(_ count: Int, seed: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ seed &* 17) }
    }

    /// A packet collected in pieces, as from a socket.
    private static func packet(_ bytes: [UInt8], expecting: Int) -> PacketMemory {
        var assembler = PacketAssembler(expecting: expecting)
        for start in stride(from: 0, to: bytes.count, by: 65_536) {
            bytes[start..<min(start + 65_536, bytes.count)].withUnsafeBytes { assembler.append($0) }
        }
        return assembler.finish()
    }

    @Test("packets of more than 150 kB keep their bytes while memory of others is reused", arguments: [1, 3, 7])
    func keepsBytes(step: Int) {
        var held: [(packet: PacketMemory, bytes: [UInt8])] = []
        for round in 0..<24 {
            let bytes = Self.bytes((round * step % 11 + 1) * 150_000 + round, seed: round)
            held.append((Self.packet(bytes, expecting: bytes.count), bytes))
            if held.count > 5 {
                let (packet, bytes) = held.remove(at: round % held.count)
                #expect(packet.bytes == bytes)
            }
        }
        #expect(held.allSatisfy { $0.packet.bytes == $0.bytes })
    }

    @Test(
        "packets that are longer or shorter than announced have all their bytes",
        arguments: [0, 1_000, 400_000, 9_000_000])
    func lengthIsFree(announced: Int) {
        for count in [1, 65_536, 262_080, 262_144, 700_001] {
            let bytes = Self.bytes(count, seed: announced)
            #expect(Self.packet(bytes, expecting: announced).bytes == bytes)
        }
    }

    @Test("joining bytes and a range of another packet gives a new packet; the range is clamped to the packet")
    func joining() {
        let body = Self.bytes(200_000, seed: 3)
        let memory = PacketMemory(body)
        for range in [0..<200_000, 5..<9, 7..<7, 199_990..<300_000, -10..<4, 400_000..<400_001] {
            let inside = Array(body[range.clamped(to: 0..<body.count)])
            for head in [[], [0x17, 1, 0, 0, 0]] as [[UInt8]] {
                #expect(PacketMemory.joining(head, memory, in: range).bytes == head + inside, "\(range)")
            }
        }
        #expect(PacketMemory.joining([], PacketMemory([]), in: 0..<1).bytes.isEmpty)
    }
}
