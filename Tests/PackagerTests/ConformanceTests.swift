import Foundation
import HLS
import HLSTestKit
import MediaTypes
import Packager
import Testing

@Suite("Conformance: ffmpeg plays the output")
struct ConformanceTests {
    @Test(
        "ffmpeg decodes every frame of two renditions and their audio without a warning, in one run and over a handover"
    )
    func ladder() throws {
        let (ffmpeg, ffprobe) = (try Tool.require("ffmpeg"), try Tool.require("ffprobe"))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("packager-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func video(_ width: Int, _ height: Int, bFrames: Int) throws -> EncodedTrack {
            try EncodedTrack.encode(
                .video, source: "testsrc2=s=\(width)x\(height):r=30:d=6",
                encoder: [
                    "-c:v", "libx264", "-preset", "veryfast", "-b:v", "400k", "-maxrate", "500k", "-bufsize", "500k",
                    "-bf",
                    "\(bFrames)", "-g", "32", "-keyint_min", "32", "-sc_threshold", "0", "-pix_fmt", "yuv420p",
                    "-video_track_timescale", "30000",
                ], in: folder, ffmpeg: ffmpeg, ffprobe: ffprobe)
        }
        let large = try video(320, 180, bFrames: 1)
        let small = try video(160, 90, bFrames: 0)
        let audio = try EncodedTrack.encode(
            .audio, source: "sine=r=48000:d=6", encoder: ["-c:a", "aac", "-ac", "2", "-b:a", "64k"], in: folder,
            ffmpeg: ffmpeg, ffprobe: ffprobe)
        let tracks = [
            TrackDescription(
                name: "180p", kind: .video, parameters: large.parameters, width: 320, height: 180, bitrate: 400_000,
                maxBitrate: 500_000, bufferSize: 500_000),
            TrackDescription(
                name: "90p", kind: .video, parameters: small.parameters, width: 160, height: 90, bitrate: 400_000,
                maxBitrate: 500_000, bufferSize: 500_000),
            TrackDescription(name: "audio", kind: .audio, parameters: audio.parameters, bitrate: 64_000, channels: 2),
        ]
        let directory = folder.appendingPathComponent("out").path
        var frames = 0
        for run in 0..<2 {
            let events = EventLog()
            let settings = try Output.settings { $0.directory = directory }
            let packager = try HLSPackager.open(settings, tracks: tracks, clock: FixedClock(), report: events.report)
            let firstTick = try packager.begin(now: Output.origin + Int64(run) * 7_000_000_000).firstTick
            for (index, track) in [large, small, audio].enumerated() {
                for var packet in track.packets {
                    let shift = firstTick * Int64(packet.timescale) / 30
                    packet.pts += shift
                    packet.dts += shift
                    packager.receive(track: index, packet)
                }
            }
            packager.finish(endlist: run == 1)
            #expect(packager.step() == (run == 1 ? .ended : .drained))
            #expect(events.failures.isEmpty)
            // A drained room keeps whole segments.
            frames += run == 0 ? 128 : 180
            if run == 0 {
                // Ended for ffmpeg, which would wait for more otherwise.
                for name in ["180p", "90p", "audio"] {
                    let text = try String(contentsOfFile: "\(directory)/\(name).m3u8", encoding: .utf8)
                    try (text + "#EXT-X-ENDLIST\n").write(
                        toFile: "\(directory)/\(name).m3u8", atomically: true, encoding: .utf8)
                }
            }
            let index = "\(directory)/index.m3u8"
            let decode = try ffmpeg.run([
                "-v", "warning", "-xerror", "-i", index, "-map", "0", "-f", "null", "-",
            ])
            #expect(decode.code == 0)
            #expect(decode.errors == "")
            let probe = try ffprobe.run([
                "-v", "error", "-count_frames", "-show_entries", "stream=codec_type,width,nb_read_frames", "-of",
                "compact=p=0:nk=1", index,
            ])
            let lines = Set(probe.output.split(separator: "\n").map(String.init))
            #expect(lines.contains("video|320|\(frames)"))
            #expect(lines.contains("video|160|\(frames)"))
        }
    }
}
