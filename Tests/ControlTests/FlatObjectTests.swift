import Testing

import Control

@Suite("FlatObject: JSON request bodies without nested values, RFC 8259")
struct FlatObjectTests {
    private static func read(_ text: String) throws(ControlFailure) -> FlatObject {
        try FlatObject(body: Array(text.utf8), keys: ["scene", "volume", "audioPush"])
    }

    @Test("FlatObject reads strings with escapes, integers and booleans")
    func values() throws {
        let object = try Self.read(
            " {\n\t\"scene\" : \"p\\u006B \\\"\\\\\\/\\b\\f\\n\\r\\t\\uD83D\\uDE00é\" , \"volume\":-0, \"audioPush\":false}\r\n "
        )
        #expect(try object.string("scene") == "pk \"\\/\u{8}\u{c}\n\r\t😀é")
        #expect(try object.integer("volume", in: 0...200) == 0)
        #expect(try object.bool("audioPush") == false)
    }

    @Test("FlatObject reads an empty body and `{}` as no members", arguments: ["", "{}", " { } "])
    func empty(text: String) throws {
        #expect(try Self.read(text).string("scene") == nil)
    }

    @Test(
        "FlatObject's error for a body that is not a JSON object of known, flat and unique members says what is wrong",
        arguments: [
            ("{", "expected a key"), ("[]", "not a JSON object"), ("null", "not a JSON object"),
            ("{\"scene\"}", "colon"), ("{\"scene\":}", "value"), ("{\"scene\":\"a\",}", "expected a key"),
            ("{,}", "expected a key"), ("{\"scene\":\"a\" \"volume\":1}", "comma"),
            ("{\"scene\":\"a\"} x", "follows the end"), ("{\"scene\":\"a\"}{}", "follows the end"),
            ("{\"scene\":\"a\",\"scene\":\"b\"}", "duplicate key"), ("{\"scene\":\"a", "not terminated"),
            ("{\"scene\":\"\\ud800\"}", "is not a character"), ("{\"volume\":01}", "not a JSON number"),
            ("{\"volume\":tru}", "expected a JSON value"), ("{\"scene\":{}}", "is an object"),
            ("{\"scene\":[]}", "is an array"), ("{\"scene\":[[[[", "the text ends"),
            ("{\"scen\":1}", "unknown key \"scen\""), ("{}\0", "follows the end"),
        ])
    func mistakes(text: String, what: String) {
        let failure = #expect(throws: ControlFailure.self) { try Self.read(text) }
        #expect(failure?.what.contains(what) == true, "\(failure?.what ?? "-")")
        #expect(failure?.code == "invalidFormat")
    }

    @Test("FlatObject refuses a value of the wrong type or range, and the error names its type or what to use")
    func kinds() throws {
        let object = try Self.read("{\"scene\":1,\"volume\":201,\"audioPush\":\"yes\"}")
        #expect(#expect(throws: ControlFailure.self) { try object.string("scene") }?.fix == "use a string")
        #expect(
            #expect(throws: ControlFailure.self) { try object.bool("audioPush") }?.what.contains("a string") == true)
        let failure = #expect(throws: ControlFailure.self) { try object.integer("volume", in: 0...200) }
        #expect(failure?.fix == "use a whole number from 0 to 200")
        #expect(failure?.status == 422)
        for text in ["{\"volume\":1.5}", "{\"volume\":99999999999999999999}", "{\"volume\":null}"] {
            #expect(throws: ControlFailure.self) { try Self.read(text).integer("volume", in: 0...200) }
        }
    }

    @Test("FlatObject's error for invalid JSON has the line and column of the mistake")
    func position() {
        let failure = #expect(throws: ControlFailure.self) { try Self.read("{\n  \"scene\" 5}") }
        #expect(failure?.what == "expected a colon, found 5 at line 2, column 11")
    }

    @Test("FlatObject refuses every truncated body, and does not trap if one byte is changed")
    func hostileBytes() throws {
        let body = Array(#"{"scene":"p\u006b\ud83d\ude00","volume":-12.5e+3,"audioPush":true}"#.utf8)
        for count in 1..<body.count {
            #expect(throws: ControlFailure.self) {
                try FlatObject(body: Array(body[..<count]), keys: ["scene", "volume", "audioPush"])
            }
        }
        for index in body.indices {
            for byte in [0x00, 0x22, 0x2d, 0x5c, 0x7b, 0x7d, 0xff] as [UInt8] {
                var changed = body
                changed[index] = byte
                _ = try? FlatObject(body: changed, keys: ["scene", "volume", "audioPush"])
            }
        }
    }
}
