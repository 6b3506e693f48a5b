import Foundation
import HLS
import Testing

@Suite("Program date: rfc8216bis §4.4.4.6")
struct ProgramDateTests {
    @Test(
        "known times are written as ISO 8601 with milliseconds",
        arguments: [
            (Int64(0), "1970-01-01T00:00:00.000Z"), (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999_000_000, "2024-02-29T23:59:59.999Z"), (-1_000_000, "1969-12-31T23:59:59.999Z"),
            (1_709_251_199_999_600_000, "2024-03-01T00:00:00.000Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000Z"),
        ])
    func knownInstants(nanoseconds: Int64, text: String) {
        #expect(ProgramDate.format(nanoseconds) == text)
    }

    @Test("written dates agree with Foundation's over almost 300 years")
    func agreesWithFoundation() {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime]
        for step in 0..<2_000 {
            let seconds = Int64(step) * 4_676_543 - 2_000_000_000
            let expected = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(ProgramDate.format(seconds * 1_000_000_000) == expected.replacing("Z", with: ".000Z"))
        }
    }
}
