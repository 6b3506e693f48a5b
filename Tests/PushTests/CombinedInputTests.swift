import MediaTypes
import Push
import Testing

@Suite("CombinedInput: one input with the audio of others")
struct CombinedInputTests {
    /// An input whose packets are given.
    private final class Listed: PublishInput {
        let parameters: [CodecParameters]
        let picture: (width: Int, height: Int, fps: Int)? = nil
        private(set) var packets: [CodedPacket]

        init(_ parameters: [CodecParameters], _ packets: [CodedPacket]) {
            (self.parameters, self.packets) = (parameters, packets)
        }

        func next() throws(MediaError) -> CodedPacket? { self.packets.isEmpty ? nil : self.packets.removeFirst() }
    }

    private static let main = [CodecParameters(codec: .aac, configuration: [0x11, 0x90])]

    private static func parameters(track: UInt8) -> CodecParameters {
        var parameters = CodecParameters(codec: .aac, configuration: [0x11, 0x90])
        parameters.track = track
        return parameters
    }

    private static func packet(_ frame: Int64, track: UInt8) -> CodedPacket {
        var packet = FeedCoreTests.audioPacket(frame)
        packet.track = track
        return packet
    }

    @Test("only the first audio track of an additional input is sent, as the track that is announced")
    func oneTrack() throws {
        let further = Listed(
            [FeedCoreTests.record, Self.parameters(track: 2), Self.parameters(track: 3)],
            [
                FeedCoreTests.picture(0, isKey: true), Self.packet(0, track: 3), Self.packet(0, track: 2),
                Self.packet(1, track: 3), Self.packet(1, track: 2),
            ])
        let input = try CombinedInput(Listed(Self.main, [Self.packet(0, track: 0)]), audio: [further])
        #expect(input.parameters.map(\.track) == [0, 1])
        var sent: [[Int64]] = []
        while let packet = try input.next() { sent.append([Int64(packet.track), packet.dts]) }
        #expect(sent == [[0, 0], [1, 0], [1, 1_024]])
    }

    @Test("an additional input without audio is not read, since a repeated file would be read without end")
    func silent() throws {
        let silent = Listed([FeedCoreTests.record], [FeedCoreTests.picture(0, isKey: true)])
        let input = try CombinedInput(Listed(Self.main, [Self.packet(0, track: 0)]), audio: [silent])
        #expect(input.parameters.count == 1)
        #expect(try input.next()?.track == 0)
        #expect(try input.next() == nil && silent.packets.count == 1)
    }
}
