import MediaKernels
import RTMP
import TestSupport
import Testing

@Suite("RTMP chunks: generated streams are read back")
struct RTMPChunkModelTests {
    /// A schedule of messages on several chunk streams, interleaved chunk by chunk, with every legal header, changes of
    /// the chunk size in between, and extended timestamps repeated or not.
    static func schedule(seed: Int) -> (bytes: [UInt8], expected: [Received]) {
        var random = TestRandom(seed: UInt64(seed))
        var writer = RTMPChunkWriter()
        writer.repeatsExtendedTimestamp = Bool.random(using: &random)
        writer.prefersLongBasicHeader = Bool.random(using: &random)
        let ids: [UInt32] = [3, 63, 64, 200, 319, 320, 65_599]
        var clocks: [UInt32: UInt32] = [:]
        var open: [RTMPOutgoingMessage] = []
        var bytes: [UInt8] = []
        var expected: [Received] = []
        var lengths: [Int] = [0, 1, 127, 128, 129, 5000]
        lengths.append(Int.random(in: 0...900, using: &random))

        func finish(_ message: RTMPMessage) { expected.append(Received(message)) }

        for _ in 0..<120 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                writer.chunkSize = [128, 129, 1000, 4096, 70_000].randomElement(using: &random) ?? 128
                // Set Chunk Size is also a message; it is sent whole, between two chunks of others.
                var size = RTMPChunkWriter()
                size.chunkSize = 128
                size.write(
                    RTMPMessage(
                        chunkStreamID: 2, type: .setChunkSize, streamID: 0, timestamp: 0,
                        payload: PacketMemory(RTMPChunkReaderTests.big(UInt32(writer.chunkSize)))), into: &bytes)
            case 1..<4 where open.count < 5:
                guard
                    let id = ids.filter({ id in !open.contains { $0.message.chunkStreamID == id } }).randomElement(
                        using: &random)
                else { continue }
                let first = [0, 5, 9_999, 0x00FF_FFFE, 0x0100_0000, 0xFFFF_FFF0].randomElement(using: &random) ?? 0
                let step = [0, 0, 23, 40, 0x00FF_FFFF, 17_000_000, 0xFFFF_FFE2].randomElement(using: &random) ?? 0
                let time = clocks[id].map { $0 &+ UInt32(step) } ?? UInt32(first)
                clocks[id] = time
                let length = lengths.randomElement(using: &random) ?? 0
                let message = RTMPMessage(
                    chunkStreamID: id, type: Bool.random(using: &random) ? .audio : .video,
                    streamID: Bool.random(using: &random) ? 1 : 0x0102_0304, timestamp: time,
                    payload: PacketMemory(
                        (0..<length).map { _ in
                            // Often bytes with which an extended timestamp or a header may begin.
                            [0, 1, 0xFF, 0xC3, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)
                                ?? 0
                        }))
                // After a type 0 header of over ten seconds the reader takes type 3 as "no delta", so type 2 is used.
                var header = RTMPChunkWriter.Header.allCases.randomElement(using: &random) ?? .automatic
                if header == .sameDelta && time > 10_000 { header = .sameLength }
                var outgoing = writer.begin(message, header: header)
                writer.writeChunk(of: &outgoing, into: &bytes)
                if outgoing.isFinished { finish(message) } else { open.append(outgoing) }
            default:
                guard let index = open.indices.randomElement(using: &random) else { continue }
                writer.writeChunk(of: &open[index], into: &bytes)
                if open[index].isFinished { finish(open.remove(at: index).message) }
            }
        }
        while var last = open.popLast() {
            while !last.isFinished { writer.writeChunk(of: &last, into: &bytes) }
            finish(last.message)
        }
        return (bytes, expected)
    }

    @Test(
        "a random legal stream of RTMP chunks gives its messages as a whole and in pieces of 1, 3, 17 and 1,000 bytes",
        arguments: 0..<(Proof.isFull ? 400 : 100))
    func anySchedule(seed: Int) {
        let (bytes, expected) = Self.schedule(seed: seed)
        #expect(!expected.isEmpty)
        for step in [Int.max, 1, 3, 17, 1000] {
            let result = Received.read(bytes, step: step)
            #expect(result.failure == nil, "seed \(seed), step \(step)")
            #expect(result.messages == expected, "seed \(seed), step \(step)")
        }
    }
}
