import PublishAuth
import Ingest
import Logging
import MediaTypes
import RTMP
import Synchronization

/// A server on a free loopback port, with its events and its log.
struct TestServer {
    let server: IngestServer
    let events = Recorder<IngestEvent>()
    let log = Recorder<String>()
    let port: Int
    /// 0 without RTMPS.
    let securePort: Int

    static let host = SourceID(uid: "1001")
    static let guest = SourceID(uid: "2002")
    static let hostKey = "a_7fd1_secret_of_host"
    static let guestKey = "b_19c4_secret_of_guest"

    init(
        clock: any MonotonicClock = TestClock(), _ change: (inout IngestConfiguration) -> Void = { _ in }
    ) async throws {
        var configuration = IngestConfiguration(
            listen: "127.0.0.1:0",
            bindings: [
                IngestBinding(source: Self.host, streamKey: Self.hostKey),
                IngestBinding(source: Self.guest, streamKey: Self.guestKey),
            ])
        configuration.wrongKeyDelay = 0
        // A test's own steps wait for threads that other tests use: on a busy machine a minute may pass between two of
        // them, while the usual deadlines of connections run. Tests of a deadline set it.
        configuration.session.handshakeTimeout = 600_000_000_000
        configuration.session.publishTimeout = 600_000_000_000
        configuration.session.firstMediaTimeout = 600_000_000_000
        configuration.session.mediaIdleTimeout = 600_000_000_000
        change(&configuration)
        let log = self.log
        var logger = Logger(label: "ingest") { _ in RecordingLogHandler(lines: log) }
        logger.logLevel = .trace
        let events = self.events
        self.server = IngestServer(configuration: configuration, clock: clock, logger: logger) {
            events.append($0)
        }
        let bound = try await self.server.start()
        await self.server.openStreams()
        self.port = Int(bound.plain?.split(separator: ":").last ?? "") ?? 0
        self.securePort = Int(bound.secure?.split(separator: ":").last ?? "") ?? 0
    }

    func url(_ key: String, app: String = "live") -> String { "rtmp://127.0.0.1:\(self.port)/\(app)/\(key)" }

    /// Runs `body` and then stops the server, also after an error.
    static func with(
        clock: any MonotonicClock = TestClock(), _ change: (inout IngestConfiguration) -> Void = { _ in },
        _ body: (TestServer) async throws -> Void
    ) async throws {
        let server = try await TestServer(clock: clock, change)
        do {
            try await body(server)
        } catch {
            await server.server.stop()
            throw error
        }
        await server.server.stop()
    }
}

/// Writes log lines, metadata included, to a recorder.
struct RecordingLogHandler: LogHandler {
    let lines: Recorder<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = self.metadata.merging(event.metadata ?? [:]) { $1 }
        self.lines.append("\(event.level) \(event.message) \(all)")
    }
}
