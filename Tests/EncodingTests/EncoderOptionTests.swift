import Encoding
import Foundation
import LibAV
import MediaTypes
import PipelineSpec
import Testing

@Suite("The options that libx264 gets from each preset")
struct EncoderOptionTests {
    /// The options that libx264 writes into the first frame of a stream: those that it really uses.
    private static func options(_ preset: VideoEncoding.Preset) throws -> String {
        var settings = VideoEncoderSettings(
            width: 1_280, height: 720, fps: 30, preset: preset.x264Name, profile: "high", bitrate: 2_500_000,
            maxBitrate: 2_500_000, bufferSize: 2_500_000, bFrames: preset.defaultBFrames,
            lookaheadFrames: preset.defaultLookahead, threads: 1)
        settings.x264Parameters = preset.x264Parameters
        let encoder = try VideoEncoder.open(settings, place: "test")
        let picture = try PictureCanvas.open(width: 1_280, height: 720, fill: .black).finish()
        var bytes: [UInt8] = []
        try encoder.encode(picture, pts: 0, forceIDR: true) { bytes += $0.memory.bytes }
        try encoder.finish { bytes += $0.memory.bytes }
        let start = try #require(bytes.firstRange(of: Array("options: ".utf8))?.upperBound)
        return String(decoding: bytes[start...].prefix { (0x20...0x7e).contains($0) }, as: UTF8.self)
    }

    /// Changed options are accepted with `UPDATE_GOLDEN=1`; benchmarks/presets.json and the guides then need new
    /// measurements.
    @Test("libx264's options of every preset are those of the golden file")
    func golden() throws {
        let text = try VideoEncoding.Preset.allCases.map { "\($0.rawValue): \(try Self.options($0))\n" }.joined()
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "Golden/x264-options.txt")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: file)
            return
        }
        let expected = try String(decoding: Data(contentsOf: file), as: UTF8.self)
        if expected != text { try Data(text.utf8).write(to: file.appendingPathExtension("actual")) }
        let (old, new) = (expected.split(separator: "\n"), text.split(separator: "\n"))
        let changed = zip(old, new).filter { $0 != $1 }.map { "\($0)\nis\n\($1)" }
        #expect(expected == text, "\(changed.joined(separator: "\n"))")
    }
}
