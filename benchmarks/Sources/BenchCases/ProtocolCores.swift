import HLS
import MediaKernels
import MediaTypes
import RTMP

/// Benchmarks of the complete state machines for media and commands. They are `package` code, which the benchmarks package cannot
/// access.
public enum ProtocolCores {
    public static let all: [KernelCase] = [
        ingestPath, flvDemux, amfRead, amfWrite, partWrite, playlist(delta: false), playlist(delta: true),
    ]

    // MARK: Ingest

    /// One frame of four slices and 130 ms of audio as an encoder at 2 Mbit/s sends them.
    private struct Publication {
        let configuration: RTMPMediaMessage
        let messages: [RTMPMediaMessage]

        init() {
            let parameterSets: [UInt8] = [0x67, 0x42, 0xC0, 0x1E, 0x99, 0x68, 0xCE, 0x3C, 0x80]
            let record: [UInt8] =
                [1, 0x42, 0xC0, 0x1E, 0xFF, 0xE1, 0, 5] + parameterSets[..<5] + [1, 0, 4] + parameterSets[5...]
            self.configuration = Self.message(.video, [0x17, 0, 0, 0, 0] + record)
            let audio = (0..<6).map { Self.message(.audio, [0xAF, 1] + Fixture.codedBytes(171, seed: UInt64($0))) }
            self.messages = [Self.message(.video, [0x17, 1, 0, 0, 33] + Fixture.lengthPrefixed())] + audio
        }

        var bytes: Int { self.messages.reduce(0) { $0 + $1.payload.count } }

        /// The messages as chunks of 4,096 bytes, which is what OBS sends.
        func chunks() -> [UInt8] {
            var writer = RTMPChunkWriter()
            var wire: [UInt8] = []
            writer.chunkSize = 4096
            let size = RTMPMessage(
                chunkStreamID: 2, type: .setChunkSize, streamID: 0, timestamp: 0,
                payload: PacketMemory(Fixture.bigEndian(4096)))
            var plain = RTMPChunkWriter()
            plain.write(size, into: &wire)
            for message in [self.configuration] + self.messages {
                writer.write(
                    RTMPMessage(
                        chunkStreamID: message.kind == .video ? 6 : 4, type: message.kind == .video ? .video : .audio,
                        streamID: 1, timestamp: message.timestamp, payload: message.payload), into: &wire)
            }
            return wire
        }

        private static func message(_ kind: RTMPMediaMessage.Kind, _ body: [UInt8]) -> RTMPMediaMessage {
            RTMPMediaMessage(kind: kind, timestamp: 40, payload: PacketMemory(body))
        }
    }

    /// From socket bytes to packets: chunk decoding and demultiplexing.
    private static let ingestPath: KernelCase = {
        let bytes = Publication().bytes
        var path = KernelCase(name: "ingest-path", unit: "byte", unitsPerItem: bytes) {
            let wire = Publication().chunks()
            func packets(_ items: Int, copyingAgain: Bool) -> UInt64 {
                var sum: UInt64 = 0
                var messages: [RTMPMessage] = []
                var media: [SourceItem] = []
                var reader = RTMPChunkReader()
                var demuxer = FLVDemuxer()
                for _ in 0..<items {
                    messages.removeAll(keepingCapacity: true)
                    media.removeAll(keepingCapacity: true)
                    try? reader.receive(wire.span, into: &messages)
                    for message in messages {
                        let payload = copyingAgain ? PacketMemory(message.payload.bytes) : message.payload
                        let kind: RTMPMediaMessage.Kind = message.type == .video ? .video : .audio
                        demuxer.receive(
                            RTMPMediaMessage(kind: kind, timestamp: message.timestamp, payload: payload), arrival: 0,
                            into: &media)
                    }
                    sum &+= Self.mark(media)
                }
                return sum
            }
            return KernelWork(
                machine: { packets($0, copyingAgain: false) }, planted: { packets($0, copyingAgain: true) },
                // Seven packets, and the lengths of their payloads.
                expected: Self.expectedMark)
        }
        path.hasReference = false
        path.mediaBytes = bytes
        path.itemsToCount = 40
        return path
    }()

    private static let flvDemux: KernelCase = {
        let publication = Publication()
        var demux = KernelCase(name: "flv-demux", unit: "message", unitsPerItem: publication.messages.count) {
            let publication = Publication()
            return KernelWork(
                machine: { items in
                    var sum: UInt64 = 0
                    var demuxer = FLVDemuxer()
                    var media: [SourceItem] = []
                    demuxer.receive(publication.configuration, arrival: 0, into: &media)
                    for _ in 0..<items {
                        media.removeAll(keepingCapacity: true)
                        for message in publication.messages { demuxer.receive(message, arrival: 0, into: &media) }
                        sum &+= Self.mark(media)
                    }
                    return sum
                }, expected: Self.expectedMark)
        }
        demux.hasReference = false
        demux.mediaBytes = publication.bytes
        demux.itemsToCount = 200
        return demux
    }()

    private static func mark(_ items: [SourceItem]) -> UInt64 {
        items.reduce(0) { sum, item in
            if case .packet(let packet) = item { sum &+ 1_000_000 &+ UInt64(packet.count) } else { sum }
        }
    }

    /// Video: four units of 10,001 bytes with length prefixes. Audio without its configuration is dropped.
    private static let expectedMark: UInt64 = 1_000_000 + 4 * 10_005

    // MARK: Commands

