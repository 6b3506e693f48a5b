import Control
import HTTPListener
import NIOCore
import RoomOutputs
import Testing

@Suite("AudioTap: the program's audio for speech recognizers")
struct AudioTapTests {
    /// Blocks of 1,024 pairs of silence with these numbers.
    private static func put(_ blocks: Range<Int64>, into tap: AudioTap) {
        let silence = [Float](repeating: 0, count: 2_048)
        for block in blocks { tap.put(silence, position: block * 1_024, isPaused: false) }
    }

    private static func size(_ piece: ReplyStreamPiece) -> Int? {
        if case .bytes(let buffer) = piece { buffer.readableBytes } else { nil }
    }

    private static func isOver(_ piece: ReplyStreamPiece) -> Bool { if case .end = piece { true } else { false } }

    @Test("a client gets every sample from its first position on, and the end of the program ends its stream")
    func whole() throws {
        let tap = AudioTap()
        let stream = try tap.open(at: 1_024, isPaused: false)
        #expect(stream.firstPosition == 1_008 + 4_800)
        Self.put(1..<48, into: tap)
        // The filter covers 48 pairs after the last sample.
        let last = (48 * 1_024 - 1 - 48) / 3
        #expect(Self.size(stream.next()) == (last - Int(stream.firstPosition) / 3 + 1) * 2)
        tap.end()
        #expect(Self.isOver(stream.next()))
        #expect(throws: ControlFailure.self) { try tap.open(at: 0, isPaused: false) }
    }

    @Test("a client for which samples are missing is disconnected: added too late, or after a gap")
    func gaps() throws {
        let tap = AudioTap()
        let late = try tap.open(at: 0, isPaused: false)
        Self.put(8..<10, into: tap)
        #expect(late.isOver && Self.isOver(late.next()))
        let stream = try tap.open(at: 10 * 1_024, isPaused: false)
        Self.put(10..<20, into: tap)
        #expect(!stream.isOver)
        Self.put(21..<22, into: tap)
        #expect(stream.isOver)
    }

    @Test(
        "a fifth client is refused until one of the others has left, and nobody is served while the machine is overloaded"
    )
    func limits() throws {
        let tap = AudioTap()
        let streams = try (0..<AudioTap.mostClients).map { _ in try tap.open(at: 0, isPaused: false) }
        #expect(throws: ControlFailure.self) { try tap.open(at: 0, isPaused: false) }
        streams[0].cancel()
        let fifth = try tap.open(at: 0, isPaused: false)
        #expect(throws: ControlFailure.self) { try tap.open(at: 0, isPaused: true) }
        tap.put([0, 0], position: 0, isPaused: true)
        #expect(fifth.isOver && streams[1].isOver)
    }
}
