import Events
import Foundation
import LibAV
import MediaTypes
import Origin
import PublishAuth
import RTMP
import TestSupport
import Testing

@Suite("Signatures page: its worked examples, in text, Python and TypeScript, and the worker's own code")
struct SignatureTests {
    /// A section of the page: its values, the signed text, the text's bytes in hexadecimal, and the result.
    struct Example {
        let values: [String]
        let text: String
        let bytes: String
        let result: String
        let python: String
        let script: String

        init(_ heading: String) throws {
            let page = try ReferencePage("ReferenceSignatures.md")
            let section = try #require(page.text.components(separatedBy: "\n## \(heading)\n").dropFirst().first)
            self.values = Markdown.rows(of: section.components(separatedBy: "\n## ")[0]).compactMap { row in
                row.last.map { $0.replacing("`", with: "") }
            }
            let blocks = page.blocks("text", below: "## \(heading)").suffix(3).map { $0 }
            try #require(blocks.count == 3)
            (self.text, self.bytes, self.result) = (blocks[0], blocks[1], blocks[2])
            self.python = try #require(page.blocks("python", below: "## \(heading)").first)
            self.script = try #require(page.blocks("ts", below: "## \(heading)").first)
        }
    }

    static let headings = [
        "Signed stream keys", "Stream keys in Tencent's form", "Stream keys in Alibaba's form", "Viewers' URLs",
        "Webhooks", "Keys of encrypted segments",
    ]

    @Test("the signatures page has a section for each of the six signatures and no other")
    func sections() throws {
        let text = try ReferencePage("ReferenceSignatures.md").text
        let found = text.components(separatedBy: "\n## ").dropFirst().map { $0.prefix { $0 != "\n" } }
        #expect(found.map { String($0) } == Self.headings)
    }

    @Test(
        "on the signatures page an example's hexadecimal bytes are its signed text, which contains every value except the secret",
        arguments: headings)
    func bytes(heading: String) throws {
        let example = try Example(heading)
        let bytes = example.bytes.split { $0 == " " || $0 == "\n" }.compactMap { UInt8($0, radix: 16) }
        #expect(bytes == Array(example.text.utf8))
        #expect(example.values.count >= 3)
        for value in example.values.dropFirst() { #expect(example.text.contains(value), "\(value)") }
    }

    @Test("the Python code of each example on the signatures page prints the example's result", arguments: headings)
    func python(heading: String) throws {
        let example = try Example(heading)
        #expect(try Self.output(TestTool.require("python3"), ["-c", example.python]) == example.result)
    }

    @Test("the TypeScript code of each example on the signatures page prints the example's result", arguments: headings)
    func script(heading: String) throws {
        let example = try Example(heading)
        let arguments = ["--input-type=module", "-e", example.script]
        #expect(try Self.output(TestTool.require("node"), arguments) == example.result)
    }

    /// Standard output of a program, without the line break at its end.
    private static func output(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = pipe
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    // MARK: The worker's own code

    private static func isValid(
        _ form: SignedKeyCheck.Form, secret: String, room: String = "", app: String = "live", name: String,
        query: String, now: Int64
    ) throws -> Bool {
        let check = SignedKeyCheck(form: form, secrets: [secret], room: room, app: app)
        let address = try #require(StreamAddress(app: app, streamName: "\(name)?\(query)"))
        if case .valid = check.verdict(on: address, name: name, now: now) { return true }
        return false
    }

    @Test("the worker accepts the signatures page's signed stream key, and refuses it without its last character")
    func streamKey() throws {
        let example = try Example("Signed stream keys")
        let values = example.values
        let (secret, room, name, expiry, nonce) = (values[0], values[1], values[2], values[3], values[4])
        #expect(example.text == "rtmp1|\(room)|\(name)|\(expiry)|\(nonce)")
        for (result, isRight) in [(example.result, true), (String(example.result.dropLast()), false)] {
            let isValid = try Self.isValid(
                .hmac, secret: secret, room: room, name: name, query: "e=\(expiry)&n=\(nonce)&s=\(result)",
                now: try #require(Int64(expiry)) - 60)
            #expect(isValid == isRight)
        }
    }

    @Test("the worker accepts the signatures page's stream key in Tencent's form")
    func tencent() throws {
        let example = try Example("Stream keys in Tencent's form")
        let (secret, name, expiry) = (example.values[0], example.values[1], example.values[2])
        #expect(example.text == secret + name + expiry)
        let isValid = try Self.isValid(
            .tencent, secret: secret, name: name, query: "txSecret=\(example.result)&txTime=\(expiry)",
            now: try #require(Int64(expiry, radix: 16)) - 60)
        #expect(isValid)
    }

    @Test("the worker accepts the signatures page's stream key in Alibaba's form")
    func alibaba() throws {
        let example = try Example("Stream keys in Alibaba's form")
        let values = example.values
        let (secret, app, name, stamp) = (values[0], values[1], values[2], values[3...].joined(separator: "-"))
        #expect(example.text == "/\(app)/\(name)-\(stamp)-\(secret)")
        let isValid = try Self.isValid(
            .alibaba, secret: secret, app: app, name: name, query: "auth_key=\(stamp)-\(example.result)",
            now: try #require(Int64(values[3])) + 60)
        #expect(isValid)
    }

    @Test("the worker accepts the signatures page's signed viewers' URL and computes the same signature")
    func viewers() throws {
        let example = try Example("Viewers' URLs")
        let (secret, room, scope, expiry) = (example.values[0], example.values[1], example.values[2], example.values[3])
        #expect(example.text == "tandem-playback\n\(room)\n\(scope)\n\(expiry)")
        let now = try #require(Int64(expiry)) - 60
        let gate = SignedURLVerifier(room: room, secrets: [secret]) { now }
        #expect(gate.query(scope: scope, seconds: 60) == "exp=\(expiry)&sig=\(example.result)")
        let query = [(name: "exp", value: expiry), (name: "sig", value: example.result)]
        #expect(gate.verdict(path: "/index.m3u8", query: query) == .open)
    }

    @Test("the worker computes the signatures page's webhook signature")
    func webhook() throws {
        let example = try Example("Webhooks")
        let (secret, id, time, body) = (example.values[0], example.values[1], example.values[2], example.values[3])
        #expect(example.text == "\(id).\(time).\(body)")
        let signature = WebhookSignature(secrets: [secret])
            .field(id: id, timestamp: try #require(Int64(time)), body: Array(body.utf8))
        #expect(signature == example.result)
    }

    @Test("the signatures page's media key is the first 16 bytes of the HMAC-SHA256 over its five lines")
    func mediaKey() throws {
        let example = try Example("Keys of encrypted segments")
        let (secret, room, track, period) = (example.values[0], example.values[1], example.values[2], example.values[3])
        #expect(example.text == "tandem-aes-128\n\(room)\nkey\n\(track)\n\(period)")
        let code = MessageAuthentication.hmacSHA256(key: Array(secret.utf8), message: Array(example.text.utf8))
        #expect(Hexadecimal.text(Array(code.prefix(16))) == example.result)
        // Computed with Python's hmac module for the values of the page.
        #expect([secret, room, track, period] == ["s3cret", "88231", "720p", "0"])
        #expect(example.result == "e4567bbfc175dd5713e6ec08b0f7045a")
    }
}