    /// `connect` as OBS sends it.
    private static let command: [AMF0Value] = [
        .string("connect"), .number(1),
        .object([
            AMF0Property("app", .string("live")), AMF0Property("type", .string("nonprivate")),
            AMF0Property("flashVer", .string("FMLE/3.0 (compatible; FMSc/1.0)")),
            AMF0Property("swfUrl", .string("rtmp://127.0.0.1:1935/live")),
            AMF0Property("tcUrl", .string("rtmp://127.0.0.1:1935/live")), AMF0Property("fpad", .boolean(false)),
            AMF0Property("capabilities", .number(239)),
            AMF0Property("fourCcList", .strictArray([.string("av01"), .string("hvc1"), .string("vp09")])),
        ]),
    ]

    private static let amfRead: KernelCase = {
        let bytes = AMF0Writer.bytes(Self.command)
        var read = KernelCase(name: "amf0-read", unit: "byte", unitsPerItem: bytes.count) {
            KernelWork(
                machine: { items in
                    var sum: UInt64 = 0
                    for _ in 0..<items {
                        let (values, fault) = AMF0Reader.values(in: bytes)
                        sum &+=
                            UInt64(values.count) &+ UInt64(values.last?.properties?.count ?? 0)
                            &+ (fault == nil ? 0 : 1_000)
                    }
                    return sum
                }, expected: 3 + 8)
        }
        read.hasReference = false
        read.itemsToCount = 200
        return read
    }()

    private static let amfWrite: KernelCase = {
        let count = AMF0Writer.bytes(Self.command).count
        var write = KernelCase(name: "amf0-write", unit: "byte", unitsPerItem: count) {
            KernelWork(
                machine: { items in
                    var sum: UInt64 = 0
                    for _ in 0..<items { sum &+= UInt64(AMF0Writer.bytes(Self.command).count) }
                    return sum
                }, expected: UInt64(count))
        }
        write.hasReference = false
        write.itemsToCount = 200
        return write
    }()

    // MARK: Packager

    /// One part of 16 frames at 2.5 Mbit/s, including boxes.
    private static let partWrite: KernelCase = {
        let size = 10_400
        var write = KernelCase(name: "part-write", unit: "byte", unitsPerItem: 16 * size) {
            let samples = (0..<16).map { index in
                let memory = PacketMemory(Fixture.codedBytes(size, seed: UInt64(index)))
                return PartSample(
                    memory: memory, range: 0..<memory.count, duration: 1_000, flags: FragmentWriter.dependentSample,
                    compositionOffset: 1_000)
            }
            return KernelWork(
                machine: { items in
                    var sum: UInt64 = 0
                    for item in 0..<items {
                        let part = FragmentWriter.fragment(
                            kind: .video, sequence: UInt32(truncatingIfNeeded: item), decodeTime: Int64(item) * 16_000,
                            samples: samples, startsSegment: item % 4 == 0)
                        sum &+= UInt64(part.count)
                    }
                    return sum
                },
                // styp 24, moof with 16 rows of 16 bytes 344, header of mdat 8.
                expected: UInt64(16 * size + 24 + 344 + 8))
        }
        write.hasReference = false
        write.mediaBytes = 16 * size
        return write
    }()

    /// A low-latency playlist in the middle of a segment: 30 segments of 2.13 s, four parts in each of the last.
    private static func playlist(delta: Bool) -> KernelCase {
        let list = Self.mediaPlaylist()
        let reports = ["480p", "360p", "audio"].map {
            RenditionReport(uri: "\($0).m3u8", lastMediaSequence: 130, lastPart: 1)
        }
        let length = list.rendered(reports: reports, skipping: delta).utf8.count
        let lines = list.rendered(reports: reports, skipping: delta).utf8.count { $0 == UInt8(ascii: "\n") }
        var render = KernelCase(
            name: delta ? "playlist-delta" : "playlist-render", unit: "line", unitsPerItem: lines, itemsToCount: 40
        ) {
            KernelWork(
                machine: { items in
                    var sum: UInt64 = 0
                    for _ in 0..<items { sum &+= UInt64(list.rendered(reports: reports, skipping: delta).utf8.count) }
                    return sum
                }, expected: UInt64(length))
        }
        render.hasReference = false
        return render
    }

    private static func mediaPlaylist() -> MediaPlaylist {
        let map = InitializationSegment(uri: "720p-1.mp4")
        func parts(_ sequence: Int64, _ count: Int) -> [Part] {
            (0..<count).map { index in
                Part(
                    uri: "720p-1-\(sequence).\(index).m4s", start: (sequence * 4 + Int64(index)) * 16_000,
                    duration: MediaDuration(ticks: 16_000, timescale: 30_000), independent: index % 2 == 0,
                    byteCount: 166_000)
            }
        }
        let origin: Int64 = 1_700_000_000_123_000_000
        var window = PlaylistWindow(style: .live(windowSeconds: 60), targetDuration: 2, nextMediaSequence: 100)
        for sequence: Int64 in 100..<130 {
            try? window.append(
                Segment(
                    mediaSequence: sequence, uri: "720p-1-\(sequence).m4s", start: sequence * 64_000,
                    duration: MediaDuration(ticks: 64_000, timescale: 30_000),
                    programDate: origin + sequence * 2_133_333_333, map: map, parts: parts(sequence, 4),
                    byteCount: 664_000))
        }
        guard let grid = try? OutputGrid(fps: 30) else { return MediaPlaylist(window) }
        return MediaPlaylist(
            window,
            edge: LiveEdge(
                control: ServerControl(grid: grid),
                open: LiveEdge.OpenSegment(
                    programDate: origin + 130 * 2_133_333_333, map: map, discontinuity: false, parts: parts(130, 2)),
                hint: "720p-1-130.2.m4s"))
    }
}
