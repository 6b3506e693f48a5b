import PublishAuth
import Glibc
import Ingest
import MediaTypes
import RTMP
import TestSupport
import Testing

/// Rules that SRT shares with RTMP, tested over SRT with ffmpeg as the caller.
@Suite("The SRT listener authorizes publishers like the RTMP server", .timeLimit(.minutes(1)), .serialized)
struct SRTListenerTests {
    /// The path of an ffmpeg that can publish over SRT. Without it, the current test ends as skipped.
    private static func caller() async throws -> String {
        let ffmpeg = try TestTool.require("ffmpeg")
        let script = "'\(ffmpeg)' -hide_banner -protocols 2>/dev/null | grep -qw srt"
        guard await Tool.run("/bin/sh", ["-c", script]) == 0 else {
            try TestTool.skip("ffmpeg's SRT", "this ffmpeg is built without it")
        }
        return ffmpeg
    }

    private static func arguments(to url: String, streamID: String, seconds: Int) -> [String] {
        [
            "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=30", "-re", "-f",
            "lavfi", "-i", "sine=frequency=440:sample_rate=48000", "-t", "\(seconds)", "-c:v", "libx264", "-preset",
            "ultrafast", "-g", "30", "-pix_fmt", "yuv420p", "-c:a", "aac", "-f", "mpegts", "-srt_streamid", streamID,
            url,
        ]
    }

    private static func with(
        listen: String = "127.0.0.1:0", _ change: (inout IngestConfiguration) -> Void = { _ in },
        _ body: (TestServer, String) async throws -> Void
    ) async throws {
        try await TestServer.with({
            $0.srt = SRTSettings(listen: listen)
            change(&$0)
        }) { server in
            let events = await server.events.wait {
                $0.contains { if case .listeningForSRT = $0 { true } else { false } }
            }
            let address = events.compactMap { if case .listeningForSRT(let address) = $0 { address } else { nil } }
                .first
            try await body(server, "srt://" + (try #require(address)))
        }
    }

    private static func refusals(_ server: TestServer) -> [String] {
        server.events.elements.compactMap { if case .refused(_, _, let reason, _) = $0 { reason } else { nil } }
    }

    @Test("a publisher is admitted over IPv6 with a signed key in the stream id and the webhook's consent")
    func signedOverIPv6() async throws {
        let ffmpeg = try await Self.caller()
        guard access("/proc/net/if_inet6", F_OK) == 0 else { try TestTool.skip("IPv6", "this machine has none") }
        // The signature is that of SignedKeyCheckTests, in the room 88231.
        let key = "1001?e=1800000000&n=n1&s=dyHoSYgbBJnqChPubkwCvSzsJERGFIusRg1e7sqiucI"
        let hook = try await HookServer(.answer(status: 200, body: "0"))
        let change: (inout IngestConfiguration) -> Void = { configuration in
            configuration.admission.signed = SignedKeyCheck(
                form: .hmac, secrets: ["first secret"], room: "88231", app: "live")
            configuration.admission.signable = [TestServer.host]
            configuration.wallClock = { 1_700_000_000 }
            configuration.hook = PublishWebhookClient(
                hook: PublishWebhook(form: .srs, secret: "s"), url: hook.url, timeout: 2_500_000_000, onFailure: .deny)
        }
        try await Self.with(listen: "[::1]:0", change) { server, url in
            #expect(url.hasPrefix("srt://[::1]:"))
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            let wrong = await Tool.run(
                ffmpeg, Self.arguments(to: url, streamID: String(key.dropLast()) + "J", seconds: 2))
            #expect(wrong != 0)
            #expect(Self.refusals(server) == ["a wrong signature"])
            #expect(hook.requests.elements.isEmpty, "no request for a wrong key")
            let right = await Tool.run(ffmpeg, Self.arguments(to: url, streamID: "live/" + key, seconds: 3))
            #expect(right == 0)
            await items.items.wait { if case .end? = $0.last { true } else { false } }
            #expect(Set(items.configurations.map(\.codec)) == [.h264, .aac])
            // Of three seconds: SRT drops packets that are late on a busy machine.
            #expect(items.packets.count { $0.kind == .video } > 5)
            let request = try #require(hook.requests.elements.first)
            #expect(request.contains("\"ip\":\"::1\"") && request.contains("srt://"), "\(request)")
            #expect(!"\(server.events.elements) \(server.log.elements)".contains("s=dyHo"))
        }
        await hook.stop()
    }

    @Test("a publisher that the webhook refuses cannot publish over SRT, although `onError` allows")
    func refusedByWebhook() async throws {
        let ffmpeg = try await Self.caller()
        let hook = try await HookServer(.answer(status: 200, body: #"{"code":5}"#))
        try await Self.with({
            $0.hook = PublishWebhookClient(
                hook: PublishWebhook(form: .srs, secret: "s"), url: hook.url, timeout: 2_500_000_000, onFailure: .allow)
        }) { server, url in
            #expect(await Tool.run(ffmpeg, Self.arguments(to: url, streamID: TestServer.hostKey, seconds: 2)) != 0)
            #expect(Self.refusals(server) == ["refused by the webhook"])
            #expect(hook.requests.elements.count == 1)
        }
        await hook.stop()
    }

    @Test("with `onDuplicate: reject` the first SRT publisher stays, and the second is refused")
    func duplicate() async throws {
        let ffmpeg = try await Self.caller()
        try await Self.with({ $0.onDuplicate = .reject }) { server, url in
            let items = ItemRecorder()
            _ = server.server.hub(for: TestServer.host)?.subscribe(items)
            async let first = Tool.run(ffmpeg, Self.arguments(to: url, streamID: TestServer.hostKey, seconds: 5))
            await items.items.wait { $0.count > 2 }
            #expect(await Tool.run(ffmpeg, Self.arguments(to: url, streamID: TestServer.hostKey, seconds: 2)) != 0)
            #expect(Self.refusals(server).count == 1)
            #expect(items.ends == 0, "the first one continues")
            #expect(await first == 0)
            await items.items.wait { if case .end? = $0.last { true } else { false } }
            #expect(server.server.statistics[TestServer.host]?.publications == 1)
        }
    }
}
