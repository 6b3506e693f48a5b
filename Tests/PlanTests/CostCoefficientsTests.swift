import PipelineSpec
import Plan
import Testing

@Suite("What a machine's parts cost, and the file it is kept in")
struct CostCoefficientsTests {
    @Test("what is written is read again")
    func roundTrip() throws {
        var coefficients = CostCoefficients.reference
        coefficients.machine = "a \"machine\""
        coefficients.decodePerMegapixel = 7
        coefficients.encodePerMegapixel[.slow] = 11
        #expect(CostCoefficients(json: Array(coefficients.json.utf8)) == coefficients)
    }

    @Test("every preset has a cost")
    func presets() {
        for preset in VideoEncoding.Preset.allCases {
            #expect((CostCoefficients.reference.encodePerMegapixel[preset] ?? 0) > 0, "\(preset.rawValue)")
        }
    }

    @Test(
        "what is no measurement is refused",
        arguments: [
            "", "{}", "[]", #"{"version": 2, "machine": "m"}"#, #"{"version": 1}"#,
            CostCoefficients.reference.json.replacing("1800000,", with: "-1,"),
            CostCoefficients.reference.json.replacing("1800000,", with: "\"x\","),
            CostCoefficients.reference.json.replacing("10400000", with: "100000000001"),
        ])
    func refused(text: String) {
        #expect(text != CostCoefficients.reference.json)
        #expect(CostCoefficients(json: Array(text.utf8)) == nil)
    }

    @Test("adaptive B-pictures cost more, one between two others does not")
    func bFrames() {
        var video = VideoEncoding(bitrate: 1_000_000)
        video.bFrames = 1
        let one = CostCoefficients.reference.encodePerMegapixel(video)
        video.bFrames = 2
        #expect(CostCoefficients.reference.encodePerMegapixel(video) == one * CostCoefficients.adaptiveBFrames / 100)
    }
}
