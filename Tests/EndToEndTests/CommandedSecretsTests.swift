import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Records {
    @Suite("Secrets from files, environment and commands do not leak")
    struct CommandedSecretsTests {
        /// The planted secrets, by their origin.
        private enum Plant: String, CaseIterable {
            // In the pipeline file, in files it names, and in the environment.
            case fileKey, listKey, environmentKey, keyFile, pullKey, pushKey, webhookQuery, webhookSignature
            case hookQuery, controlToken, readToken, uploadToken, encryption
            case bucketSecret, srtPassphrase, srtPullPassphrase, srtPullKey
            // From a refused publisher.
            case wrongKey
            // In commands.
            case putKey, addedKey, addedListKey, refusedKey
            case relayKey, relayQuery, endedRelayKey, addedPushKey, addedPushPath, addedWebhookPath

            /// Longer than the four characters of an outgoing key that replies show.
            var text: String { "5ecret-\(self.rawValue)-7f31c0" }

            /// Outgoing secrets given inline by commands: `commands.json` contains them as long as their relay, output
            /// or webhook exists.
            static let outgoing: Set<Plant> = [
                .relayKey, .relayQuery, .addedPushKey, .addedPushPath, .webhookQuery, .addedWebhookPath,
            ]
        }

        private static let unreachable = "127.0.0.1:9"

        /// The webhook of the pipeline file. Its URL has a secret in its query.
        private static let webhook = #"""
            { "type": "webhook", "url": "http://\#(Self.unreachable)/hook?token=\#(Plant.webhookQuery.text)",
              "secretEnv": "WEBHOOK_SIGNATURE" }
            """#

        /// The sources of the pipeline file.
        ///
        /// - Parameters:
        ///   - keys: Members of the first and of the second source.
        private static func sources(_ keys: (String, String), _ directory: String) -> String {
            let pull =
                "srt://\(Self.unreachable)?streamid=\(Plant.srtPullKey.text)&passphrase=\(Plant.srtPullPassphrase.text)"
            return #"""
                { "uid": "1001", \#(keys.0) }, { "uid": "2002", \#(keys.1) },
                { "uid": "3003", "streamKeyEnv": "GUEST_ENVIRONMENT_KEY" },
                { "uid": "4004", "streamKeyFile": "\#(directory)/key" },
                { "uid": "6006", "type": "rtmp-pull", "url": "rtmp://\#(Self.unreachable)/live/\#(Plant.pullKey.text)" },
                { "uid": "8008", "type": "srt-pull", "url": "\#(pull)" }
                """#
        }

        private static func outputs(_ directory: String, port: String) -> String {
            #"""
            { "type": "http", "outputId": "store", "url": "http://127.0.0.1:\#(port)/88231/", "deletes": false,
              "auth": { "type": "bearer", "secretEnv": "UPLOAD_TOKEN" } },
            { "type": "s3", "outputId": "bucket", "endpoint": "http://127.0.0.1:\#(port)", "bucket": "rooms",
              "pathStyle": true, "deletes": false, "accessKeyEnv": "BUCKET_ID", "secretKeyEnv": "BUCKET_SECRET" },
            { "type": "rtmp", "outputId": "cdn", "url": "rtmp://\#(Self.unreachable)/live/\#(Plant.pushKey.text)" },
            { "type": "hls", "path": "\#(directory)/out", "windowSeconds": 600,
              "encryption": {
                "keyUri": "http://\#(Self.unreachable)/{track}/{period}", "secretEnv": "ENCRYPTION_SECRET" },
              "http": { "listen": "127.0.0.1:0", "lingerSeconds": 0 } }
            """#
        }

        private static func pipeline(_ directory: String, port: String) -> String {
            let keys = (
                #""streamKey": "\#(Plant.fileKey.text)""#, #""streamKeys": ["\#(Plant.listKey.text)"]"#
            )
            return #"""
                {
                  "room": { "roomId": "e2e" },
                  "control": { "listen": "127.0.0.1:0", "tokenEnv": "CONTROL_TOKEN",
                    "readTokenFile": "\#(directory)/read", "events": [\#(Self.webhook)] },
                  "ingest": {
                    "rtmp": { "listen": "127.0.0.1:0" },
                    "srt": { "listen": "127.0.0.1:0", "passphraseEnv": "SRT_PASSPHRASE" }, "pull": { "allowedHosts": ["\#(Self.unreachable)"] },
                    "onPublish": {
                      "url": "http://\#(Self.unreachable)/ask?token=\#(Plant.hookQuery.text)", "timeoutMs": 200,
                      "onFailure": "allow" } },
                  "sources": [\#(Self.sources(keys, directory))],
                  "canvas": { "width": 320, "height": 180 },
                  "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }],
                  "program": { "scene": "solo" },
                  "renditions": \#(Rooms.small),
                  "outputs": [\#(Self.outputs(directory, port: port))]
                }
                """#
        }

        private static let environment = [
            "GUEST_ENVIRONMENT_KEY": Plant.environmentKey.text, "WEBHOOK_SIGNATURE": Plant.webhookSignature.text,
            "CONTROL_TOKEN": Plant.controlToken.text, "UPLOAD_TOKEN": Plant.uploadToken.text,
            "ENCRYPTION_SECRET": Plant.encryption.text, "BUCKET_ID": "room-of-the-test",
            "BUCKET_SECRET": Plant.bucketSecret.text, "SRT_PASSPHRASE": Plant.srtPassphrase.text,
        ]

        // MARK: Searched texts

        /// Everything a room has printed and written, by location.
        private struct Haul {
            private var said: [(place: String, bytes: [UInt8])] = []

            mutating func add(_ place: String, _ bytes: [UInt8]) { self.said.append((place, bytes)) }

            mutating func add(_ place: String, _ reply: HTTPClient.Reply) {
                self.add(place, Array(reply.head.utf8) + reply.bytes)
            }

            /// Every file of a directory.
            mutating func add(directory: String) throws {
                // A temporary file may be gone by now.
                for name in try Files.names(in: directory) {
                    if let bytes = try? Files.bytes("\(directory)/\(name)") {
                        self.add("\((directory as NSString).lastPathComponent)/\(name)", Array(bytes))
                    }
                }
            }

            /// The locations at which a secret was found.
            func places(of plant: Plant) -> Set<String> {
                let secret = Array(plant.text.utf8)
                return Set(self.said.filter { $0.bytes.firstRange(of: secret) != nil }.map(\.place))
            }

            var count: Int { self.said.count }
        }

        /// A request with the token for commands.
        @discardableResult
        private static func ask(
            _ room: RunningRoom, _ method: String, _ path: String, _ body: String = "", status: Int = 200,
            key: String? = nil, into haul: inout Haul
        ) throws -> HTTPClient.Reply {
            var fields = ["Authorization": "Bearer \(Plant.controlToken.text)"]
            fields["Idempotency-Key"] = key
            let reply = try HTTPClient.request(method, room.control, path, body: body, fields: fields)
            #expect(reply.status == status, "\(method) \(path): \(reply.body.prefix(600))")
            haul.add("the answer to \(method) \(path)", reply)
            return reply
        }

        private static let reads = [
            "/", "/v1/room", "/v1/state", "/v1/document", "/v1/scenes", "/v1/sources", "/v1/sources/1001",
            "/v1/sources/2002", "/v1/sources/6006", "/v1/stats?level=debug", "/v1/events", "/v1/alarms?state=all",
            "/v1/logs?tail=1000", "/v1/clips", "/metrics", "/version", "/livez", "/readyz", "/startupz",
            "/openapi.json",
        ]

        private static let hidden = [
            "/commands.json", "/.commands.json.1.tmp", "/.commands.json.2.tmp", "/commands.json.aside",
            "/e2e.commands.json", "/./commands.json", "/x/../commands.json", "/%63ommands.json", "//commands.json",
        ]

        /// Requests everything that operators can read, and every file name at the viewers' listener.
        private static func look(_ room: RunningRoom, _ directory: String, _ haul: inout Haul) throws {
            for path in Self.reads {
                // A health endpoint of a starting room may answer 503.
                let reply = try HTTPClient.request(
                    "GET", room.control, path, fields: ["Authorization": "Bearer \(Plant.readToken.text)"])
                #expect(reply.status == 200 || path.hasSuffix("z"), "\(path): \(reply.status)")
                haul.add("the answer to GET \(path)", reply)
            }
            let denied = try HTTPClient.request("GET", room.control, "/v1/room")
            #expect(denied.status == 401)
            haul.add("the refusal of a token", denied)
            let viewer = try #require(room.viewer)
            var served = 0
            for path in try ["/"] + Files.names(in: "\(directory)/out").map({ "/\($0)" }) {
                let reply = try HTTPClient.request("GET", viewer, path)
                haul.add("what viewers get as \(path)", reply)
                served += reply.status == 200 ? 1 : 0
                #expect(!reply.body.contains("commands.json"), "listed in \(path)")
            }
            #expect(served >= 8, "at least a page, three playlists, and two segments each of video and audio")
            for path in Self.hidden {
                let reply = try HTTPClient.request("GET", viewer, path)
                #expect(reply.status == 404, "\(path): \(reply.status)")
                haul.add("what viewers get as \(path)", reply)
            }
        }

        private static func expectClean(
            _ haul: Haul, _ when: String, allowed: Set<Plant> = [], uploads: String
        ) throws {
            for plant in Plant.allCases {
                let places = haul.places(of: plant).subtracting(
                    allowed.contains(plant) ? ["out/commands.json", "out/commands.json.aside"] : [])
                #expect(places.isEmpty, "\(when), \(plant) is in \(places.sorted())")
            }
            #expect(try !Files.names(in: uploads).contains { $0.contains("commands") })
        }

        /// The secrets in `commands.json`, or in the file that was set aside.
        private static func stored(_ directory: String, _ name: String = "commands.json") throws -> Set<Plant> {
            let path = "\(directory)/out/\(name)"
            let text = try Files.text(path)
            var facts = stat()
            #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
            return Set(Plant.allCases.filter { text.contains($0.text) })
        }

        // MARK: Commands

        /// The document with two new stream keys, another source, two outputs and a webhook.
        private static func patch(_ directory: String, port: String) -> String {
            let keys = (
                #""streamKeys": ["\#(Plant.fileKey.text)", "\#(Plant.putKey.text)"]"#,
                #""streamKeys": ["\#(Plant.listKey.text)", "\#(Plant.addedListKey.text)"]"#
            )
            return #"""
                { "revision": 3,
                  "sources": [\#(Self.sources(keys, directory)), { "uid": "5005", "streamKey": "\#(Plant.addedKey.text)" }],
                  "outputs": [\#(Self.outputs(directory, port: port)),
                    { "type": "rtmp", "outputId": "two", "url": "rtmp://\#(Self.unreachable)/live",
                      "key": "\#(Plant.addedPushKey.text)" },
                    { "type": "rtmp", "outputId": "three",
                      "url": "rtmp://\#(Self.unreachable)/live/\#(Plant.addedPushPath.text)" }],
                  "control": { "events": [\#(Self.webhook),
                    { "type": "webhook", "url": "http://\#(Self.unreachable)/services/\#(Plant.addedWebhookPath.text)" }] } }
                """#
        }

        /// Plants the secrets of commands, and publishes with a key that only a command has set.
        private static func command(
            _ room: RunningRoom, _ patch: String, _ haul: inout Haul
        ) throws -> [Publisher] {
            try Self.ask(room, "PATCH", "/v1/room", patch, key: "patch", into: &haul)
            let publishers = try [Plant.putKey, .wrongKey].map {
                try Publisher.pattern("ANNA", to: "\(room.rtmp)/live/\($0.text)", size: "320x180")
            }
            let refused = #"{"sources":[{"uid":"7007","streamKey":"\#(Plant.refusedKey.text)","no":1}]}"#
            try Self.ask(room, "PATCH", "/v1/room", refused, status: 422, key: "refused", into: &haul)
            for (id, path) in [
                ("r1", Plant.relayKey.text), ("r2", "name?token=\(Plant.relayQuery.text)"),
                ("r3", Plant.endedRelayKey.text),
            ] {
                let body = #"{"url":"rtmp://\#(Self.unreachable)/live/\#(path)"}"#
                // The reply to the third is kept, although its relay is removed below.
                try Self.ask(room, "PUT", "/v1/sources/1001/relays/\(id)", body, key: "relay-\(id)", into: &haul)
            }
            try Self.ask(room, "DELETE", "/v1/sources/1001/relays/r3", into: &haul)
            try room.event("source.live", uid: "1001")
            try room.event("ingest.refused")
            return publishers
        }

        /// Removes the outputs and webhooks of ``patch(_:port:)``, which must remove their secrets.
        private static func removeAdded(
            _ room: RunningRoom, _ directory: String, port: String, _ haul: inout Haul
        ) throws {
            // The end of the room waits for unreachable webhooks, so all are removed.
            try Self.ask(
                room, "PATCH", "/v1/room",
                #"{"outputs":[\#(Self.outputs(directory, port: port))],"control":{"events":[]}}"#, into: &haul)
            #expect(try Self.stored(directory).isEmpty)
        }

        private static func said(_ room: RunningRoom, _ haul: inout Haul) {
            haul.add("the events on standard output", Array(room.child.outputLines.joined(separator: "\n").utf8))
            haul.add("the log on standard error", Array(room.child.errors.utf8))
        }

        @Test(
            "none of 28 secrets is in an upload, event, log line, reply or file, except outgoing ones in commands.json while in use"
        )
        func planted() throws {
            let python = try TestTool.require("python3")
            let work = try WorkDirectory()
            let uploads = work.path("uploads")
            try FileManager.default.createDirectory(atPath: uploads, withIntermediateDirectories: true)
            _ = try work.write("\(Plant.keyFile.text)\n", to: "key")
            _ = try work.write("\(Plant.readToken.text)\n", to: "read")
            let origin = try Child(
                python,
                [
                    "\(EndToEnd.root)/Tests/EndToEndTests/Scripts/origin.py", uploads, work.path("away"),
                    Plant.uploadToken.text,
                ])
            defer { origin.stop(SIGKILL) }
            let port = try #require(origin.line(from: 0, timeout: 10) { _ in true }).line
            let pipeline = Self.pipeline(work.path, port: port)
            let patch = Self.patch(work.path, port: port)
            var haul = Haul()

            let first = try RunningRoom(pipeline, environment: Self.environment)
            let publishers = try Self.command(first, patch, &haul)
            try #require(origin.line(from: 0, timeout: 20) { $0.hasPrefix("playlist 180p.m3u8") } != nil)
            try Self.look(first, work.path, &haul)
            #expect(try first.terminate(SIGKILL) == 137)
            for publisher in publishers { publisher.stop(SIGKILL) }
            Self.said(first, &haul)
            for directory in ["out", "uploads"] { try haul.add(directory: work.path(directory)) }
            try Self.expectClean(haul, "after the kill", allowed: Plant.outgoing, uploads: uploads)
            // The successor needs them. This also shows that the test finds existing secrets.
            #expect(try Self.stored(work.path) == Plant.outgoing)

            let second = try RunningRoom(pipeline, environment: Self.environment)
            #expect(try second.event("room.resumed").line.contains(#""notRestored":[]"#))
            // The kept reply, from commands.json.
            let replayed = try Self.ask(second, "PATCH", "/v1/room", patch, key: "patch", into: &haul)
            #expect(replayed.head.lowercased().contains("idempotent-replayed"), "\(replayed.head)")
            try Self.ask(second, "DELETE", "/v1/sources/1001/relays/r1", into: &haul)
            let kept = Plant.outgoing.subtracting([.relayKey])
            #expect(try Self.stored(work.path) == kept, "the key of a removed relay is removed with it")
            try Self.look(second, work.path, &haul)
            #expect(try second.terminate(SIGKILL) == 137)
            Self.said(second, &haul)

            // As if another successor had crashed after restoring: the third worker sets the file aside.
            let path = work.path("out/commands.json")
            let died = try Files.text(path).replacingOccurrences(of: #""attempts":1,"#, with: #""attempts":2,"#)
            try Data(died.utf8).write(to: URL(fileURLWithPath: path))
            let third = try RunningRoom(pipeline, environment: Self.environment)
            #expect(try third.event("room.resumed").line.contains(#""reduced":true"#))
            try third.event("alarm.set") { $0.line.contains("commands.set_aside") }
            #expect(try Self.stored(work.path, "commands.json.aside") == kept)
            #expect(try Self.stored(work.path) == kept.subtracting([.relayQuery]), "a reduced state has no relays")
            try Self.look(third, work.path, &haul)
            for directory in ["out", "uploads"] { try haul.add(directory: work.path(directory)) }
            try Self.expectClean(haul, "while a file is set aside", allowed: Plant.outgoing, uploads: uploads)
            try Self.removeAdded(third, work.path, port: port, &haul)
            haul.add("out/commands.json, at the end", Array(try Files.bytes(path)))
            try Self.ask(third, "POST", "/v1/room:end", "{}", status: 202, into: &haul)
            #expect(try third.over() == 0)
            Self.said(third, &haul)
            for directory in ["out", "uploads"] { try haul.add(directory: work.path(directory)) }
            try Self.expectClean(haul, "after the end", allowed: Plant.outgoing, uploads: uploads)
            #expect(try !Files.names(in: work.path("out")).contains { $0.contains("commands") })
            #expect(try Files.text("\(uploads)/180p.m3u8").contains("#EXT-X-ENDLIST"))
            // The bucket received signed requests, which the test has searched.
            #expect(try Files.text("\(uploads)/rooms/180p.m3u8").contains("#EXT-X-ENDLIST"))
            #expect(
                try Files.text("\(uploads)/rooms/heads.txt").contains("AWS4-HMAC-SHA256 Credential=room-of-the-test/"))
            EndToEnd.report("\(Plant.allCases.count) secrets looked for in \(haul.count) files, answers and streams")
        }
    }
}
