import Foundation
import HTTPProbe
import HTTPTypes
import Logging
import NIOCore
import TLSFiles
import TestSupport
import Testing

import HTTPListener

@Suite("TLS and HTTP/2: RFC 9113, RFC 7301", .serialized, .timeLimit(.minutes(1)))
struct TLSTests {
    private static let large = [UInt8](repeating: 7, count: 4 << 20)

    /// A listener with a self-signed certificate; `GET /n` returns n as text, `GET /large` 4 MB.
    private static func withListener(
        _ limits: HTTPListenerLimits = HTTPListenerLimits(connections: 64, bodyBytes: 100),
        _ body: (HTTPListener, CertificateStore, String) async throws -> Void
    ) async throws {
        try CertificateMaker.require()
        let holder = try TemporaryDirectory()
        let (certificate, key) = (holder.path + "/a.crt", holder.path + "/a.key")
        try CertificateMaker.make(certificate: certificate, key: key)
        let store = try CertificateStore(CertificateFiles(certificate: certificate, key: key), place: "test")
        let listener = try await HTTPListener.start(
            listen: .tcp(host: "127.0.0.1", port: 0), limits: limits, certificates: store, group: nil, place: "test",
            logger: Logger(label: "test")
        ) { request, answer in
            let path = request.target?.path ?? "?"
            switch path {
            case "/large": answer(ListenerReply(.ok, body: .buffers([ByteBuffer(bytes: Self.large)])))
            case "/never": break
            default: answer(ListenerReply(.ok, fields: [.contentType: "text/plain"], body: .text(path)))
            }
        }
        do {
            try await body(listener, store, holder.path)
        } catch {
            Issue.record(error)
        }
        await listener.stop(within: .milliseconds(100))
        unlink(certificate)
        unlink(key)
        holder.remove()
    }

