import Foundation
import HLS
import HLSTestKit
import MediaKernels
import MediaTypes
import Testing

@Suite("Conformance: ffmpeg reads the output")
struct ConformanceTests {
    private static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func package(_ track: EncodedTrack, kind: TrackKind, width: Int, height: Int) throws -> [UInt8] {
        let grid = try Make.grid()
        var segmenter = TrackSegmenter(kind: kind, grid: grid, firstTick: 0)
        var output: [TrackSegmenter.Output] = []
        for packet in track.packets { output += segmenter.append(packet) }
        output += segmenter.finish()
        let header = try InitializationSegmentWriter.bytes(
            for: track.parameters, width: width, height: height, grid: grid, place: "test")
        return header + output.segments.flatMap { $0.pieces.flatMap(\.bytes) }
    }

    @Test(
        "ffmpeg decodes all 150 video frames without a warning, and their times are one frame duration apart",
        arguments: [0, 1, 3])
    func videoDecodes(bFrames: Int) throws {
        let (ffmpeg, ffprobe) = (try Tool.require("ffmpeg"), try Tool.require("ffprobe"))
        let folder = try Self.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let track = try EncodedTrack.encode(
            .video, source: "testsrc2=s=320x180:r=30:d=5",
            encoder: [
                "-c:v", "libx264", "-preset", "veryfast", "-bf", "\(bFrames)", "-g", "32", "-keyint_min", "32",
                "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-video_track_timescale", "30000",
            ], in: folder, ffmpeg: ffmpeg, ffprobe: ffprobe)
        #expect(track.packets.count == 150)
        let file = folder.appendingPathComponent("out.mp4")
        try Data(try Self.package(track, kind: .video, width: 320, height: 180)).write(to: file)
        let decode = try ffmpeg.run(["-v", "warning", "-xerror", "-i", file.path, "-f", "null", "-"])
        #expect(decode.code == 0)
        #expect(decode.errors == "")
        let frames = try ffprobe.run([
            "-v", "warning", "-show_entries",
            "frame=pts,key_frame:stream=codec_tag_string,profile,width,height,time_base,color_space,color_range,sample_aspect_ratio",
            "-of", "compact=p=0:nk=1", file.path,
        ])
        #expect(frames.errors == "")
        var lines = frames.output.split(separator: "\n").map(String.init)
        #expect(lines.removeLast() == "High|avc1|320|180|1:1|tv|bt709|1/30000")
        let times = lines.compactMap { $0.split(separator: "|").last.flatMap { Int64($0) } }
        #expect(times.count == 150)
        // The reader shifts all times by the smallest composition offset if one is negative; only the steps count.
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 1_000 })
        if bFrames == 0 { #expect(times.first == 0) }
    }

    @Test("ffmpeg decodes every audio frame without a warning")
    func audioDecodes() throws {
        let (ffmpeg, ffprobe) = (try Tool.require("ffmpeg"), try Tool.require("ffprobe"))
        let folder = try Self.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let track = try EncodedTrack.encode(
            .audio, source: "sine=r=48000:d=5", encoder: ["-c:a", "aac", "-ac", "2"], in: folder, ffmpeg: ffmpeg,
            ffprobe: ffprobe)
        let file = folder.appendingPathComponent("out.mp4")
        try Data(try Self.package(track, kind: .audio, width: 0, height: 0)).write(to: file)
        let decode = try ffmpeg.run(["-v", "warning", "-xerror", "-i", file.path, "-f", "null", "-"])
        #expect(decode.code == 0)
        #expect(decode.errors == "")
        let frames = try ffprobe.run([
            "-v", "warning", "-count_frames", "-show_entries",
            "stream=codec_name,profile,sample_rate,channels,nb_read_frames",
            "-of", "compact=p=0:nk=1", file.path,
        ])
        let used = track.packets.filter { $0.pts >= 0 }.count
        #expect(frames.output == "aac|LC|48000|2|\(used)\n")
        #expect(frames.errors == "")
    }
}
