import Dispatch
import Glibc
import LibAV
import MediaKernels
import MediaTypes
import Program
import RTMP
import Threading
import Synchronization
import Testing

/// Decodes a capture of an encoder that changes from 160x90 to 90x160 and from 44.1 kHz mono to 48 kHz stereo.
@Suite("Format changes in mid-stream")
struct FormatChangeTests {
    private static func capture() throws -> [SourceItem] {
        let folder = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        let file = try #require(fopen(folder + "/RTMPTests/Fixtures/lib_rotation.c2s.bin", "rb"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        var reader = RTMPChunkReader()
        var messages: [RTMPMessage] = []
        let media = Array(bytes.dropFirst(1 + 1536 + 1536))
        try reader.receive(media.span, into: &messages)
        var demuxer = FLVDemuxer()
        var items: [SourceItem] = []
        for message in messages where message.type.rawValue == 8 || message.type.rawValue == 9 {
            let media = RTMPMediaMessage(
                kind: message.type.rawValue == 9 ? .video : .audio, timestamp: message.timestamp,
                payload: message.payload)
            demuxer.receive(media, arrival: 0, into: &items)
        }
        return items
    }

    private final class Log: Sendable {
        let formats = Mutex<[String]>([])
        let failures = Mutex<[MediaError.Code]>([])
        let done = DispatchSemaphore(value: 0)

        func take(_ event: DecodeStage.Event) {
            switch event {
            case .firstFrame(let format), .formatChanged(let format):
                self.formats.withLock { $0.append("\(format.width)x\(format.height)") }
            case .undecodable(let error): self.failures.withLock { $0.append(error.code) }
            case .ended: self.done.signal()
            case .firstAudio, .reanchored, .noiseSuppression: break
            }
        }
    }

    /// Decodes `items` to the end.
    private func decode(
        _ items: [SourceItem], rotation: Int = 0, maxPixels: Int64 = 1920 * 1920
    ) -> (log: Log, stats: DecodeStage.Stats, sizes: [Int], audio: Int64) {
        let source = SourceID(uid: "1")
        let buffer = SourceBuffer(source: source, isPaced: true)
        // Audio that is always short of what is wanted keeps the stage from pausing.
        buffer.setTracks(video: true, audio: true)
        let log = Log()
        let stage = DecodeStage(
            settings: DecodeStage.Settings(
                source: source, jitterBuffer: 0, offset: 0, sampleRate: 48_000, maxPixels: maxPixels, rotation: rotation
            ),
            buffer: buffer, clock: ProgramClock(machine: Stopped()), machine: SystemClock(),
            events: { log.take($0) })
        let collected = Mutex<[Int]>([])
        let runner = DispatchQueue(label: "decode")
        runner.async { stage.run { .max / 2 } }
        DispatchQueue(label: "read").async { for item in items + [.end] { stage.put(item) } }
        // Takes frames as they come, or the stage would wait for space.
        while log.done.wait(timeout: .now() + .milliseconds(5)) == .timedOut { self.take(buffer, collected) }
        self.take(buffer, collected)
        let stats = stage.stats
        stage.stop()
        var audio = [Float](repeating: 0, count: 2)
        var end: Int64 = 0
        for position in stride(from: Int64(0), to: 480_000, by: 480)
        where buffer.read(position..<(position + 1), into: &audio) == 1 { end = position }
        return (log, stats, collected.withLock { $0 }, end)
    }

    private struct Stopped: MonotonicClock { func now() -> Int64 { 0 } }

    private func take(_ buffer: SourceBuffer, _ collected: borrowing Mutex<[Int]>) {
        // One millisecond per step: every frame is the nearest to some step.
        while let selection = buffer.select(at: .max / 4, interval: 1), selection.isFresh {
            collected.withLock { $0.append(selection.picture.format.width) }
        }
    }

    @Test("in a capture of a rotated device the frame size changes once, no packet is damaged and audio is decoded")
    func rotation() throws {
        let items = try Self.capture()
        let result = self.decode(items)
        #expect(result.log.formats.withLock { $0 } == ["160x90", "90x160"])
        #expect(result.log.failures.withLock { $0 } == [])
        #expect(result.stats.damaged == 0 && result.stats.dropped == 0)
        #expect(result.stats.videoPackets > 20 && result.stats.audioPackets > 20)
        #expect(result.audio > 0)
    }

    @Test("an operator's rotation of 90° swaps the width and height of every format of a source")
    func turned() throws {
        let result = self.decode(try Self.capture(), rotation: 1)
        #expect(result.log.formats.withLock { $0 } == ["90x160", "160x90"])
    }

    @Test("repeating every video configuration ten times adds no format change and damages no packet")
    func repeatedConfigurations() throws {
        let items = try Self.capture().flatMap { item -> [SourceItem] in
            if case .configuration(let parameters) = item, parameters.kind == .video {
                return [SourceItem](repeating: item, count: 10)
            }
            return [item]
        }
        let result = self.decode(items)
        #expect(result.log.formats.withLock { $0 } == ["160x90", "90x160"])
        #expect(result.stats.damaged == 0)
    }

    @Test("200 damaged packets are reported as one failure, and the next key frame is shown")
    func episodes() throws {
        var items = try Self.capture()
        let first = try #require(
            items.firstIndex { if case .packet(let packet) = $0 { packet.kind == .video } else { false } })
        let garbage = (0..<200).map { index -> SourceItem in
            let bytes: [UInt8] = [0, 0, 0, 4, index.isMultiple(of: 50) ? 0x65 : 0x41, 0xFF, UInt8(index), 0x80]
            return .packet(
                CodedPacket(
                    kind: .video, memory: PacketMemory(bytes), pts: Int64(index - 300), dts: Int64(index - 300),
                    timescale: 1000, isKey: index.isMultiple(of: 50)))
        }
        items.insert(contentsOf: garbage, at: first)
        let result = self.decode(items)
        #expect(result.log.failures.withLock { $0 } == [.invalidData])
        #expect(result.log.formats.withLock { $0 } == ["160x90", "90x160"])
    }

    @Test("a frame size over the limit is refused once; no frame is shown, but the audio is decoded")
    func tooLarge() throws {
        let result = self.decode(try Self.capture(), maxPixels: 160 * 90 - 1)
        #expect(result.log.failures.withLock { $0 } == [.tooLarge])
        #expect(result.log.formats.withLock { $0 } == [])
        #expect(result.audio > 0)
    }

    @Test("video whose first parameter set cannot be parsed is decoded")
    func unreadableParameterSet() throws {
        let items = try Self.capture().map { item -> SourceItem in
            guard case .configuration(let parameters) = item, parameters.kind == .video else { return item }
            // The parameter sets move to the second position of the record; the first is truncated.
            let old = parameters.configuration
            let record = Array(old[0..<5]) + [0xE2, 0, 4, 0x67, 0x42, 0xC0, 0x1E] + Array(old[6...])
            return .configuration(CodecParameters(codec: .h264, configuration: record))
        }
        let result = self.decode(items)
        #expect(result.log.formats.withLock { $0 } == ["160x90", "90x160"])
    }
}