    @Test("a client that offers h2 gets HTTP/2; 50 streams are answered, and SETTINGS allows 100 at once")
    func streams() async throws {
        try await Self.withListener { listener, _, _ in
            #expect(listener.boundAddress.hasPrefix("https://"))
            let connection = try await HTTP2Probe(listener.boundAddress).connect()
            for index in 0..<50 { try await connection.get("/\(index)", stream: UInt32(2 * index + 1)) }
            let received = try await connection.wait { $0.replies.values.count(where: \.isComplete) == 50 }
            #expect(
                (0..<50).allSatisfy { received.replies[UInt32(2 * $0 + 1)]?.text == "/\($0)" },
                "\(received.replies.count) replies")
            #expect(received.settings[3] == 100, "SETTINGS_MAX_CONCURRENT_STREAMS")
            #expect(listener.connectionCount == 1, "a stream is not a connection")
            await connection.close()
        }
    }

    @Test("a reply that waits for HTTP/2 flow control lets another stream pass, and then arrives whole")
    func windows() async throws {
        try await Self.withListener { listener, _, _ in
            let connection = try await HTTP2Probe(listener.boundAddress).connect(window: 1_000)
            try await connection.get("/large", stream: 1)
            try await connection.wait { $0.replies[1]?.body.count == 1_000 }
            try await connection.get("/quick", stream: 3)
            let received = try await connection.wait { $0.replies[3]?.isComplete == true }
            #expect(received.replies[3]?.text == "/quick")
            #expect(received.replies[1]?.isComplete == false)
            try await connection.send([HTTP2Probe.Frame(.windowUpdate, stream: 1, HTTP2Probe.big(8 << 20))])
            let all = try await connection.wait { $0.replies[1]?.isComplete == true }
            #expect(all.replies[1]?.body == Self.large)
            await connection.close()
        }
    }

    @Test("an HTTP/2 stream whose client does not read is reset after the write timeout, and the connection stays")
    func stalledStream() async throws {
        let limits = HTTPListenerLimits(connections: 8, bodyBytes: 0, stalledWrite: .milliseconds(100))
        try await Self.withListener(limits) { listener, _, _ in
            let connection = try await HTTP2Probe(listener.boundAddress).connect(window: 1_000)
            try await connection.get("/large", stream: 1)
            let received = try await connection.wait { $0.replies[1]?.reset != nil }
            #expect(received.replies[1]?.reset != nil)
            try await connection.get("/on", stream: 3)
            #expect(try await connection.wait { $0.replies[3]?.isComplete == true }.replies[3]?.text == "/on")
            await connection.close()
        }
    }

    @Test("the HTTP/2 connection of a client that does not read is closed after the write timeout")
    func stalledConnection() async throws {
        let limits = HTTPListenerLimits(connections: 8, bodyBytes: 0, stalledWrite: .milliseconds(200))
        try await Self.withListener(limits) { listener, _, _ in
            let connection = try await HTTP2Probe(listener.boundAddress).connect(window: 16 << 20)
            try await connection.stopReading()
            for stream in 0..<8 { try await connection.get("/large", stream: UInt32(2 * stream + 1)) }
            try await waitUntil("at most 0 connections are open", { listener.connectionCount }) { $0 <= 0 }
            await connection.close()
        }
    }

    /// Frames that cost the server work and the client nothing.
    enum Flood: String, CaseIterable {
        case rapidReset, ping, emptyData, settings

        func frames(_ index: UInt32) -> [HTTP2Probe.Frame] {
            let stream = 2 * index + 1
            switch self {
            case .rapidReset:
                return [
                    HTTP2Probe.request("/never", stream: stream),
                    HTTP2Probe.Frame(.reset, stream: stream, HTTP2Probe.big(8)),
                ]
            case .ping: return [HTTP2Probe.Frame(.ping, [UInt8](repeating: 0, count: 8))]
            case .emptyData:
                let open = index == 0 ? [HTTP2Probe.request("/never", stream: 1, ends: false)] : []
                return open + [HTTP2Probe.Frame(.data, stream: 1, [])]
            case .settings: return [HTTP2Probe.Frame(.settings, [0, 4] + HTTP2Probe.big(65_535 &+ index & 1))]
            }
        }
    }

    @Test(
        "a flood of resets, pings or empty DATA frames closes its connection; in each flood other clients are served",
        arguments: Flood.allCases)
    func floods(flood: Flood) async throws {
        try await Self.withListener { listener, _, _ in
            let probe = try HTTP2Probe(listener.boundAddress)
            let connection = try await probe.connect()
            var sent = 0
            do {
                while sent < 20_000, try await !connection.received.isClosed {
                    try await connection.send((0..<100).flatMap { flood.frames(UInt32(sent + $0)) })
                    sent += 100
                }
            } catch {
                // Closed during the write.
            }
            if flood != .settings {
                let received = try await connection.wait { $0.isClosed }
                #expect(
                    received.isClosed && sent < 20_000, "\(flood): closed after \(sent), GOAWAY \(received.goAway ?? 0)"
                )
            }
            #expect(try await probe.get("/others").text == "/others")
            await connection.close()
        }
    }

    @Test("HTTP/2 PRIORITY frames, also for unknown streams, do not affect replies")
    func priority() async throws {
        try await Self.withListener { listener, _, _ in
            let connection = try await HTTP2Probe(listener.boundAddress).connect()
            try await connection.send([
                HTTP2Probe.Frame(.priority, stream: 1, HTTP2Probe.big(3) + [255]),
                HTTP2Probe.request("/a", stream: 3), HTTP2Probe.Frame(.priority, stream: 3, HTTP2Probe.big(1) + [0]),
            ])
            #expect(try await connection.wait { $0.replies[3]?.isComplete == true }.replies[3]?.text == "/a")
            await connection.close()
        }
    }

    @Test(
        "a TLS connection without a handshake, and an HTTP/2 request that does not end, are closed after the idle timeout"
    )
    func idle() async throws {
        let limits = HTTPListenerLimits(connections: 8, bodyBytes: 0, idle: .milliseconds(150))
        try await Self.withListener(limits) { listener, _, _ in
            let plain = "http://" + listener.boundAddress.dropFirst("https://".count)
            #expect(try await HTTPProbe(plain).bytesUntilClosed(after: "") == 0)
            #expect(try await HTTPProbe(plain).bytesUntilClosed(after: "GET / HTTP/1.1\n\n") < 100, "no TLS")
            let connection = try await HTTP2Probe(listener.boundAddress).connect()
            try await connection.get("/never", stream: 1, ends: false)
            #expect(try await connection.wait { $0.replies[1]?.reset != nil || $0.goAway != nil }.replies[1] != nil)
            await connection.close()
        }
    }

    @Test("when the listener is crowded, an HTTP/2 connection is closed only if none of its streams has a request")
    func crowd() async throws {
        let limits = HTTPListenerLimits(connections: 3, bodyBytes: 0, crowd: 2)
        try await Self.withListener(limits) { listener, _, _ in
            let probe = try HTTP2Probe(listener.boundAddress)
            let busy = try await probe.connect()
            try await busy.get("/never", stream: 1)
            try await busy.get("/first", stream: 3)
            try await busy.wait { $0.replies[3]?.isComplete == true }
            let idle = try await probe.connect()
            #expect(try await probe.get("/others").text == "/others")
            #expect(try await idle.wait { $0.isClosed }.isClosed)
            try await busy.send([HTTP2Probe.Frame(.reset, stream: 1, HTTP2Probe.big(8))])
            try await busy.get("/last", stream: 5)
            #expect(try await busy.wait { $0.replies[5]?.isComplete == true }.replies[5]?.text == "/last")
            // All requests of the first connection have ended, and the next one is younger.
            try await waitUntil("1 connection is open", { listener.connectionCount }) { $0 == 1 }
            let young = try await probe.connect()
            #expect(try await probe.get("/others").text == "/others")
            #expect(try await busy.wait { $0.isClosed }.isClosed)
            await busy.close()
            await idle.close()
            await young.close()
        }
    }

    @Test("TLS connections over the limit of one address are closed at once")
    func perAddress() async throws {
        let limits = HTTPListenerLimits(connections: 64, bodyBytes: 0, connectionsPerAddress: 2)
        try await Self.withListener(limits) { listener, _, _ in
            let probe = try HTTP2Probe(listener.boundAddress)
            let (first, second) = (try await probe.connect(), try await probe.connect())
            await #expect(throws: (any Error).self) { _ = try await probe.connect().send([]) }
            await first.close()
            try await waitUntil("at most 1 connections are open", { listener.connectionCount }) { $0 <= 1 }
            #expect(try await probe.get("/again").text == "/again")
            await second.close()
        }
    }

    @Test("HEAD of an endless body gets only the head, and the connection ends", arguments: [false, true])
    func headOfStream(tls: Bool) async throws {
        try await FedStream.serve(tls: tls) { stream, listener in
            let channel = try await WebSocketProbe(listener.boundAddress).connect()
            let text: String = try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n"))
                var bytes: [UInt8] = []
                for try await chunk in inbound { bytes += chunk.readableBytesView }
                return String(decoding: bytes, as: UTF8.self)
            }
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.lowercased().contains("connection: close\r\n"))
            #expect(text.hasSuffix("\r\n\r\n") && text.split(separator: "\r\n\r\n").count == 1, "\(text)")
            #expect(stream.isCancelled, "no piece of it is sent")
        }
    }

    @Test("curl speaks HTTP/2 and HTTP/1.1, is refused below TLS 1.2, and sees a renewed certificate at once")
    func curl() async throws {
        _ = try TestTool.require("curl")
        try await Self.withListener { listener, store, directory in
            let url = listener.boundAddress + "/hello"
            #expect(Curl.get(url, ["--http2"]) == "/hello 2 200")
            #expect(Curl.get(url, ["--http1.1"]) == "/hello 1.1 200")
            #expect(Curl.get(url, ["--http1.1", "-X", "BREW"])?.hasSuffix(" 1.1 501") == true)
            #expect(Curl.get(url, ["--tls-max", "1.1", "--ciphers", "DEFAULT@SECLEVEL=0"]) == " 0 000")
            try CertificateMaker.make(certificate: directory + "/a.crt", key: directory + "/a.key", name: "renewed")
            guard case .renewed = store.check() else {
                Issue.record("the new files were not used")
                return
            }
            #expect(Curl.get(url, ["--http2", "-v"], errors: true)?.contains("CN=renewed") == true)
        }
    }
}

/// The program curl.
private enum Curl {
    /// Body, HTTP version and status; nil: curl cannot be started.
    static func get(_ url: String, _ arguments: [String], errors: Bool = false) -> String? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["curl", "-sk", "-m", "10", "-w", " %{http_version} %{http_code}", url] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = errors ? output : FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }
}
