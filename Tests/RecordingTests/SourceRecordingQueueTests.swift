import MediaKernels
import MediaTypes
import Recording
import Testing

@Suite("The queue before the writer of a source's recording")
struct SourceRecordingQueueTests {
    private static func packet(_ kind: TrackKind, isKey: Bool = true, size: Int = 1 << 20) -> SourceItem {
        .packet(
            CodedPacket(
                kind: kind, memory: PacketMemory([UInt8](repeating: 0, count: size)), pts: 0, dts: 0, timescale: 1_000,
                isKey: isKey))
    }

    @Test(
        "a full recording queue drops and counts frames up to the next key frame; configurations and ends of publications stay"
    )
    func full() {
        var queue = SourceRecordingQueue()
        _ = queue.offer(.configuration(SourceMovieKit.avc))
        for index in 0..<40 { _ = queue.offer(Self.packet(.video, isKey: index == 0)) }
        _ = queue.offer(Self.packet(.audio, size: 16))
        _ = queue.offer(Self.packet(.video))
        let wakes = queue.offer(.end)
        #expect(wakes)
        let first = queue.take()
        #expect(first.items.count == 34 && first.droppedVideo == 9 && first.droppedAudio == 1)
        // There is space again, but no key frame.
        _ = queue.offer(.configuration(SourceMovieKit.avc))
        _ = queue.offer(Self.packet(.video, isKey: false))
        _ = queue.offer(Self.packet(.audio))
        _ = queue.offer(Self.packet(.video))
        _ = queue.offer(Self.packet(.audio))
        let second = queue.take()
        #expect(second.items.count == 3 && second.droppedVideo == 1 && second.droppedAudio == 1)
    }

    @Test("if too many configurations wait in a recording queue, the newest of each track and the end before them stay")
    func flood() {
        var queue = SourceRecordingQueue()
        _ = queue.offer(.configuration(CodecParameters(codec: .opus, configuration: [])))
        _ = queue.offer(Self.packet(.audio, size: 16))
        _ = queue.offer(.end)
        _ = queue.offer(.configuration(SourceMovieKit.aac))
        for number in 0..<400 {
            _ = queue.offer(
                .configuration(CodecParameters(codec: .h264, configuration: [UInt8(truncatingIfNeeded: number)])))
        }
        let batch = queue.take()
        #expect(batch.items.count < 256 && batch.droppedAudio == 1)
        var (ends, audio, video): (Int, [CodecParameters], [CodecParameters]) = (0, [], [])
        for item in batch.items {
            switch item {
            case .end: ends += 1
            case .packet: Issue.record("the packet was not dropped")
            case .configuration(let parameters) where parameters.kind == .audio: audio.append(parameters)
            case .configuration(let parameters): video.append(parameters)
            }
        }
        #expect(ends == 1 && audio == [SourceMovieKit.aac] && video.last?.configuration == [UInt8(399 & 0xFF)])
    }

    @Test(
        "after dropped frames, the recording queue of a publication without video accepts any frame once there is room")
    func audio() {
        var queue = SourceRecordingQueue()
        _ = queue.offer(.configuration(SourceMovieKit.aac))
        for _ in 0..<(SourceRecordingQueue.maximumCount + 10) { _ = queue.offer(Self.packet(.audio, size: 16)) }
        let dropped = queue.take().droppedAudio
        #expect(dropped == 10)
        _ = queue.offer(Self.packet(.audio, size: 16))
        let batch = queue.take()
        #expect(batch.items.count == 1 && batch.droppedAudio == 0)
    }
}
