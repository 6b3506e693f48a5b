import HLS
import MediaKernels
import MediaTypes
import Packager
import Synchronization

/// A store in memory that records its operations and fails on request.
final class MemoryStore: SegmentStore {
    struct Content {
        var files: [String: [UInt8]] = [:]
        var log: [String] = []
        /// Called before a put, outside the lock.
        var before: @Sendable (String) -> Void = { _ in }
        var refuses: @Sendable (String) -> Bool = { _ in false }
        /// The error of a put that is refused.
        var refusal = MediaError.Code.outputLost
        /// Deletions fail.
        var isStuck = false
    }

    let content = Mutex(Content())

    func prepare() throws(MediaError) {}

    func put(_ name: String, _ pieces: [PacketMemory], durable: Bool) throws(MediaError) {
        self.content.withLock(\.before)(name)
        let refusal = self.content.withLock { content -> MediaError.Code? in
            content.log.append("put \(name)\(durable ? " durable" : "")")
            guard !content.refuses(name) else { return content.refusal }
            content.files[name] = pieces.flatMap(\.bytes)
            return nil
        }
        if let refusal { throw MediaError(refusal, "refused \(name)", at: "test", fix: "none") }
    }

    /// Overwrites in place: a store that accepts no new object accepts this.
    func overwrite(_ name: String, _ bytes: [UInt8]) throws(MediaError) {
        self.content.withLock { $0.files[name] = bytes }
    }

    func remove(_ name: String) throws(MediaError) {
        let isStuck = self.content.withLock { content in
            content.log.append("remove \(name)")
            if !content.isStuck { content.files[name] = nil }
            return content.isStuck
        }
        if isStuck { throw MediaError(.outputLost, "kept \(name)", at: "test", fix: "none") }
    }

    func read(_ name: String) -> [UInt8]? { self.content.withLock { $0.files[name] } }
    func contains(_ name: String) -> Bool { self.read(name) != nil }
    func path(of name: String) -> String? { "/memory/\(name)" }

    var files: [String: [UInt8]] { self.content.withLock { $0.files } }
    func text(_ name: String) -> String { String(decoding: self.read(name) ?? [], as: UTF8.self) }
    func refuse(_ rule: @escaping @Sendable (String) -> Bool) { self.content.withLock { $0.refuses = rule } }
    func takeLog() -> [String] {
        self.content.withLock { content in
            defer { content.log = [] }
            return content.log
        }
    }
}

struct FixedClock: MonotonicClock {
    func now() -> Int64 { 77 }
}

/// Collects events.
final class EventLog: Sendable {
    private let events = Mutex<[PackagerEvent]>([])

    var report: @Sendable (PackagerEvent) -> Void { { event in self.events.withLock { $0.append(event) } } }
    var all: [PackagerEvent] { self.events.withLock { $0 } }
    var published: [PublishedSegment] {
        self.all.compactMap { if case .segmentPublished(let segment) = $0 { segment } else { nil } }
    }
    var failures: [MediaError] { self.all.compactMap { if case .outputFailed(let error) = $0 { error } else { nil } } }
    /// Numbers of lost segments, one for each time that the directory was written again.
    var restored: [Int] {
        self.all.compactMap { if case .placeRestored(_, let lost) = $0 { lost } else { nil } }
    }
    var isSuperseded: Bool { self.all.contains { if case .superseded = $0 { true } else { false } } }
    var isEnded: Bool { self.all.contains { if case .playlistEnded = $0 { true } else { false } } }
}

/// A room's output, fed with generated packets.
struct Output {
    static let origin: Int64 = 1_700_000_000_000_000_000
    /// x264, High, level 3.1, 1280×720.
    static let h264: [UInt8] =
        [0, 0, 0, 1] + hex("6764001facd9405005bbff0003000410000003001000000303c0f1831960")
        + [0, 0, 0, 1] + hex("68ebe3cb22c0")
    static let otherH264: [UInt8] =
        [0, 0, 0, 1] + hex("6742c00dd901419ea23ff016401dd10000030001000003003c0f142a48")
        + [0, 0, 0, 1] + hex("68cb83cb20")

