import Foundation
import MediaTypes
import Push
import Testing

@Suite("The error codes in the guide")
struct ErrorCodeGuideTests {
    private static let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/tandem/Documentation.docc/ControlAPI.md")

    @Test("the guide lists every error code with its number, in the code's order, and no other")
    func table() throws {
        let text = try String(contentsOf: Self.guide, encoding: .utf8)
        let rows = text.matches(of: /\n\| `([a-zA-Z]+)` \| ([0-9]+) \| [^|]+ \| [^|]+ \|/)
        let told = rows.map { "\($0.output.1) \($0.output.2)" }
        #expect(told == ErrorCode.allCases.map { "\($0.rawValue) \($0.number)" })
    }

    @Test("each reason for which an RTMP output fails is an error code", arguments: PushFailure.allCases)
    func outputs(failure: PushFailure) { #expect(ErrorCode(rawValue: failure.rawValue) != nil) }

    @Test("error codes taken from NetEase's API have its numbers, all others 0")
    func numbers() {
        let field = [
            "superseded": 1301, "invalidFormat": 1400, "roomExited": 1401, "limitExceeded": 1402, "duplicateId": 1403,
            "notFound": 1404, "requestFailed": 1417, "internal": 1500, "invalidLayout": 1501, "imageError": 1512,
        ]
        for code in ErrorCode.allCases { #expect(code.number == field[code.rawValue] ?? 0, "\(code)") }
    }
}
