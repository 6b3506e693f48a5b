import Foundation
import MediaTypes
import Testing

import Events

@Suite("Moderation webhook: stills and answers")
struct ModerationAnswerTests {
    private static func answer(_ text: String) -> ModerationAnswer? { ModerationAnswer(Array(text.utf8)) }

    @Test("a moderation answer names none, one or several actions, which are put into a fixed order")
    func actions() {
        #expect(Self.answer("")?.actions == [] && Self.answer(" \r\n")?.actions == [])
        #expect(Self.answer("{}")?.actions == [] && Self.answer(#"{"action":"none","score":0.1}"#)?.actions == [])
        let cover = Self.answer(#"{"action":"cover","reason":"nudity"}"#)
        #expect(cover?.actions == [.cover] && cover?.reason == "nudity" && cover?.refuseSeconds == 60)
        let both = Self.answer(#"{"action":["kick","cover","cover"],"refuseSeconds":0}"#)
        #expect(both?.actions == [.cover, .kick] && both?.refuseSeconds == 0)
    }

    @Test(
        "a moderation answer that is no object, has an invalid action or refuseSeconds, or is longer than 16 KiB is refused"
    )
    func refused() {
        for text in [
            "ok", "[]", "{", #"{"action":"ban"}"#, #"{"action":1}"#, #"{"action":["cover",null]}"#,
            #"{"action":"kick","refuseSeconds":-1}"#, #"{"action":"kick","refuseSeconds":86401}"#,
            #"{"action":"kick","refuseSeconds":"60"}"#,
        ] {
            #expect(Self.answer(text) == nil, "\(text)")
        }
        #expect(Self.answer("{}" + String(repeating: " ", count: ModerationAnswer.largest)) == nil)
    }

    @Test("a moderation answer's reason has at most 200 characters, in one line, and no control characters")
    func reason() {
        let long = Self.answer(#"{"action":"mute","reason":"a\nb\#(String(repeating: "c", count: 300))"}"#)
        #expect(long?.reason.count == 200 && long?.reason.hasPrefix("abc") == true)
        #expect(Self.answer(#"{"action":"mute","reason":"\u001b[31ma\u2028é"}"#)?.reason == "[31maé")
    }

    @Test("a still for the moderation webhook is a CloudEvent with the JPEG file in base64; its id has no full stop")
    func still() throws {
        let event = SourceStillEvent(
            room: "a.b", incarnation: 2, origin: 1_700, sequence: 7, source: SourceID(uid: "anna", streamType: .sub),
            time: "2026-01-31T20:00:04.206Z", programTimeMs: 4_200, ageMs: 35, jpeg: [0xFF, 0xD8])
        #expect(event.id == "a_b-2-1700-still-7")
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(event.body)) as? [String: Any])
        #expect(json["specversion"] as? String == "1.0" && json["type"] as? String == SourceStillEvent.type)
        #expect(json["subject"] as? String == "sources/anna/sub" && json["datacontenttype"] as? String == "image/jpeg")
        #expect(json["uid"] as? String == "anna" && json["streamtype"] as? String == "sub")
        #expect(json["agems"] as? Int == 35 && json["programtimems"] as? String == "4200")
        #expect(json["data_base64"] as? String == "/9g=" && json["sequence"] as? String == "000000000007")
    }
}
