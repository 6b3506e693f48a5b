import Foundation
import MediaKernels
import MediaTypes
import Testing
import WebRTC

/// Streams of FFmpeg 5.1 in packets of 300 bytes, each with the same encoder's output in a file: `Fixtures/NAME.rtp`
/// has RTP packets, each after its length with two bytes. Twelve frames of 160x96, a key frame every six, two slices
/// for each frame of H.264; half a second of audio.
@Suite("RTP streams of FFmpeg: the frames are those of the encoder")
struct FFmpegStreamTests {
    private static func file(_ name: String) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
        return [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    /// The packets of a stream without those at some places. The RTP header has no extensions.
    private static func assemble(
        _ codec: CodecName, without lost: Set<Int> = []
    ) throws -> (parameters: [CodecParameters], packets: [CodedPacket]) {
        let bytes = try Self.file("\(codec).rtp")
        let rate = codec == .opus ? 48_000 : 90_000
        let track = NegotiatedTrack(
            mid: "0", kind: codec == .opus ? .audio : .video, codec: codec, payloadType: 96, clockRate: rate)
        var assembly = try #require(MediaAssembly(track: track))
        var items: [SourceItem] = []
        var (offset, number, isAfterLoss): (Int, Int64, Bool) = (0, 0, true)
        var first: UInt32?
        while offset < bytes.count {
            let end = offset + 2 + Int(bytes[offset]) << 8 + Int(bytes[offset + 1])
            let packet = try #require(RTPPacket(Array(bytes[offset + 2..<end])))
            offset = end
            defer { number += 1 }
            if lost.contains(Int(number)) {
                isAfterLoss = true
                continue
            }
            let ticks = Int64(packet.timestamp &- (first ?? packet.timestamp))
            if first == nil { first = packet.timestamp }
            assembly.receive(
                OrderedPacket(
                    sequence: number, timestamp: packet.timestamp, marker: packet.marker,
                    payload: packet.bytes[packet.payload], arrival: number, isAfterLoss: isAfterLoss),
                time: ticks * 1_000_000_000 / Int64(rate), into: &items)
            isAfterLoss = false
        }
        return (
            items.compactMap { if case .configuration(let parameters) = $0 { parameters } else { nil } },
            items.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
        )
    }

    @Test("H.264: frames and times are those of the encoder, and the configuration has its parameter sets")
    func h264() throws {
        let units = AnnexB.units(of: try Self.file("h264.264"))
        let (parameters, packets) = try Self.assemble(.h264)
        let kept = units.filter { !NALTypes(header: $0[0]).isSubset(of: [.sps, .pps, .aud]) }
        #expect(packets.flatMap(\.memory.bytes) == TestFrames.lengthPrefixed(kept))
        #expect(packets.count == 12 && packets.enumerated().allSatisfy { $1.isKey == $0.isMultiple(of: 6) })
        #expect(packets.map(\.pts) == (0..<12).map { $0 * 3600 })
        #expect(parameters.count == 1)
        let record = try #require(AVCRecord(record: parameters.first?.configuration ?? []))
        #expect(record.sequenceParameterSets == [units.first { $0[0] & 0x1F == 7 }])
        #expect(record.pictureParameterSets == [units.first { $0[0] & 0x1F == 8 }])
    }

    @Test("VP8 and VP9: frames and key frames are those of the encoder", arguments: [CodecName.vp8, .vp9])
    func vpx(codec: CodecName) throws {
        let file = try Self.file("\(codec).ivf")
        var frames: [[UInt8]] = []
        var offset = 32
        while offset + 12 <= file.count {
            let size = (0..<4).reduce(0) { $0 | Int(file[offset + $1]) << (8 * $1) }
            frames.append(Array(file[offset + 12..<offset + 12 + size]))
            offset += 12 + size
        }
        let (parameters, packets) = try Self.assemble(codec)
        #expect(packets.map(\.memory.bytes) == frames)
        #expect(packets.count == 12 && packets.enumerated().allSatisfy { $1.isKey == $0.isMultiple(of: 6) })
        #expect(parameters == [CodecParameters(codec: codec, configuration: [])])
    }

    @Test("Opus: packets are those of the encoder, with their durations and times")
    func opus() throws {
        let file = try Self.file("opus.ogg")
        var packets: [[UInt8]] = [[]]
        var offset = 0
        // Ogg pages: a segment of less than 255 bytes ends a packet (RFC 3533 §5).
        while offset + 27 <= file.count {
            let count = Int(file[offset + 26])
            var data = offset + 27 + count
            for segment in file[offset + 27..<data] {
                packets[packets.count - 1] += file[data..<data + Int(segment)]
                data += Int(segment)
                if segment < 255 { packets.append([]) }
            }
            offset = data
        }
        let given = try Self.assemble(.opus).packets
        // Without the header, the comments and what comes after the last packet.
        #expect(given.map(\.memory.bytes) == Array(packets.dropFirst(2).dropLast()))
        #expect(given.count == 26 && given.allSatisfy { $0.duration == 960 })
        #expect(given.map(\.pts) == (0..<26).map { $0 * 960 })
    }

    @Test(
        "with one packet lost, every delivered frame equals one of the encoder's, and the first is a key frame",
        arguments: [CodecName.h264, .vp8, .vp9])
    func loss(codec: CodecName) throws {
        let whole = try Self.assemble(codec).packets.map(\.memory.bytes)
        for lost in 0..<24 {
            let remaining = try Self.assemble(codec, without: [lost]).packets
            #expect(6..<12 ~= remaining.count, "packet \(lost): \(remaining.count)")
            #expect(remaining.first?.isKey == true && remaining.allSatisfy { whole.contains($0.memory.bytes) })
        }
    }
}
