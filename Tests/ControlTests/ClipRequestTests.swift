import Control
import Testing

@Suite("POST /v1/clips: the request body")
struct ClipRequestTests {
    private static let dates = #""from":"2026-11-20T22:12:18.136Z","to":"2026-11-20T22:12:28Z""#

    private static func request(_ members: String) throws -> ClipRequest {
        try ClipRequest(body: Array("{\(members)}".utf8))
    }

    @Test("`from` and `to` must be strings; `name` and `rendition` are optional; other members are refused")
    func members() throws {
        let request = try Self.request(Self.dates + #","name":"goal-1.final","rendition":"720p""#)
        #expect(request.name == "goal-1.final" && request.rendition == "720p" && request.to.hasPrefix("2026"))
        #expect(try Self.request(Self.dates).name == nil)
        for members in ["", #""from":"2026-11-20T22:12:18Z""#, #""from":1,"to":2"#, Self.dates + #","size":1"#] {
            #expect(throws: ControlFailure.self, "\(members)") { try Self.request(members) }
        }
    }

    @Test(
        "a clip name of more than 64 characters, without a letter or digit at its start, or with other than `A-Z a-z 0-9 . _ -` is refused"
    )
    func names() {
        let long = String(repeating: "a", count: 65)
        for name in [
            "", ".", "..", "../a", "a/b", "/etc/passwd", ".hidden", "-rf", "a b", "ä", "a%2fb", "a\\\\b", long,
        ] {
            #expect(throws: ControlFailure.self, "\(name)") {
                try Self.request(Self.dates + #","name":"\#(name)""#)
            }
        }
    }
}
