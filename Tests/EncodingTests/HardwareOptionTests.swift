import Foundation
import LibAV
import PipelineSpec
import Testing

@Suite("The options that hardware encoders get")
struct HardwareOptionTests {
    private static func settings(_ implementation: H264Implementation, lookahead: Int) -> VideoEncoderSettings {
        var settings = VideoEncoderSettings(
            width: 1_280, height: 720, fps: 30, preset: "veryfast", profile: "high", bitrate: 2_500_000,
            maxBitrate: 2_750_000, bufferSize: 2_750_000, bFrames: 1, lookaheadFrames: lookahead, threads: 2)
        settings.implementation = implementation
        return settings
    }

    private static func text(_ settings: VideoEncoderSettings) -> String {
        settings.hardwareOptions.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    }

    @Test("the options of every hardware encoder are those of the golden file")
    func golden() throws {
        var lines: [String] = []
        for implementation in H264Implementation.allCases where implementation.isHardware {
            for lookahead in [0, 5] {
                let settings = Self.settings(implementation, lookahead: lookahead)
                lines.append("\(implementation.rawValue), lookahead \(lookahead): \(Self.text(settings))\n")
            }
        }
        let text = lines.joined()
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "Golden/hardware-options.txt")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: file)
            return
        }
        let expected = try String(decoding: Data(contentsOf: file), as: UTF8.self)
        if expected != text { try Data(text.utf8).write(to: file.appendingPathExtension("actual")) }
        #expect(expected == text)
    }

    @Test(
        "every preset has a place among the presets of NVENC and QSV; the baseline profile is VAAPI's constrained one")
    func presets() {
        for preset in VideoEncoding.Preset.allCases {
            for implementation in [H264Implementation.nvenc, .qsv] {
                var settings = Self.settings(implementation, lookahead: 0)
                settings.preset = preset.x264Name
                #expect(settings.hardwareOptions.contains { $0.name == "preset" })
            }
        }
        var settings = Self.settings(.vaapi, lookahead: 0)
        settings.profile = "baseline"
        #expect(settings.hardwareOptions.contains { $0.name == "profile" && $0.value == "constrained_baseline" })
        #expect(Self.settings(.libx264, lookahead: 0).hardwareOptions.isEmpty)
    }

    @Test("the libx264 encoder on standby has the same rates, no B-frames and other parameter set ids")
    func software() {
        let settings = Self.settings(.vaapi, lookahead: 5)
        let software = settings.software
        #expect(software.implementation == .libx264 && software.rates == settings.rates && software.bFrames == 0)
        #expect(software.parameterSetID != settings.parameterSetID)
        #expect(software.software == software)
    }
}
