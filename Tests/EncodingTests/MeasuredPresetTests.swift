import Foundation
import PipelineSpec
import Testing

@Suite("Encoder presets: the measured presets are the ones that rooms use")
struct MeasuredPresetTests {
    private struct Plan: Decodable {
        struct Entry: Decodable {
            var name: String
            var preset: String
            var params: String
        }
        var reference: Entry
        var sets: [Entry]
    }

    private static func words(_ text: String) -> [String: String] {
        var words: [String: String] = [:]
        for word in text.split(separator: ":") {
            let parts = word.split(separator: "=", maxSplits: 1)
            words[String(parts[0])] = parts.count > 1 ? String(parts[1]) : "1"
        }
        return words
    }

    @Test("benchmarks/presets.json has lowLatency and every tandem preset, with their encoder options")
    func measured() throws {
        let folder = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        let data = try #require(FileManager.default.contents(atPath: "\(folder)/benchmarks/presets.json"))
        let plan = try JSONDecoder().decode(Plan.self, from: data)
        #expect(plan.reference.name == "veryfast" && plan.reference.preset == "veryfast")
        let own = VideoEncoding.Preset.allCases.filter { $0.rawValue.hasPrefix("tandem-") || $0.isLowLatency }
        #expect(Set(plan.sets.map(\.name)) == Set(own.map(\.rawValue)) && own.count == 5)
        for preset in own {
            let entry = try #require(plan.sets.first { $0.name == preset.rawValue })
            #expect(entry.preset == preset.x264Name)
            var told = Self.words(preset.x264Parameters)
            told["bframes"] = "\(preset.defaultBFrames)"
            told["rc-lookahead"] = "\(preset.defaultLookahead)"
            // With at most one B-frame their number needs no search.
            if preset.defaultBFrames <= 1 { told["b-adapt"] = "0" }
            #expect(Self.words(entry.params) == told, "\(preset)")
        }
    }
}
