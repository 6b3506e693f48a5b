import LibAV
import MediaKernels
import MediaTypes
import Program
import RTMP
import Testing

@Suite("Encoded frames of a source, offered for passthrough")
struct CodedFrameQueueTests {
    @Test(
        "encoded frames offered for passthrough have the operator's rotation of the source in their configuration, also once it changes"
    )
    func turned() throws {
        let (sets, packets) = try Material.frames(6)
        let configuration = try #require(AVCRecord(annexB: sets))
        let parameters = CodecParameters(codec: .h264, configuration: configuration.record)
        let items: [SourceItem] = [.configuration(parameters)] + packets.map { .packet($0) }
        let told = StageRun.coding(items, rotation: 2, turnedTo: 3)
        #expect(told.map(\.orientation.quarterTurns) == [2, 3])
        #expect(told.allSatisfy { $0.configuration == parameters.configuration })
        #expect(StageRun.coding(items, rotation: 0, turnedTo: 0) == [parameters])
    }
}