    static func hex(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
    }

    static func video(_ name: String, _ configuration: [UInt8] = Output.h264) -> TrackDescription {
        TrackDescription(
            name: name, kind: .video, parameters: CodecParameters(codec: .h264, configuration: configuration),
            width: 1280,
            height: 720, bitrate: 2_000_000, maxBitrate: 2_400_000, bufferSize: 2_400_000)
    }

    static let audio = TrackDescription(
        name: "audio", kind: .audio, parameters: CodecParameters(codec: .aac, configuration: [0x11, 0x90]),
        bitrate: 64_000, channels: 2)

    let packager: HLSPackager
    let events: EventLog
    let tracks: [TrackDescription]

    static func settings(_ change: (inout HLSOutputSettings) -> Void = { _ in }) throws -> HLSOutputSettings {
        var settings = HLSOutputSettings(directory: "/memory", grid: try OutputGrid(fps: 30))
        // A busy machine must not count as a slow store.
        settings.storePatience = 10_000_000_000
        change(&settings)
        return settings
    }

    init(
        _ store: any SegmentStore, settings: HLSOutputSettings? = nil,
        tracks: [TrackDescription] = [Output.video("720p"), Output.video("360p"), Output.audio],
        keeper: (any ListingObserver)? = nil
    ) throws {
        self.events = EventLog()
        self.tracks = tracks
        self.packager = try HLSPackager.open(
            settings ?? Output.settings(), tracks: tracks, store: store, clock: FixedClock(), keeper: keeper,
            report: self.events.report)
    }

    /// Feeds program frames to all tracks, or those given, like the encoders: audio together with video.
    func feed(_ frames: Range<Int64>, only: Set<Int>? = nil, size: Int = 100) {
        for frame in frames {
            for (index, track) in self.tracks.enumerated() where only?.contains(index) ?? true {
                switch track.kind {
                case .video: self.packager.receive(track: index, Self.picture(frame, size: size))
                case .audio:
                    for pts in Self.audioTimes(frame) { self.packager.receive(track: index, Self.audioPacket(pts)) }
                }
            }
        }
    }

    static func picture(_ frame: Int64, size: Int = 100) -> CodedPacket {
        CodedPacket(
            kind: .video, memory: PacketMemory([UInt8](repeating: UInt8(truncatingIfNeeded: frame), count: size)),
            pts: frame, dts: frame, timescale: 30, isKey: frame % 32 == 0)
    }

    static func audioPacket(_ pts: Int64) -> CodedPacket {
        CodedPacket(
            kind: .audio, memory: PacketMemory([UInt8](repeating: 9, count: 20)), pts: pts, dts: pts, duration: 1024,
            timescale: 48_000, isKey: true)
    }

    /// AAC frames that start in a program frame: 1,600 samples.
    static func audioTimes(_ frame: Int64) -> [Int64] {
        let first = (frame * 1_600 + 1_023) / 1_024
        let end = ((frame + 1) * 1_600 + 1_023) / 1_024
        return (first..<end).map { $0 * 1_024 }
    }
}

/// Parses a media playlist.
struct ListText {
    let lines: [String]

    init(_ text: String) { self.lines = text.split(separator: "\n").map(String.init) }

    func value(_ tag: String) -> String? {
        self.lines.first { $0.hasPrefix("#\(tag):") }.map { String($0.dropFirst(tag.count + 2)) }
    }
    var mediaSequence: Int64? { self.value("EXT-X-MEDIA-SEQUENCE").flatMap { Int64($0) } }
    var uris: [String] { self.lines.filter { !$0.hasPrefix("#") } }
    var maps: [String] { self.lines.filter { $0.hasPrefix("#EXT-X-MAP") } }
    func count(_ line: String) -> Int { self.lines.count { $0 == line } }
    /// Tags directly before the segment.
    func tags(before uri: String) -> [String] {
        guard let index = self.lines.firstIndex(of: uri) else { return [] }
        return Array(self.lines[..<index].reversed().prefix { $0.hasPrefix("#") })
    }
}
