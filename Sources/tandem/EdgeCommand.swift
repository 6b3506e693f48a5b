import ArgumentParser
import LibAV
import Libc
import Logging
import MediaTypes
import NIOPosix
import PipelineSpec
import PublishEdge
import Threading
import TLSFiles
import UnixSignals

struct EdgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edge",
        abstract: "Accept RTMP publishers at one address and forward each to the room of its stream key.",
        discussion: """
            Encoders keep one server address; rooms may run on any machine and move. The edge reads as far as the stream
            key, looks the room up in a directory, and then passes on what the publisher sends, unchanged: every codec,
            Enhanced RTMP included. The room checks the key.

                tandem edge --keys /run/tandem/keys --listen 0.0.0.0:1935
                ffmpeg -re -i clip.mp4 -c copy -f flv rtmp://edge.example.com/live/a_7fd1

            The directory has a file for each key, named by the SHA-256 of APP/KEY; it contains HOST:PORT of the room's
            RTMP listener, and after a space an optional name of the worker. examples/orchestrator writes it
            (--edge-keys). By hand:

                echo 127.0.0.1:40001 > "keys/$(printf live/a_7fd1 | sha256sum | cut -c1-64)"

            The file of APP/ is for all keys of that app: for keys that the room issues or checks by itself.

            If a room moves, its publisher's connection is closed, and the encoder that connects again is forwarded to
            the new address. A room that cannot be reached is looked up and tried again for ten seconds.

            With --proxy-header rooms see the publisher's address; their "ingest.proxies" must list the edge.

            An edge has no state, so several can run: on several machines, or on one with --share-port. SIGTERM and SIGINT
            stop accepting connections, wait until the publishers have left or --drain is over, and exit 0; a second
            signal ends the wait.

            The first line on standard output has the bound addresses. Logs are written to standard error.

            Exit codes: 0 stopped by a signal · 64 flags · 65 a certificate that cannot be used · 66 no such file or
            directory · 69 an address cannot be bound · 78 the limit of open files is too low.
            """)

    @Option(help: ArgumentHelp("Directory of the stream keys.", valueName: "directory"))
    var keys: String

    @Option(help: ArgumentHelp("Address for RTMP; \"off\": only RTMPS.", valueName: "host:port"))
    var listen = "0.0.0.0:1935"

    @Option(help: ArgumentHelp("Address for RTMPS, which the edge decrypts.", valueName: "host:port"))
    var tlsListen: String?

    @Option(
        help: ArgumentHelp("PEM file of the certificate and its chain; reloaded when it changes.", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("PEM file of the certificate's key.", valueName: "file"))
    var tlsKey: String?

    @Flag(help: "Send rooms the publisher's address in a PROXY header.")
    var proxyHeader = false

    @Option(
        name: .customLong("proxy"),
        help: ArgumentHelp(
            "Load balancers in front of the edge, which send a PROXY header, repeatable.", valueName: "network"))
    var proxies: [String] = []

    @Option(help: ArgumentHelp("Largest number of connections (1…60000).", valueName: "number"))
    var connections = 1024

    @Option(
        help: ArgumentHelp("Connections of one client network that do not publish (1…60000).", valueName: "number"))
    var waitingPerAddress = 8

    @Option(
        help: ArgumentHelp(
            "How long bytes may wait so that more are forwarded at once (20…150, or 0, which costs more CPU time).",
            valueName: "milliseconds"))
    var readDelay = 100

    @Option(help: ArgumentHelp("How long publishers may stay after a signal (0…86400).", valueName: "seconds"))
    var drain = 30

    @Flag(help: "Let several edges listen on the same port of this machine.")
    var sharePort = false

    @Option(help: ArgumentHelp("Address for /livez, /readyz and /metrics.", valueName: "host:port"))
    var metrics: String?

    @Option(help: "Format of log lines: auto is text on a terminal, and JSON otherwise.")
    var logFormat: LogFormat = .auto

    @Option(help: "Lowest level that is logged.")
    var logLevel: LogLevel = .info

    func validate() throws {
        guard self.listen != "off" || self.tlsListen != nil else {
            throw ValidationError("--listen off leaves no listener: give --tls-listen")
        }
        let parts = [self.tlsListen, self.tlsCertificate, self.tlsKey].compactMap { $0 }
        guard parts.isEmpty || parts.count == 3 else {
            throw ValidationError("--tls-listen, --tls-certificate and --tls-key belong together")
        }
        for network in self.proxies where AddressRange(network) == nil {
            throw ValidationError("--proxy \(network): write an address or a network, such as 10.0.0.0/8")
        }
        for (name, value, range) in [
            ("--connections", self.connections, 1...60_000),
            ("--waiting-per-address", self.waitingPerAddress, 1...60_000),
            ("--read-delay", self.readDelay == 0 ? 20 : self.readDelay, 20...150),
            ("--drain", self.drain, 0...86_400),
        ] where !range.contains(value) {
            throw ValidationError("\(name) \(value): give a number from \(range.lowerBound) to \(range.upperBound)")
        }
        for (name, text) in [
            ("--listen", self.listen == "off" ? nil : self.listen), ("--tls-listen", self.tlsListen),
            ("--metrics", self.metrics),
        ] {
            guard let text else { continue }
            let address: ListenAddress
            do throws(ListenAddress.Malformed) {
                address = try ListenAddress(parsing: text)
            } catch {
                throw ValidationError("\(name) \(text): \(error)")
            }
            guard case .tcp = address else {
                throw ValidationError("\(name) \(text): write HOST:PORT, such as 127.0.0.1:1935")
            }
        }
    }

    func run() async throws {
        LogOutput.bootstrap(self.logFormat, level: self.logLevel.level)
        RoomProcess.ignoreBrokenPipes()
        RoomProcess.ignoreHangups()
        let logger = Logger(label: "tandem.edge")
        guard self.isDirectory else {
            StandardError.write("--keys \(self.keys): there is no such directory. Fix: create it\n")
            throw ExitStatus.fileMissing.code
        }
        // Two sockets for each publisher, the process's own files, and the HTTP listener's.
        let files = LibAV.raiseOpenFiles()
        guard files >= 2 * self.connections + 128 else {
            StandardError.write(
                "the limit of open files is \(files), but \(self.connections) connections need "
                    + "\(2 * self.connections + 128). Fix: raise it (ulimit -n, LimitNOFILE), or lower --connections\n")
            throw ExitStatus.impossibleHere.code
        }
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        do throws(MediaError) {
            try await self.serve(signals, logger)
        } catch {
            StandardError.write("\(error)\n")
            LogOutput.finish()
            throw ExitStatus(error).code
        }
        LogOutput.finish()
    }

    private func serve(_ signals: UnixSignalsSequence, _ logger: Logger) async throws(MediaError) {
        var settings = EdgeSettings(
            listen: self.listen == "off" ? nil : self.listen, directory: KeyDirectory(path: self.keys))
        settings.sendsProxyHeader = self.proxyHeader
        settings.proxies = self.proxies.compactMap { AddressRange($0) }
        settings.sharesPort = self.sharePort
        settings.maximumConnections = self.connections
        settings.maximumWaitingPerAddress = self.waitingPerAddress
        settings.readDelay = Int64(self.readDelay) * 1_000_000
        var watch: CertificateWatch?
        if let listen = self.tlsListen, let certificate = self.tlsCertificate, let key = self.tlsKey {
            let store = try CertificateStore(CertificateFiles(certificate: certificate, key: key), place: "edge")
            settings.secure = EdgeSettings.Secure(listen: listen, certificates: store)
            watch = CertificateWatch(store, on: MultiThreadedEventLoopGroup.singleton.any()) { Self.report($0, logger) }
        }
        let edge = EdgeServer(settings, clock: SystemClock(), logger: logger)
        var monitor: EdgeMonitor?
        let bound: (plain: String?, secure: String?)
        do throws(MediaError) {
            bound = try await edge.start()
            if let metrics = self.metrics, let address = try? ListenAddress(parsing: metrics) {
                monitor = try await EdgeMonitor.start(listen: address, counters: edge.counters, logger: logger)
            }
        } catch {
            watch?.stop()
            await edge.stop(within: 0)
            throw error
        }
        Self.sayReady(bound, monitor)
        await self.obey(signals, edge, monitor, logger)
        await monitor?.stop()
        watch?.stop()
    }

    /// Waits for a signal, then stops the edge; a second signal ends the time that publishers have.
    private func obey(
        _ signals: UnixSignalsSequence, _ edge: EdgeServer, _ monitor: EdgeMonitor?, _ logger: Logger
    ) async {
        // The sequence of signals has only one iterator, so a stream distributes them.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let watch = Task { for await _ in signals { continuation.yield() } }
        for await _ in stream { break }
        logger.info(
            "stopping", metadata: ["publishing": "\(edge.counters.value.publishing)", "drainSeconds": "\(self.drain)"])
        monitor?.stopping()
        let drain = Int64(self.drain) * TimeMath.nanoseconds
        let stop = Task { await edge.stop(within: drain) }
        let impatience = Task {
            for await _ in stream { stop.cancel() }
        }
        await stop.value
        impatience.cancel()
        watch.cancel()
        logger.info("stopped")
    }

    private static func sayReady(_ bound: (plain: String?, secure: String?), _ monitor: EdgeMonitor?) {
        StandardOutput.tell(
            JSONValue.object([
                .init("type", .string("edge.ready")),
                .init("rtmp", JSONValue(bound.plain.map { "rtmp://\($0)" })),
                .init("rtmps", JSONValue(bound.secure.map { "rtmps://\($0)" })),
                .init("metrics", JSONValue(monitor?.boundAddress)),
            ]).text + "\n")
    }

    private static func report(_ look: CertificateStore.CheckResult, _ logger: Logger) {
        switch look {
        case .unchanged: break
        case .renewed(let validUntil): logger.info("new certificate", metadata: ["validUntil": "\(validUntil)"])
        case .refused(let error):
            logger.warning("the new certificate was refused; the old one stays", metadata: ["error": "\(error)"])
        }
    }

    private var isDirectory: Bool {
        var status = stat()
        return stat(self.keys, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
