import MediaTypes
import PipelineSpec
import CapacityPlan
import Testing

@Suite("Cost coefficients of a machine, and their file")
struct CostCoefficientsTests {
    @Test("cost coefficients written as JSON are read back equal")
    func roundTrip() throws {
        var coefficients = CostCoefficients.reference
        coefficients.machine = "a \"machine\""
        coefficients.decodePerMegapixel = 7
        coefficients.encodePerMegapixel[.slow] = 11
        #expect(try CostCoefficients(json: Array(coefficients.json.utf8)) == coefficients)
    }

    @Test("the reference coefficients have a cost for every x264 preset")
    func presets() {
        for preset in VideoEncoding.Preset.allCases {
            #expect((CostCoefficients.reference.encodePerMegapixel[preset] ?? 0) > 0, "\(preset.rawValue)")
        }
    }

    @Test(
        "an invalid cost coefficients file is refused; the error names the key and suggests --calibrate",
        arguments: [
            ("", "file"), ("{}", "version"), ("[]", "version"), (#"{"version": 2, "machine": "m"}"#, "version"),
            (#"{"version": 1}"#, "machine"), (#"{"version": 1, "machine": "m\nspec: {}"}"#, "machine"),
            (#"{"version": 1, "machine": "m"}"#, "decodePerMegapixel"),
            (CostCoefficients.reference.json.replacing("1800000,", with: "-1,"), "decodePerMegapixel"),
            (CostCoefficients.reference.json.replacing("1800000,", with: "\"x\","), "decodePerMegapixel"),
            (CostCoefficients.reference.json.replacing("1800000,", with: "1e99,"), "decodePerMegapixel"),
            (
                CostCoefficients.reference.json.replacing("10400000", with: "100000000001"),
                "encodePerMegapixel.veryfast"
            ),
        ] as [(String, String)])
    func refused(text: String, place: String) {
        #expect(text != CostCoefficients.reference.json)
        let error = #expect(throws: MediaError.self) { try CostCoefficients(json: Array(text.utf8)) }
        #expect(error?.place == place && error?.fix.contains("--calibrate") == true, "\(String(describing: error))")
    }

    @Test("encoding with two (adaptive) B-frames costs a fixed factor of encoding with one")
    func bFrames() {
        var video = VideoEncoding(bitrate: 1_000_000)
        video.bFrames = 1
        let one = CostCoefficients.reference.encodePerMegapixel(video)
        video.bFrames = 2
        #expect(CostCoefficients.reference.encodePerMegapixel(video) == one * CostCoefficients.adaptiveBFrames / 100)
    }
}
