import Foundation
import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("Noise suppression of a source in a live room")
    struct NoiseTests {
        private static let hertz = 700

        private static func patch(_ audio: String) -> String {
            let key = HarnessRooms.key(of: HarnessRooms.first), other = HarnessRooms.key(of: HarnessRooms.second)
            return #"{ "sources": [ { "uid": "1001", "streamKey": "\#(key)", "audio": \#(audio) }, "#
                + #"{ "uid": "2002", "streamKey": "\#(other)" } ] }"#
        }

        @Test(
            "PATCH turns noise suppression on and off without a gap in the audio; a model that is missing, damaged or not allowed is refused"
        )
        func liveChange() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let models = "\(directory.path)/models"
            try FileManager.default.createDirectory(atPath: models, withIntermediateDirectories: true)
            try "rnnoise-nu model file version 1\n42 24 1\n1 2 3".write(
                toFile: "\(models)/damaged.rnnn", atomically: true, encoding: .utf8)
            let room = try await RoomHarness.open(
                HarnessRooms.duel(
                    "\(directory.path)/out", members: #""control": { "mediaDirectory": "\#(models)" },"#, grace: 60_000)
            )
            try await room.goLive(HarnessRooms.first, sending: .dark, tones: [0: Self.hertz])
            try await room.publish(seconds: 3)
            // A steady tone is noise.
            let changed = try await room.command(
                .patch, "/v1/room", Self.patch(#"{ "noiseSuppression": "fft" }"#))
            #expect(changed.member("changed")?.content == .boolean(true))
            try await room.publish(seconds: 5)

            func model(_ path: String) -> String { #"{ "noiseSuppression": "model", "noiseModel": "\#(path)" }"# }
            let missing = try await room.command(
                .patch, "/v1/room", Self.patch(#"{ "noiseSuppression": "model" }"#), status: 422)
            #expect(missing.body.contains("sources[0].audio.noiseModel"), "\(missing.body)")
            let damaged = try await room.command(
                .patch, "/v1/room", Self.patch(model("\(models)/damaged.rnnn")), status: 422)
            #expect(damaged.body.contains("is damaged"), "\(damaged.body)")
            let denied = try await room.command(.patch, "/v1/room", Self.patch(model("/etc/passwd")), status: 403)
            #expect(denied.body.contains("mediaDirectory"), "\(denied.body)")
            let kept = try await room.command(.get, "/v1/document")
            #expect(kept.body.contains(#""noiseSuppression":"fft""#), "\(kept.body)")

            try await room.command(.patch, "/v1/room", Self.patch(#"{ "noiseSuppression": "off" }"#))
            try await room.publish(seconds: 3)
            try await room.end()
            #expect(room.events.all("source.noise_suppression").isEmpty && room.events.all("source.reanchored").isEmpty)

            let out = RoomDirectory(at: "\(directory.path)/out")
            out.lint()
            let levels = try await PublishedAudio(out).level(Self.hertz)
            let tone = Array(levels.drop { $0 < 0.1 }.dropFirst(20).prefix { $0 > 0.008 }.dropLast(20))
            #expect(tone.count > 1_000, "the tone is heard for 11 s without a gap: \(tone.count) of \(levels.count)")
            let (least, last) = (tone.min() ?? 0, tone.last ?? 0)
            print("MEASURED: amplitude of the tone \(tone.first ?? 0), \(least) and \(last)")
            #expect(least < 0.04 && last > 0.1)
            // A cross-fade takes two values.
            let jumps = zip(tone, tone.dropFirst()).map { abs($0 - $1) }
            #expect((jumps.max() ?? 1) < 0.08, "\(jumps.max() ?? 1)")
        }
    }
}
