import MediaKernels
import MediaTypes
import Push
import Testing

@Suite("CombinedInput: additional audio tracks from other inputs")
struct CombinedInputTests {
    /// An input with scripted packets.
    private final class Script: PublishInput {
        let parameters: [CodecParameters]
        let picture: (width: Int, height: Int, fps: Int)? = nil
        private var packets: [CodedPacket]

        init(_ parameters: [CodecParameters], _ packets: [CodedPacket]) {
            (self.parameters, self.packets) = (parameters, packets)
        }

        func next() throws(MediaError) -> CodedPacket? { self.packets.isEmpty ? nil : self.packets.removeFirst() }
    }

    private static func audio(_ track: UInt8) -> CodecParameters {
        var parameters = CodecParameters(codec: .aac, configuration: [0x11, 0x90])
        parameters.track = track
        return parameters
    }

    private static func packet(_ frame: Int64, track: UInt8 = 0, _ byte: UInt8) -> CodedPacket {
        var packet = CodedPacket(
            kind: .audio, memory: PacketMemory([byte]), pts: frame * 1_024, dts: frame * 1_024, duration: 1_024,
            timescale: 48_000, isKey: true)
        packet.track = track
        return packet
    }

    @Test("of an additional input with video and several audio tracks, only the first audio track is sent")
    func severalTracks() throws {
        let main = Script(
            [FeedCoreTests.record, Self.audio(0)],
            [FeedCoreTests.picture(0, isKey: true), Self.packet(1, 1), Self.packet(2, 2)])
        let other = Script(
            [FeedCoreTests.record, Self.audio(0), Self.audio(1)],
            [
                FeedCoreTests.picture(0, isKey: true), Self.packet(1, track: 1, 5), Self.packet(1, 6),
                Self.packet(2, track: 1, 7), Self.packet(2, 8),
            ])
        let input = try CombinedInput(main, audio: [other])
        #expect(input.parameters == [FeedCoreTests.record, Self.audio(0), Self.audio(1)])
        var sent: [String] = []
        while let packet = try input.next() {
            sent.append(packet.kind == .video ? "video" : "\(packet.track): \(packet.memory.bytes[0])")
        }
        #expect(sent == ["video", "0: 1", "1: 6", "0: 2", "1: 8"])
    }
}
