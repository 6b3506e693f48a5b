import MediaKernels
import TestSupport
import Testing

@Suite("Joining RTMP chunks to a message: RTMP 1.0 §5.3.1.2.4")
struct DechunkTests {
    @Test(
        "an RTMP message's payload is restored for random chunk sizes and random splits of the input",
        arguments: 0..<200)
    func anySplit(seed: Int) {
        var random = TestRandom(seed: UInt64(seed))
        let message = (0..<Int.random(in: 1...2000, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
        }
        let chunkSize = Int.random(in: 1...300, using: &random)
        let header: UInt8 = 0xC6
        // The plain version, reversed: splits and inserts headers.
        var wire: [UInt8] = []
        for start in stride(from: 0, to: message.count, by: chunkSize) {
            if start > 0 { wire.append(header) }
            wire += message[start..<min(start + chunkSize, message.count)]
        }
        let trailer: [UInt8] = [header, 1, 2, 3]

        var assembler = PacketAssembler(expecting: message.count)
        var progress = ChunkProgress(chunkLeft: min(chunkSize, message.count), messageLeft: message.count)
        let input = wire + trailer
        var offset = 0
        while progress.messageLeft > 0 {
            let end = min(input.count, offset + Int.random(in: 1...400, using: &random))
            let piece = Array(input[offset..<end])
            let used = assembler.gather(
                piece.span, from: 0, progress: &progress, chunkSize: chunkSize, continuation: header)
            offset += used
            if used == 0 { break }
            if progress.chunkLeft == 0 && progress.messageLeft > 0 && offset < input.count {
                // The piece ended before the header, where the chunk reader continues.
                offset += 1
                progress.chunkLeft = min(chunkSize, progress.messageLeft)
            }
        }
        #expect(offset == wire.count, "no byte after the message is consumed")
        #expect(progress == ChunkProgress(chunkLeft: 0, messageLeft: 0))
        #expect(assembler.finish().bytes == message)
    }

    @Test("copying an RTMP message stops before a chunk header of another chunk stream")
    func foreignHeader() {
        var assembler = PacketAssembler(expecting: 10)
        var progress = ChunkProgress(chunkLeft: 4, messageLeft: 10)
        let wire: [UInt8] = [9, 1, 2, 3, 4, 0x05, 7]
        #expect(assembler.gather(wire.span, from: 1, progress: &progress, chunkSize: 4, continuation: 0xC6) == 4)
        #expect(progress == ChunkProgress(chunkLeft: 0, messageLeft: 6))
        #expect(assembler.finish().bytes == [1, 2, 3, 4])
    }

    @Test("if no type 3 header byte is given, copying an RTMP message stops at the end of the chunk")
    func noContinuation() {
        var assembler = PacketAssembler(expecting: 10)
        var progress = ChunkProgress(chunkLeft: 2, messageLeft: 10)
        let wire: [UInt8] = [1, 2, 0xC6, 3]
        #expect(assembler.gather(wire.span, from: 0, progress: &progress, chunkSize: 2, continuation: nil) == 2)
        #expect(assembler.count == 2)
    }
}
