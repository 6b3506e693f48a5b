import HLS
import MediaKernels
import MediaTypes
import Packager
import Synchronization

/// A store in memory that records when each object was added and removed.
final class ScriptStore: SegmentStore {
    struct Object {
        var bytes: [UInt8]
        var from: Int64
        var until: Int64 = .max
    }

    struct Content {
        var now: Int64 = 0
        var objects: [String: Object] = [:]
    }

    let content = Mutex(Content())

    func prepare() throws(MediaError) {}
    func put(_ name: String, _ pieces: [PacketMemory], durable: Bool) throws(MediaError) {
        self.content.withLock { content in
            content.objects[name] = Object(
                bytes: pieces.flatMap(\.bytes), from: content.objects[name]?.from ?? content.now)
        }
    }
    func remove(_ name: String) throws(MediaError) {
        self.content.withLock { $0.objects[name]?.until = $0.now }
    }
    func read(_ name: String) -> [UInt8]? { self.content.withLock { $0.objects[name]?.bytes } }
    func contains(_ name: String) -> Bool { self.read(name) != nil }
    func path(of name: String) -> String? { "/\(name)" }
}

/// The history of a whole low-latency presentation, made by the real packager from generated video and audio with its
/// own clock: 30 fps, two renditions and audio, 80 s, then the end.
final class Script: Sendable {
    struct Version: Sendable {
        let at: Int64
        let playlist: MediaPlaylist
        let full: String
        let delta: String
    }

    static let origin: Int64 = 1_700_000_000_000_000_000
    static let lists = ["720p.m3u8", "360p.m3u8", "audio.m3u8"]
    static let seconds: Int64 = 80
    /// Parameter sets of x264: High, level 3.1, 1280×720, and constrained baseline, level 1.3, 318×178.
    static let large = hex("000000016764001facd9405005bbff0003000410000003001000000303c0f18319600000000168ebe3cb22c0")
    static let small = hex("000000016742c00dd901419ea23ff016401dd10000030001000003003c0f142a480000000168cb83cb20")

    private struct State {
        var versions: [String: [Version]] = [:]
        var edge: [String: ScriptStore.Object] = [:]
    }

    let versions: [String: [Version]]
    let objects: [String: ScriptStore.Object]
    let multivariant: String
    let end: Int64

    static let shared = Result { try Script() }

    static func hex(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
    }

    private static func video(_ name: String, _ configuration: [UInt8], bitrate: Int64) -> TrackDescription {
        // The frame size is in the parameter set.
        let size = SequenceParameterSet(nalUnit: Array(configuration[4...].prefix(while: { _ in true })))
        return TrackDescription(
            name: name, kind: .video, parameters: CodecParameters(codec: .h264, configuration: configuration),
            width: size?.width ?? 0, height: size?.height ?? 0, bitrate: bitrate, maxBitrate: bitrate,
            bufferSize: bitrate)
    }

    /// - Parameter seed: Makes the bytes of one rendition differ from those of another.
    private static func picture(_ frame: Int64, seed: Int) -> CodedPacket {
        let isKey = frame % 32 == 0
        let size = isKey ? 900 : 120
        var bytes: [UInt8] = [0, 0, UInt8(size >> 8), UInt8(size & 255), isKey ? 0x65 : 0x41]
        bytes += (1..<size).map { UInt8(truncatingIfNeeded: Int(frame) &* 7 &+ $0 &+ seed) }
        return CodedPacket(
            kind: .video, memory: PacketMemory(bytes), pts: frame, dts: frame, timescale: 30, isKey: isKey)
    }

    static var tracks: [TrackDescription] {
        [
            self.video("720p", self.large, bitrate: 60_000), self.video("360p", self.small, bitrate: 60_000),
            TrackDescription(
                name: "audio", kind: .audio, parameters: CodecParameters(codec: .aac, configuration: [0x11, 0x90]),
                bitrate: 64_000, channels: 2),
        ]
    }

