import Foundation
import HLS
import HLSTestKit
import MediaKernels
import MediaTypes
import Testing

/// The same packets through libavformat's muxer and through Tandem's must give boxes with the same meaning.
@Suite("Boxes have the same meaning as those that libavformat writes: ISO/IEC 14496-12 §8")
struct LibavformatTests {
    /// A sample as seen by a reader of the boxes.
    private struct Sample: Equatable {
        let size: UInt32
        let duration: UInt32
        let isSync: Bool
        let offset: Int32
    }

    private struct Reading {
        var samples: [Sample] = []
        /// The decode time of each fragment, by the index of its first sample.
        var times: [Int: UInt64] = [:]
        var codec: [UInt8] = []
        var timescale: UInt32 = 0
    }

    /// Reads every form of track run, unlike ``BoxDump/tables``.
    private static func read(_ bytes: [UInt8], codec: String) -> Reading {
        let dump = BoxDump(bytes)
        var reading = Reading()
        if let box = dump.all(codec).first { reading.codec = Array(bytes[box.body]) }
        if let box = dump.all("mdhd").first { reading.timescale = dump.u32(box.body.lowerBound + 12) }
        let trex = dump.all("trex").first.map { box in (0..<3).map { dump.u32(box.body.lowerBound + 12 + 4 * $0) } }
        for (index, box) in dump.all("trun").enumerated() {
            let header = dump.all("tfhd")[index]
            var defaults = trex ?? [0, 0, 0]
            let bits = dump.u32(header.body.lowerBound)
            var place = header.body.lowerBound + 8 + (bits & 1 != 0 ? 8 : 0) + (bits & 2 != 0 ? 4 : 0)
            for (field, bit) in [UInt32(8), 0x10, 0x20].enumerated() where bits & bit != 0 {
                defaults[field] = dump.u32(place)
                place += 4
            }
            reading.times[reading.samples.count] = dump.decodeTimes[index]
            let flags = dump.u32(box.body.lowerBound) & 0xFF_FFFF
            let count = dump.u32(box.body.lowerBound + 4)
            place = box.body.lowerBound + 8 + (flags & 1 != 0 ? 4 : 0)
            var first: UInt32?
            if flags & 4 != 0 {
                first = dump.u32(place)
                place += 4
            }
            for row in 0..<count {
                func field(_ bit: UInt32, _ fallback: UInt32) -> UInt32 {
                    guard flags & bit != 0 else { return fallback }
                    defer { place += 4 }
                    return dump.u32(place)
                }
                let duration = field(0x100, defaults[0])
                let size = field(0x200, defaults[1])
                let marks = field(0x400, row == 0 ? first ?? defaults[2] : defaults[2])
                let offset = Int32(bitPattern: field(0x800, 0))
                reading.samples.append(
                    Sample(size: size, duration: duration, isSync: marks & 0x1_0000 == 0, offset: offset))
            }
        }
        return reading
    }

    private static func both(
        _ kind: TrackKind, source: String, encoder: [String], width: Int = 0, height: Int = 0
    ) throws -> (ours: Reading, theirs: Reading) {
        let (ffmpeg, ffprobe) = (try Tool.require("ffmpeg"), try Tool.require("ffprobe"))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("libav-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let track = try EncodedTrack.encode(
            kind, source: source, encoder: encoder, in: folder, ffmpeg: ffmpeg, ffprobe: ffprobe)
        let coded = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let other = folder.appendingPathComponent("fragmented.mp4").path
        let muxing = try ffmpeg.run([
            "-v", "error", "-copyts", "-i", folder.appendingPathComponent(coded).path, "-c", "copy", "-movflags",
            "cmaf+frag_keyframe+skip_trailer+frag_discont", "-video_track_timescale", "30000", other,
        ])
        #expect(muxing.code == 0 && muxing.errors == "", "\(muxing.errors)")
        let grid = try Make.grid()
        var segmenter = TrackSegmenter(kind: kind, grid: grid, firstTick: 0)
        var output: [TrackSegmenter.Output] = []
        for packet in track.packets { output += segmenter.append(packet) }
        output += segmenter.finish()
        let head = try InitializationSegmentWriter.bytes(
            for: track.parameters, width: width, height: height, grid: grid, place: "test")
        let bytes = head + output.segments.flatMap { $0.pieces.flatMap(\.bytes) }
        let codec = kind == .video ? "avcC" : "esds"
        return (
            self.read(bytes, codec: codec),
            self.read([UInt8](try Data(contentsOf: URL(fileURLWithPath: other))), codec: codec)
        )
    }

