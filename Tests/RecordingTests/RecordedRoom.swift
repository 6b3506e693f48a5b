import Foundation
import HLS
import HLSTestKit
import MediaKernels
import MediaTypes
import Packager
import Recording
import Synchronization
import Testing

/// A packager created after its users.
final class OutputBox: Sendable {
    private let made = Mutex<HLSPackager?>(nil)

    var packager: HLSPackager? {
        get { self.made.withLock { $0 } }
        set { self.made.withLock { $0 = newValue } }
    }
}

/// A room's output with real packets, recorded.
struct RecordedRoom {
    struct Clock: MonotonicClock { func now() -> Int64 { 1 } }

    static let origin: Int64 = 1_700_000_000_000_000_000

    let folder: URL
    let video: EncodedTrack
    let audio: EncodedTrack

    var live: String { self.folder.appendingPathComponent("live").path }
    var recording: String { self.folder.appendingPathComponent("recording").path }

    /// Encodes the tracks. If ffmpeg or ffprobe is not installed, then the current test ends as skipped.
    init() throws {
        let (ffmpeg, ffprobe) = (try Tool.require("ffmpeg"), try Tool.require("ffprobe"))
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("recording-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        self.video = try EncodedTrack.encode(
            .video, source: "testsrc2=s=160x90:r=30:d=9",
            encoder: [
                "-c:v", "libx264", "-preset", "veryfast", "-b:v", "200k", "-bf", "1", "-g", "32", "-keyint_min", "32",
                "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-video_track_timescale", "30000",
            ], in: self.folder, ffmpeg: ffmpeg, ffprobe: ffprobe)
        self.audio = try EncodedTrack.encode(
            .audio, source: "sine=r=48000:d=9", encoder: ["-c:a", "aac", "-ac", "2", "-b:a", "64k"],
            in: self.folder, ffmpeg: ffmpeg, ffprobe: ffprobe)
    }

    /// Another room with the same packets.
    init(like other: RecordedRoom) throws {
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("recording-\(UUID().uuidString)")
        (self.video, self.audio) = (other.video, other.audio)
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    }

    func settings(keepsSegments: Bool = true, roomID: String = "88231") -> RecordingSettings {
        RecordingSettings(
            directory: self.recording, roomID: roomID, title: "A & B",
            movies: [RecordingSettings.Movie(video: "90p", audio: "audio")], keepsSegments: keepsSegments)
    }

    /// - Parameter output: The output of an encrypted room.
    func recorder(_ settings: RecordingSettings, output: OutputBox? = nil) throws -> Recorder {
        let store = DirectoryStore(directory: self.live)
        var clear: (@Sendable (ListedSegmentSet.Track) -> [UInt8]?)?
        if let output { clear = { output.packager?.clearBytes(of: $0.segment, track: $0.name) } }
        let recorder = try Recorder.open(settings, source: { store.path(of: $0) }, clear: clear) { event in
            if case .stopped(let error) = event, error.code != .diskFull { Issue.record("\(error)") }
        }
        try recorder.begin()
        return recorder
    }

    /// Runs a worker from its first packet to its last.
    ///
    /// - Parameters:
    ///   - marks: Phases by their first frame, counted from the start of the run.
    ///   - output: Is given the packager before the first packet.
    ///   - keeper: Replaces the recorder.
    ///   - commands: Run before the frame of this number, counted from the start of the run.
    func run(
        _ recorder: Recorder?, ends: Bool, at second: Int64, marks: [(Int64, String?)] = [], stopsAt: Int? = nil,
        resumesAt: Int? = nil, encryption: EncryptionSettings? = nil, output: OutputBox? = nil,
        keeper: (any ListingObserver)? = nil, commands: [Int: () throws -> Void] = [:]
    ) throws {
        var settings = HLSOutputSettings(directory: self.live, grid: try OutputGrid(fps: 30), windowSeconds: 6)
        settings.deleteGraceSeconds = 0
        settings.encryption = encryption
        let tracks = [
            TrackDescription(
                name: "90p", kind: .video, parameters: self.video.parameters, width: 160, height: 90,
                bitrate: 200_000, maxBitrate: 400_000, bufferSize: 400_000),
            TrackDescription(
                name: "audio", kind: .audio, parameters: self.audio.parameters, bitrate: 64_000, channels: 2),
        ]
        var keeping: (any ListingObserver)? = recorder
        if let keeper { keeping = keeper }
        let packager = try HLSPackager.open(settings, tracks: tracks, clock: Clock(), keeper: keeping) { event in
            if case .outputFailed(let error) = event { Issue.record("\(error)") }
        }
        output?.packager = packager
        let first = try packager.begin(now: Self.origin + second * 1_000_000_000).firstTick
        for (frame, phase) in marks {
            packager.mark(
                ProgramMark(
                    rangeClass: "live.tandem.pk", tick: first + frame,
                    attributes: phase.map { [DateRange.Attribute("TANDEM-PHASE", $0)] }))
        }
        var packets: [(track: Int, packet: CodedPacket)] = []
        for (index, track) in [self.video, self.audio].enumerated() {
            packets += track.packets.map { packet in
                var packet = packet
                let shift = first * Int64(packet.timescale) / 30
                packet.pts += shift
                packet.dts += shift
                return (index, packet)
            }
        }
        packets.sort { left, right in
            left.packet.dts * Int64(right.packet.timescale) < right.packet.dts * Int64(left.packet.timescale)
        }
        var frames = 0
        for (index, (track, packet)) in packets.enumerated() {
            if track == 0 {
                try commands[frames]?()
                frames += 1
            }
            if index == stopsAt {
                recorder?.stop(MediaError(.diskFull, "95 % is taken", at: "recording", fix: "free space"))
            }
            if index == resumesAt { recorder?.resume() }
            packager.receive(track: track, packet)
            _ = packager.step()
        }
        packager.finish(endlist: ends)
        #expect(packager.step() == (ends ? .ended : .drained))
        recorder?.settle()
    }
}
