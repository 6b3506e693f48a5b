import Glibc
import MediaKernels
import MediaTypes
import RTMP
import TestSupport
import Testing

@Suite("Captures of real encoders give the same packets however the bytes are split")
struct CaptureSplitTests {
    /// A packet as it leaves ingest, without the location of its bytes.
    struct Packet: Hashable {
        let kind: TrackKind
        let pts: Int64
        let dts: Int64
        let isKey: Bool
        let bytes: [UInt8]
    }

    struct Result: Equatable {
        var configurations: [CodecParameters] = []
        var packets: [Packet] = []
        var ends = 0
        var failure: RTMPFailure?
        var sent: [UInt8] = []
    }

    /// Feeds `bytes` to a session that admits every publisher, and its messages to a demuxer, in pieces of the sizes
    /// that `split` returns.
    static func replay(_ bytes: [UInt8], split: () -> Int) -> Result {
        var session = RTMPServerSession(now: 0, random: [UInt8](repeating: 9, count: 1528))
        var demuxer = FLVDemuxer()
        var result = Result()
        var offset = 0
        func perform(_ actions: [RTMPServerAction]) {
            for action in actions {
                switch action {
                case .send(let bytes): result.sent += bytes
                case .publishRequested(let request): perform(session.decide(.accept, on: request.id, now: 0))
                case .message(let message):
                    var items: [SourceItem] = []
                    demuxer.receive(message, arrival: 0, into: &items)
                    for item in items { note(item) }
                case .wallClock(let time, let timestamp): demuxer.note(time, at: timestamp)
                case .metadata, .data: break
                case .unpublished: result.ends += 1
                case .close(let failure): result.failure = failure
                }
            }
        }
        func note(_ item: SourceItem) {
            switch item {
            case .configuration(let parameters): result.configurations.append(parameters)
            case .packet(let packet):
                result.packets.append(
                    Packet(
                        kind: packet.kind, pts: packet.pts, dts: packet.dts, isKey: packet.isKey,
                        bytes: packet.memory.bytes(in: packet.range)))
            case .end: break
            }
        }
        while offset < bytes.count {
            let end = min(bytes.count, offset + max(1, split()))
            perform(session.receive(Array(bytes[offset..<end]).span, now: 0))
            offset = end
        }
        perform(session.inputEnded())
        return result
    }

    static func check(_ name: String, _ bytes: [UInt8]) {
        let whole = self.replay(bytes) { bytes.count }
        #expect(whole.packets.count >= 10 && !whole.configurations.isEmpty, "\(name)")
        #expect(whole.ends == 1 && whole.failure == nil, "\(name)")
        for size in [1, 2, 3, 7, 127, 128, 4096] {
            let isSame = self.replay(bytes) { size } == whole
            #expect(isSame, "\(name), pieces of \(size)")
        }
        for seed in 0..<20 {
            var random = TestRandom(seed: UInt64(seed))
            let isSame = self.replay(bytes) { Int.random(in: 1...3000, using: &random) } == whole
            #expect(isSame, "\(name), seed \(seed)")
        }
    }

    @Test(
        "each capture in the repository gives the same packets, configurations and replies for seven piece sizes and 20 random splits",
        arguments: Fixtures.names)
    func fixtures(name: String) {
        Self.check(name, Fixtures.bytes(name))
    }

    private static let folder = getenv("TANDEM_CAPTURES").map { String(cString: $0) }

    @Test(
        "each .c2s.bin file in the folder TANDEM_CAPTURES gives the same packets and replies for seven piece sizes and 20 random splits",
        .enabled(if: Self.folder != nil, "TANDEM_CAPTURES is the path of a folder with .c2s.bin files"))
    func inFolder() throws {
        let path = try #require(Self.folder)
        let folder = try #require(opendir(path), "\(path) cannot be read")
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".c2s.bin") { names.append(name) }
        }
        #expect(!names.isEmpty, "no captures in \(path)")
        for name in names.sorted() {
            guard let file = fopen("\(path)/\(name)", "rb") else {
                Issue.record("\(name) cannot be read")
                continue
            }
            var bytes = [UInt8](repeating: 0, count: 16 << 20)
            let count = fread(&bytes, 1, bytes.count, file)
            fclose(file)
            Self.check(name, Array(bytes.prefix(count)))
        }
    }
}
