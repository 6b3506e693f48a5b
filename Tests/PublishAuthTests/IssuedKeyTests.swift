import Foundation
import MediaTypes
import PublishAuth
import RTMP
import TestSupport
import Testing

@Suite("Issued stream keys, and the test vectors and programs of examples/keys")
struct IssuedKeyTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("examples/keys")

    /// The entries of a list of `vectors.json`.
    private static func vectors(_ list: String) throws -> [JSONNode] {
        let bytes = try Data(contentsOf: self.folder.appendingPathComponent("vectors.json"))
        let entries = try #require(JSONParser.parse(Array(bytes)).root?[key: list]?.array)
        try #require(entries.count >= 9)
        return entries
    }

    /// The fields that all entries have.
    private struct Vector {
        let title: String
        let secret: String
        let room: String
        let streamKey: String

        init(_ entry: JSONNode) throws {
            self.title = try #require(entry[key: "title"]?.string)
            self.secret = try #require(entry[key: "secret"]?.string)
            self.room = try #require(entry[key: "room"]?.string)
            self.streamKey = try #require(entry[key: "streamKey"]?.string)
        }

        /// The verdict of a room's check of the key.
        func verdict(at now: Int64) throws -> SignedKeyCheck.Verdict {
            let address = try #require(StreamAddress(app: "live", streamName: self.streamKey))
            let name = try #require(address.key(app: "live"))
            return SignedKeyCheck(form: .hmac, secrets: [self.secret], room: self.room, app: "live")
                .verdict(on: address, name: name, now: now)
        }
    }

    @Test("the keys of the test vectors are issued, and a room accepts each until 30 s after its expiry time")
    func issued() throws {
        for each in try Self.vectors("issued") {
            let vector = try Vector(each)
            let expiry = try #require(each[key: "expires"]?.integer)
            let nonce = try #require(each[key: "nonce"]?.string)
            let source = try #require(each[key: "source"]?.string)
            let key = IssuedKey(
                secret: vector.secret, room: vector.room, source: source, expiry: expiry, nonce: nonce)
            #expect(key?.streamKey == vector.streamKey, "\(vector.title)")
            for (now, isValid) in [(expiry, true), (expiry + 30, true), (expiry + 31, false)] {
                let expected: SignedKeyCheck.Verdict = isValid ? .valid(nonce: nonce, expiry: expiry) : .expired
                let verdict = try vector.verdict(at: now)
                #expect(verdict == expected, "\(vector.title)")
            }
        }
    }

    @Test("a room refuses the keys that the test vectors list as refused, with the listed verdict")
    func refused() throws {
        let verdicts: [String: SignedKeyCheck.Verdict] = ["wrong": .wrong, "absent": .absent, "expired": .expired]
        for each in try Self.vectors("refused") {
            let vector = try Vector(each)
            let expected = try #require(verdicts[each[key: "verdict"]?.string ?? ""])
            let verdict = try vector.verdict(at: #require(each[key: "now"]?.integer))
            #expect(verdict == expected, "\(vector.title)")
        }
    }

    @Test("an issued key is accepted for its source, and its SRT stream id has the same name and query")
    func source() throws {
        let guest = SourceID(uid: "이용자 2", streamType: .sub)
        let key = try #require(
            IssuedKey(secret: "first secret", room: "r", source: guest.description, expiry: 1_800_000_000, nonce: "n"))
        var admission = Admission(app: "live", bindings: [])
        admission.signed = SignedKeyCheck(form: .hmac, secrets: ["first secret"], room: "r", app: "live")
        admission.signable = [guest]
        let address = try #require(StreamAddress(app: "live", streamName: key.streamKey))
        let answer = admission.answer(to: address, now: 1_700_000_000)
        #expect(answer == .source(guest))
        let caller = SRTStreamID.read(key.streamID(app: "live"), app: "live")
        guard case .publish(let stream) = caller else {
            Issue.record("\(caller)")
            return
        }
        #expect(stream.key(app: "live") == address.key(app: "live") && stream.query == address.query)
    }

    @Test(
        "no key is issued that no room could accept",
        arguments: [
            ("", "1001", "n", 1), ("s", "", "n", 1), ("s", "a//b", "n", 1), ("s", "_definst_", "n", 1),
            ("s", "1001", "", 1), ("s", "1001", "a|b", 1), ("s", "1001", "a&b", 1),
            ("s", "1001", String(repeating: "n", count: 65), 1), ("s", "1001", "n", -1),
            ("s", "1001", "n", IssuedKey.latestExpiry + 1), ("s", String(repeating: "é", count: 128), "n", 1),
        ] as [(String, String, String, Int64)])
    func impossible(secret: String, source: String, nonce: String, expiry: Int64) {
        #expect(IssuedKey(secret: secret, room: "r", source: source, expiry: expiry, nonce: nonce) == nil)
        #expect(IssuedKey(secret: "s", room: "r", source: "1001", expiry: IssuedKey.latestExpiry, nonce: "n") != nil)
    }

    @Test("100 generated nonces of stream keys are all different, of 22 characters, and valid")
    func nonces() {
        var random = SystemRandomNumberGenerator()
        let nonces = Set((0..<100).map { _ in IssuedKey.makeNonce(using: &random) })
        #expect(nonces.count == 100 && nonces.allSatisfy { $0.utf8.count == 22 && IssuedKey.isNonce($0) })
    }

    @Test(
        "the output for an issued key has server, stream key, URL and SRT stream id, and says if it is for one publication"
    )
    func output() throws {
        let key = try #require(
            IssuedKey(secret: "first secret", room: "88231", source: "1001", expiry: 1_800_000_000, nonce: "n1"))
        let query = "1001?e=1800000000&n=n1&s=dyHoSYgbBJnqChPubkwCvSzsJERGFIusRg1e7sqiucI"
        let server = "rtmp://live.example.com/live"
        #expect(
            key.text(server: server, app: "live", isSingleUse: true) == """
                server      rtmp://live.example.com/live
                stream key  \(query)
                URL         rtmp://live.example.com/live/\(query)
                SRT         streamid=live/\(query)
                valid       until 2027-01-15T08:00:00.000Z, for one publication: an encoder that reconnects needs a new key

                """)
        let json = try #require(
            JSONParser.parse(Array(key.json(server: server, app: "live", isSingleUse: false).text.utf8)).root)
        #expect(json[key: "url"]?.string == "\(server)/\(query)" && json[key: "expires"]?.integer == 1_800_000_000)
        #expect(json[key: "singleUse"]?.boolean == false && json[key: "srtStreamId"]?.string == "live/\(query)")
        #expect(!key.json(server: server, app: "live", isSingleUse: nil).text.contains("singleUse"))
    }

    // MARK: The examples

    private static func run(
        _ program: String, _ arguments: [String], signing: String? = nil
    ) throws -> (code: Int32, output: String) {
        let process = Process()
        if let signing {
            process.environment = ProcessInfo.processInfo.environment.merging(["SIGNING": signing]) { $1 }
        }
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }

    /// A copy of the vectors in which one key is wrong, and the example under another name.
    private static func scratch(_ example: String, as name: String) throws -> (
        directory: URL, program: String, wrong: String
    ) {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let program = directory.appendingPathComponent(name)
        try FileManager.default.copyItem(at: self.folder.appendingPathComponent(example), to: program)
        let text = try String(contentsOf: self.folder.appendingPathComponent("vectors.json"), encoding: .utf8)
        let wrong = directory.appendingPathComponent("wrong.json")
        try Data(text.replacing("s=dyHo", with: "s=dyHp").utf8).write(to: wrong)
        return (directory, program.path, wrong.path)
    }

    @Test(
        "the example programs issue the keys of the vectors, and exit with 1 if a vector differs",
        arguments: [("python3", "signed_key.py", "signed_key.py"), ("node", "signed-key.ts", "signed-key.mjs")])
    func examples(tool: String, example: String, name: String) throws {
        let interpreter = try TestTool.require(tool)
        let (directory, program, wrong) = try Self.scratch(example, as: name)
        defer { try? FileManager.default.removeItem(at: directory) }
        let count = try Self.vectors("issued").count
        let vectors = Self.folder.appendingPathComponent("vectors.json").path
        let good = try Self.run(interpreter, [program, "--vectors", vectors])
        #expect(good.code == 0 && good.output == "\(count) of \(count) vectors agree\n", "\(good)")
        let bad = try Self.run(interpreter, [program, "--vectors", wrong])
        #expect(bad.code == 1 && bad.output.contains("\(count - 1) of \(count) vectors agree"), "\(bad)")
        // Several lines are several secrets, and the first one signs.
        let made = try Self.run(interpreter, [program, "88231", "a b", "60"], signing: "first secret\nsecond\n")
        let key = made.output.split(separator: "\n").first.map(String.init) ?? ""
        let values = key.split(separator: "?").last?.split(separator: "&").map { $0.drop { $0 != "=" }.dropFirst() }
        let (expiry, nonce) = (values?.first.flatMap { Int64($0) }, values?.dropFirst().first.map(String.init))
        let expected = IssuedKey(
            secret: "first secret", room: "88231", source: "a b", expiry: try #require(expiry, "\(made)"),
            nonce: try #require(nonce))
        #expect(made.code == 0 && expected?.streamKey == key && key.hasPrefix("a%20b?e="), "\(made)")
    }
}