    /// One program frame for every track.
    static func feed(_ packager: HLSPackager, _ frame: Int64) {
        packager.receive(track: 0, self.picture(frame, seed: 0))
        packager.receive(track: 1, self.picture(frame, seed: 100))
        for number in ((frame * 1_600 + 1_023) / 1_024)..<(((frame + 1) * 1_600 + 1_023) / 1_024) {
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 150)
            packager.receive(
                track: 2,
                CodedPacket(
                    kind: .audio, memory: PacketMemory(bytes), pts: number * 1_024, dts: number * 1_024,
                    duration: 1_024, timescale: 48_000, isKey: true))
        }
    }

    private init() throws {
        let store = ScriptStore()
        let state = Mutex(State())
        let grid = try OutputGrid(fps: 30)
        var settings = HLSOutputSettings(directory: "/memory", grid: grid, windowSeconds: 26)
        settings.iFramePlaylists = true
        settings.subtitles = [SubtitleSettings(name: "en", label: "English", language: "en")]
        let tracks = Self.tracks
        struct Clock: MonotonicClock { func now() -> Int64 { 1 } }
        let packager = try HLSPackager.open(settings, tracks: tracks, store: store, clock: Clock()) { _ in }
        packager.attach { update in
            let now = store.content.withLock { $0.now }
            state.withLock { Self.take(update, at: now, &$0) }
        }
        _ = try packager.begin(now: Self.origin)
        for frame in 0..<(Self.seconds * 30) {
            store.content.withLock { $0.now = (frame + 1) * 1_000_000_000 / 30 }
            // An event now and then, in the middle of a part.
            if frame % 75 == 20 {
                packager.cue(
                    FrameMetadata(
                        frame: frame,
                        message: packager.message(
                            number: frame, at: frame, payload: ID3Tag.text("test", "event \(frame)"))))
            }
            // A cue that lasts longer than a segment.
            if frame % 150 == 40 {
                let time = frame * 1_000 / 30
                _ = try packager.addSubtitles(
                    [SubtitleCue(start: time, end: time + 3_000, text: "cue \(frame)")], to: "en", programTime: time,
                    now: time * 1_000_000)
            }
            Self.feed(packager, frame)
            _ = packager.step()
        }
        packager.finish(endlist: true)
        _ = packager.step()
        self.end = Self.seconds * 1_000_000_000
        let seen = state.withLock { $0 }
        self.versions = seen.versions
        let stored = store.content.withLock { $0.objects }
        self.multivariant = String(decoding: stored["index.m3u8"]?.bytes ?? [], as: UTF8.self)
        self.objects = seen.edge.merging(stored) { edge, stored in
            ScriptStore.Object(
                bytes: edge.bytes, from: min(edge.from, stored.from), until: max(edge.until, stored.until))
        }
    }

    private static func take(_ update: LiveEdgeUpdate, at now: Int64, _ state: inout State) {
        for object in update.added {
            switch object.content {
            case .whole(let memory): state.edge[object.name] = ScriptStore.Object(bytes: memory.bytes, from: now)
            case .parts(let names):
                state.edge[object.name] = ScriptStore.Object(
                    bytes: names.flatMap { state.edge[$0]?.bytes ?? [] }, from: now)
            }
        }
        for name in update.removed { state.edge[name]?.until = now }
        let positions = Dictionary(update.playlists.map { ($0.name, $0.playlist.position) }) { $1 }
        for (name, playlist) in update.playlists {
            let reports = self.lists.filter { $0 != name }.compactMap { other in
                (positions[other] ?? state.versions[other]?.last?.playlist.position)?.report(uri: other)
            }
            state.versions[name, default: []].append(
                Version(
                    at: now, playlist: playlist, full: playlist.rendered(reports: reports),
                    delta: playlist.rendered(reports: reports, skipping: true)))
        }
    }
}