    @Test(
        "video samples have libavformat's sizes, durations, sync flags, composition offsets and times, and its avcC",
        arguments: [0, 1, 3])
    func frames(bFrames: Int) throws {
        let (ours, theirs) = try Self.both(
            .video, source: "testsrc2=s=320x180:r=30:d=5",
            encoder: [
                "-c:v", "libx264", "-preset", "veryfast", "-bf", "\(bFrames)", "-g", "32", "-keyint_min", "32",
                "-sc_threshold", "0", "-pix_fmt", "yuv420p", "-video_track_timescale", "30000",
            ], width: 320, height: 180)
        #expect(ours.samples.count == 150)
        #expect(ours.samples.map(\.size) == theirs.samples.map(\.size))
        #expect(ours.samples.map(\.duration) == theirs.samples.map(\.duration))
        #expect(ours.samples.map(\.isSync) == theirs.samples.map(\.isSync))
        #expect(ours.samples.map(\.offset) == theirs.samples.map(\.offset))
        #expect(ours.codec == theirs.codec && !ours.codec.isEmpty)
        #expect(ours.timescale == theirs.timescale)
        Self.compareTimes(ours, theirs)
    }

    @Test("audio samples have libavformat's sizes, durations and configuration, and decode times without gaps")
    func audio() throws {
        let (ours, theirs) = try Self.both(
            .audio, source: "sine=r=48000:d=5", encoder: ["-c:a", "aac", "-ac", "2", "-b:a", "64k"])
        // The encoder's priming is before the room's origin and is omitted here.
        let priming = theirs.samples.count - ours.samples.count
        #expect((0...2).contains(priming) && ours.samples.count > 200)
        #expect(ours.samples.map(\.size) == theirs.samples.dropFirst(priming).map(\.size))
        #expect(ours.samples.dropLast().allSatisfy { $0.duration == 1_024 && $0.isSync })
        #expect(theirs.samples.dropFirst(priming).dropLast().allSatisfy { $0.duration == 1_024 && $0.isSync })
        // Descriptor 5 has the AudioSpecificConfig; the lengths around it may have other forms.
        #expect(Self.configuration(ours.codec) == [0x11, 0x90])
        #expect(Self.configuration(theirs.codec).prefix(2) == [0x11, 0x90])
        let steps = ours.times.sorted { $0.key < $1.key }
        for (one, other) in zip(steps, steps.dropFirst()) {
            #expect(other.value - one.value == UInt64(other.key - one.key) * 1_024)
        }
    }

    /// Where both start a fragment, the distance from the first sample is the same.
    private static func compareTimes(_ ours: Reading, _ theirs: Reading) {
        let shared = Set(ours.times.keys).intersection(theirs.times.keys)
        #expect(shared.count >= 5, "fragments start with each IDR frame in both")
        for index in shared {
            let one = Int64(bitPattern: ours.times[index] ?? 0) - Int64(bitPattern: ours.times[0] ?? 0)
            let other = Int64(bitPattern: theirs.times[index] ?? 0) - Int64(bitPattern: theirs.times[0] ?? 0)
            #expect(one == other, "sample \(index)")
        }
    }

    private static func configuration(_ esds: [UInt8]) -> [UInt8] {
        guard let tag = esds.indices.dropFirst(20).first(where: { esds[$0] == 5 }) else { return [] }
        var place = tag + 1
        var length = 0
        while place < esds.count {
            length = length << 7 | Int(esds[place] & 0x7F)
            place += 1
            if esds[place - 1] & 0x80 == 0 { break }
        }
        return Array(esds[place..<min(place + length, esds.count)])
    }
}
