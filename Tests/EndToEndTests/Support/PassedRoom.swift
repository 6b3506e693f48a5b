import Foundation
import Testing

/// A room with passthrough, and its checks.
enum PassedRoom {
    /// Makes a clip with a low bit rate that a room passes through.
    static func clip(_ media: Media, _ path: String, seconds: Double, bFrames: Int, gop: Int = 30) throws {
        var arguments = Publisher.arguments(
            size: "640x360", seconds: seconds, hertz: 440, isRealTime: false, bFrames: bFrames)
        for (word, value) in [("2048k", "500k"), ("60", "\(gop)")] {
            arguments = arguments.map { $0 == word ? value : $0 }
        }
        let limits = ["-profile:v", "high", "-maxrate", "500k", "-bufsize", "250k", "-y", path]
        let result = try Command.run(media.ffmpeg, arguments + limits)
        try #require(result.code == 0, "\(result.errors)")
    }

    /// The rendition's runs of segments with the same initialization segment.
    private static func runs(_ directory: String, _ name: String) throws -> [(map: String, segments: [String])] {
        var runs: [(map: String, segments: [String])] = []
        for segment in try Playlist(contentsOf: "\(directory)/\(name).m3u8").segments {
            let map = segment.map ?? ""
            if runs.last?.map == map, !segment.isDiscontinuity {
                runs[runs.count - 1].segments.append(segment.uri)
            } else {
                runs.append((map, [segment.uri]))
            }
        }
        return runs
    }

    /// Checks that every frame appears once, and that the publisher's frames are unchanged, bit for bit and in order.
    ///
    /// - Parameter whole: False: a frame may be held for up to seven frames.
    /// - Returns: Number of the publisher's frames.
    @discardableResult
    static func judge(
        _ directory: String, _ clip: String, _ media: Media, work: WorkDirectory, whole: Bool
    ) throws -> Int {
        let originals = try PassedMedia.frames(flv: clip)
        let numbers = Dictionary(originals.enumerated().map { ($1, $0) }) { first, _ in first }
        var shown: [Int64] = []
        var passed = 0
        for (index, run) in try self.runs(directory, "360p").enumerated() {
            var bytes = try Data(Files.bytes("\(directory)/\(run.map)"))
            var samples: [PassedMedia.Sample] = []
            for segment in run.segments {
                samples += try PassedMedia.samples(segment: "\(directory)/\(segment)")
                bytes += try Data(Files.bytes("\(directory)/\(segment)"))
            }
            shown += samples.map(\.pts)
            let path = work.path("run\(index).mp4")
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(try media.complaints(path) == "", "run \(index) of \(run.map)")
            #expect(try media.frameCount(path) == samples.count)
            let own = samples.compactMap { numbers[$0.payload] }
            guard !own.isEmpty else { continue }
            #expect(own.count == samples.count, "a publisher's run contains nothing else")
            #expect(zip(own, own.dropFirst()).allSatisfy { $1 == $0 + 1 }, "run \(index): lost or doubled frames")
            passed += own.count
        }
        shown.sort()
        if whole {
            #expect(shown == (0..<Int64(shown.count)).map { (shown.first ?? 0) + $0 * 1_000 })
        } else {
            // When a publisher is cut off its last frame is held for up to a fifth of a second.
            #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 - $0 >= 1_000 && $1 - $0 <= 7_000 })
        }
        return passed
    }
}
