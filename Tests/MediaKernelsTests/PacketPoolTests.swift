import MediaKernels
import Synchronization
import Testing

@Suite("Reuse of packet objects")
struct PacketPoolTests {
    private static func packet(_ bytes: [UInt8], _ pool: inout PacketPool) -> PacketMemory {
        bytes.withUnsafeBytes { pool.memory(copying: $0) }
    }

    @Test(
        "a packet still referenced never changes; the object of a released one is reused")
    func reuse() {
        var pool = PacketPool()
        var kept: [PacketMemory] = []
        var objects: Set<ObjectIdentifier> = []
        for number in 0..<1_000 {
            let packet = Self.packet(
                [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number % 7 * 300), &pool)
            objects.insert(ObjectIdentifier(packet))
            kept.append(packet)
            if kept.count > 10 { kept.removeFirst() }
            for (index, old) in kept.enumerated() {
                let value = number - (kept.count - 1 - index)
                #expect(old.bytes == [UInt8](repeating: UInt8(truncatingIfNeeded: value), count: value % 7 * 300))
            }
        }
        #expect(objects.count <= 13 && pool.count <= 13, "\(objects.count) objects for eleven at a time")
    }

    @Test("packets over the pool's limit stay valid as long as they are referenced")
    func beyondTheLimit() {
        var pool = PacketPool()
        let all = (0..<PacketPool.limit + 50).map { Self.packet([UInt8(truncatingIfNeeded: $0), 1], &pool) }
        #expect(pool.count == PacketPool.limit)
        #expect(all.enumerated().allSatisfy { $1.bytes == [UInt8(truncatingIfNeeded: $0), 1] })
        #expect(Set(all.map { ObjectIdentifier($0) }).count == all.count)
    }

    /// Up to 64 packets on their way to readers; packets that do not fit are dropped.
    private final class PacketExchange: Sendable {
        private let state = Mutex((packets: [PacketMemory](), isClosed: false))

        func put(_ packet: PacketMemory) {
            self.state.withLock { if $0.packets.count < 64 { $0.packets.append(packet) } }
        }

        func close() { self.state.withLock { $0.isClosed = true } }

        /// - Returns: A packet, if there is one, and whether more may come.
        func take() -> (packet: PacketMemory?, isOpen: Bool) {
            self.state.withLock { ($0.packets.popLast(), !$0.isClosed || !$0.packets.isEmpty) }
        }
    }

    @Test("readers on other threads see packets unchanged while objects are reused")
    func threads() async {
        let exchange = PacketExchange()
        let readings = await withTaskGroup(of: (read: Int, faults: Int).self) { group in
            for _ in 0..<3 {
                group.addTask {
                    var (read, faults) = (0, 0)
                    while true {
                        let (packet, isOpen) = exchange.take()
                        if let packet {
                            let bytes = packet.bytes
                            let again = packet.bytes
                            read += 1
                            if bytes != again || bytes.contains(where: { $0 != bytes[0] }) || bytes.count % 100 != 0 {
                                faults += 1
                            }
                        } else if isOpen {
                            await Task.yield()
                        } else {
                            return (read, faults)
                        }
                    }
                }
            }
            group.addTask {
                var pool = PacketPool()
                for number in 0..<30_000 {
                    let bytes = [UInt8](
                        repeating: UInt8(truncatingIfNeeded: number), count: 100 * (1 + number % 7))
                    exchange.put(Self.packet(bytes, &pool))
                }
                exchange.close()
                return (0, 0)
            }
            return await group.reduce(into: (read: 0, faults: 0)) {
                $0.read += $1.read
                $0.faults += $1.faults
            }
        }
        #expect(readings.read >= 64 && readings.faults == 0, "\(readings)")
    }

    @Test("NAL units converted into a pooled packet equal those converted into a new one")
    func lengthPrefixed() {
        var pool = PacketPool()
        let stream: [UInt8] = [0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x65, 3, 4, 5, 0, 0, 1, 0x41, 6]
        for skipped: NALTypes in [[], [.sps]] {
            stream.withUnsafeBytes { bytes in
                let own = AnnexB.lengthPrefixed(bytes, skipping: skipped)
                let pooled = AnnexB.lengthPrefixed(bytes, skipping: skipped, in: &pool)
                #expect(own.memory.bytes == pooled.memory.bytes && own.types == pooled.types)
            }
        }
    }
}
