import Foundation
import Testing

extension Unhurried.Access {
    @Suite("Commands for platforms: sign-key, gc, plan --rooms")
    struct PlatformCommandTests {
        private static let auth =
            #""ingest": { "rtmp": { "listen": "127.0.0.1:1940" }, "auth": { "type": "hmac", "secretEnv": "SIGNING", "singleUse": true } },"#

        private static func room(_ members: String = auth) -> String {
            """
            { "room": { "roomId": "88231" }, "sources": [{ "uid": "1001", "streamKey": "k" }], \(members)
              "scenes": [{ "sceneId": "s", "layout": "solo", "uids": ["1001"] }], "outputs": [{ "path": "out" }] }
            """
        }

        @Test(
            "tandem sign-key signs with the pipeline's first secret or a secret file, and warns if the pipeline does not have the source"
        )
        func signKey() throws {
            let work = try WorkDirectory()
            let file = try work.write(Self.room(), to: "room.json")
            let arguments = ["sign-key", file, "1001", "--expires", "1800000000", "--nonce", "n1"]
            let signed = try Command.run(
                EndToEnd.binary, arguments, environment: ["SIGNING": "first secret\nsecond"])
            let key = "1001?e=1800000000&n=n1&s=dyHoSYgbBJnqChPubkwCvSzsJERGFIusRg1e7sqiucI"
            #expect(signed.code == 0 && signed.output.contains("stream key  \(key)\n"), "\(signed)")
            #expect(signed.output.contains("server      rtmp://127.0.0.1:1940/live\n"))
            #expect(signed.output.contains("for one publication"))
            let secret = try work.write("first secret\n", to: "secret")
            let other = [
                "sign-key", "--room", "88231", "--secret-file", secret, "--json", "--server", "rtmps://a/live", "1001",
            ]
            let plain = try Command.tandem(other)
            let json = try #require(try JSONSerialization.jsonObject(with: Data(plain.output.utf8)) as? [String: Any])
            #expect((json["url"] as? String)?.hasPrefix("rtmps://a/live/1001?e=") == true && json["singleUse"] == nil)
            let again = try Command.tandem(other)
            #expect(again.output != plain.output, "each key has a nonce of its own")
            let unknown = try Command.run(
                EndToEnd.binary, ["sign-key", file, "1002"], environment: ["SIGNING": "first secret"])
            #expect(unknown.code == 0 && unknown.errors.contains("has no source \"1002\""), "\(unknown)")
            #expect(unknown.errors.contains(" that publishers connect to; it has 1001. The room "))
            // A room without sources that publishers connect to.
            let ingest = Self.auth.replacing(
                #""auth""#, with: #""pull": { "allowedHosts": ["a.example"] }, "auth""#)
            let pull = Self.room(ingest).replacing(
                #""streamKey": "k""#, with: #""type": "rtmp-pull", "url": "rtmp://a.example/live/k""#)
            let pulled = try Command.run(
                EndToEnd.binary, ["sign-key", try work.write(pull, to: "pull.json"), "1002"],
                environment: ["SIGNING": "first secret"])
            #expect(pulled.code == 0 && pulled.errors.contains(" that publishers connect to. The room "), "\(pulled)")
        }

        @Test(
            "tandem sign-key exits with 64, 65 or 66 and names the cause for unusable options, pipelines and secrets",
            arguments: [
                (["1001"], room(""), 64, "add ingest.auth"), (["1001", "--nonce", "a|b"], room(), 64, "--nonce"),
                (["1001", "--expires-in", "0"], room(), 64, "--expires-in"), ([], room(), 64, "name the source"),
                (["1001", "--server", "http://a/live"], room(), 64, "--server"),
                (["1001"], room(), 66, "SIGNING is not set"),
                (["1001", "--secret-file", "/nowhere"], room(), 66, "/nowhere"), (["1001"], "{}", 65, "cannot be used"),
            ] as [([String], String, Int32, String)])
        func refused(arguments: [String], pipeline: String, code: Int32, words: String) throws {
            let result = try Command.tandem(["sign-key", "-"] + arguments, input: pipeline)
            #expect(result.code == code && result.errors.contains(words), "\(result)")
        }

        @Test(
            "tandem gc lists ended rooms' output older than --older-than; only --delete removes it; each kind of error has an exit code"
        )
        func retention() throws {
            let work = try WorkDirectory()
            let old = Date(timeIntervalSinceNow: -3_600)
            func put(_ path: String, _ text: String) throws {
                try FileManager.default.createDirectory(
                    atPath: URL(fileURLWithPath: work.path(path)).deletingLastPathComponent().path,
                    withIntermediateDirectories: true)
                try Data(text.utf8).write(to: URL(fileURLWithPath: work.path(path)))
                try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: work.path(path))
            }
            for (room, ended) in [("a", true), ("b", false)] {
                let state =
                    #"{"version": 1, "origin": null, "incarnation": 1, "ended": \#(ended), "multivariant": "index.m3u8", "#
                    + #""grid": {"fps": 30, "gopFrames": 60, "segmentGops": 1, "partFrames": 10, "sampleRate": 48000}, "#
                    + #""nextMediaSequence": 0, "nextFrame": 0, "tracks": [{"name": "720p", "discontinuitySequence": 0, "#
                    + #""longestDuration": 0, "maps": [], "entries": [], "retired": []}]}"#
                try put("rooms/\(room)/state.json", state)
                try put("rooms/\(room)/720p-1-0.m4s", "x")
            }
            let root = work.path("rooms")
            let listed = try Command.tandem(["gc", root, "--older-than", "30m"])
            #expect(listed.code == 0 && listed.output.contains("remove  a  live output"), "\(listed)")
            #expect(listed.output.contains("keep    b") && listed.output.contains("nothing was removed"), "\(listed)")
            #expect(FileManager.default.fileExists(atPath: "\(root)/a/state.json"))
            let young = try Command.tandem(["gc", root, "--older-than", "2h", "--delete", "--json"])
            #expect(young.code == 0 && !young.output.contains(#""action":"remove""#), "\(young)")
            let removed = try Command.tandem(["gc", root, "--older-than", "30m", "--delete", "--json"])
            #expect(removed.code == 0 && removed.output.contains(#""removed":2,"problem":null"#), "\(removed)")
            #expect(!FileManager.default.fileExists(atPath: "\(root)/a"))
            #expect(FileManager.default.fileExists(atPath: "\(root)/b/state.json"))
            for (arguments, code, words) in [
                ([], 64, "give a directory"), ([work.path("none")], 66, "cannot be opened"),
                ([root, "--older-than", "1s"], 64, "--older-than"), (["--bucket", "b"], 64, "--bucket together"),
                ([root, "--region", "eu"], 64, "--region is for a bucket"),
                (["--endpoint", "http://127.0.0.1:1", "--bucket", "b", "--access-key-env", "NO_KEY"], 66, "NO_KEY"),
            ] as [([String], Int32, String)] {
                let result = try Command.tandem(["gc"] + arguments)
                #expect(result.code == code && result.errors.contains(words), "\(arguments): \(result)")
            }
            let silent = try Command.run(
                EndToEnd.binary, ["gc", "--endpoint", "http://127.0.0.1:1", "--bucket", "b"],
                environment: ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s"])
            #expect(silent.code == 69 && silent.errors.contains("connection refused"), "\(silent)")
        }

        @Test(
            "tandem plan --rooms prints machines, and prices from a price file; without prices, the total is null; bad options are refused"
        )
        func rooms() throws {
            let file = "\(EndToEnd.root)/pipelines/pk-landscape.json"
            let prices = "\(EndToEnd.root)/examples/plan/prices.example.json"
            let answer = try Command.tandem(["plan", file, "--rooms", "500", "--viewers", "20", "--prices", prices])
            #expect(answer.code == 0 && answer.output.hasPrefix("500 rooms at once, 1 h each\n"), "\(answer)")
            for words in ["example-32", "of them spare", "EUR", "one room for an hour: "] {
                #expect(answer.output.contains(words), "\(words): \(answer.output)")
            }
            let bare = try Command.tandem(["plan", file, "--rooms", "500", "--hours", "0.5", "--json"])
            let json = try #require(try JSONSerialization.jsonObject(with: Data(bare.output.utf8)) as? [String: Any])
            #expect(json["minutes"] as? Int == 30 && (json["price"] as? [String: Any])?["total"] is NSNull)
            for (arguments, code) in [
                (["--rooms", "0"], 64), (["--rooms", "5", "--fleet"], 64), (["--rooms", "5", "--prices", file], 65),
                (["--rooms", "5", "--prices", "/nowhere"], 66), (["--rooms", "5", "--machine-network", "1"], 1),
                (["--rooms", "5", "--prices", prices, "--egress-price", "1"], 64), (["--hours", "2"], 64),
                (["--rooms", "5", "--waiting", "2"], 64), (["--machine-cores", "8"], 64),
                (["--fleet", "--rooms-per-hour", "9091", "--minutes", "132"], 64),
            ] as [([String], Int32)] {
                let result = try Command.tandem(["plan", file] + arguments)
                #expect(result.code == code && !result.errors.isEmpty, "\(arguments): \(result)")
            }
        }
    }
}
