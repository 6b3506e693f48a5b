import Control
import Events
import Logging
import MediaTypes
import Origin
import Packager
import PipelineSpec
import Push
import RoomAPI
import RoomOutputs
import Threading
import TLSFiles
import WHEP

/// The listeners of viewers and operators, their certificates, and the thread that watches the room's files. They are
/// open from the start of the room until ``stop()``, ``stopViewers()`` and ``stopControl()``.
///
/// The room's lock must not be held during calls to a server.
struct RoomListeners {
    /// The open listeners and watchers: a part of ``RoomState``.
    struct Servers: Sendable {
        var live: LiveOutputs?
        var origin: OriginServer?
        /// Sends media to WebRTC viewers; nil if the room has no WebRTC output.
        var webRTC: WHEPServer?
        /// Makes viewers' requests wait while the worker is about to publish; nil if they never wait.
        var gate: StartupGate?
        var control: ControlServer?
        var certificates: [CertificateWatch] = []
        var files: PollingThread?
        /// Whether the files must be checked as soon as the thread that watches them runs.
        var isLookDue = false
        /// Verifies the signatures of viewers' URLs; nil if URLs are not signed, so that everyone may watch.
        var playback: SignedURLVerifier?
    }

    let state: RoomPart<Servers>
    let clocks: Clocks
    let events: RoomEvents
    let logger: Logger

    private var servers: Servers { self.state.withLock { $0 } }

    // MARK: Certificates

    private var reports: ListenerCertificates {
        ListenerCertificates(wall: self.clocks.wall, events: self.events, logger: self.logger)
    }

    /// Opens the certificate of a listener; nil if `settings` is nil. See ``ListenerCertificates/open(_:place:)``.
    func openCertificates(_ settings: TLSSettings?, place: String) throws(MediaError) -> CertificateStore? {
        guard let settings else { return nil }
        let watch = try self.reports.open(settings, place: place)
        self.state.withLock { $0.certificates.append(watch) }
        return watch.store
    }

    /// Reads the certificate files again now. Blocks.
    func reloadCertificates() {
        for watch in self.servers.certificates { watch.reload() }
    }

    /// The certificates in use.
    var certificates: [CertificateStore] { self.servers.certificates.map(\.store) }

    /// The alarms of the certificates that have expired, are not valid yet, or expire soon.
    var alarms: [RoomAlarm] { self.reports.alarms(of: self.certificates) }

    // MARK: Files

    /// Checks the room's files now, or as soon as the thread that watches them runs.
    func tellFiles() {
        let looks = self.state.withLock { servers in
            if servers.files == nil { servers.isLookDue = true }
            return servers.files
        }
        looks?.tell()
    }

    /// Sets the thread that watches the room's files.
    func follow(by looks: PollingThread) {
        let isDue = self.state.withLock { servers in
            servers.files = looks
            defer { servers.isLookDue = false }
            return servers.isLookDue
        }
        if isDue { looks.tell() }
    }

    // MARK: Viewers

    /// Opens the viewers' listener.
    ///
    /// - Parameters:
    ///   - live: The HTTP-FLV output; nil if the room has none.
    ///   - webRTC: The renditions for WebRTC viewers; nil if the room has no WebRTC output.
    ///   - watched: Notes which renditions viewers request; nil if none ever sleeps.
    ///   - hasSlate: Whether slate fills the time since the previous worker, so that viewers' requests wait from the start.
    ///   - status: Returns the room's status for the viewers' page.
    ///   - hasEnded: Returns whether the room is closed.
    /// - Returns: The content that is served, and the listener's address; nil if the pipeline has no viewers' listener.
    /// - Throws: ``MediaError/Code/bindFailed``, and errors of secrets and certificates that cannot be read.
    func openViewers(
        _ pipeline: Pipeline, _ packager: HLSPackager, live: LiveOutputs?, webRTC: WebRTCFeeds?,
        watched: WatchedRenditions?, hasSlate: Bool,
        status: @escaping @Sendable () -> ViewerStatus,
        hasEnded: @escaping @Sendable () -> Bool
    ) async throws(MediaError) -> (content: any OriginContent, address: String)? {
        guard let hls = pipeline.hls, let listen = hls.http.listen else { return nil }
        let http = hls.http
        let content: any OriginContent =
            hls.lowLatency
            ? packager.liveContent(clock: self.clocks.machine, watched, hasEnded)
            : PublishedContent(packager: packager, hasEnded: hasEnded)
        var gated = content
        if hasSlate || packager.opening != nil {
            let gate = StartupGate(content, isOpen: !hasSlate, clock: self.clocks.machine)
            gated = gate
            self.state.withLock { $0.gate = gate }
        }
        let verifier = try pipeline.playbackGate(wall: self.clocks.wall)
        let wall = self.clocks.wall
        let whep = try await webRTC?.start(
            clock: self.clocks.machine, wallClock: { wall.now() }, logger: self.logger)
        if let whep { self.state.withLock { $0.webRTC = whep } }
        let origin = try await OriginServer.start(
            listen: listen, content: gated,
            allowOrigins: http.allowOrigins, page: ViewerPage.Options(pipeline, hls),
            gate: verifier, live: http.flv ? live : nil, webRTC: whep.map { WebRTCViewers($0) }, status: status,
            players: packager.players(isLowLatency: hls.lowLatency, pipeline),
            certificates: try self.openCertificates(http.tls, place: "viewer"), connections: http.maxConnections,
            connectionsPerAddress: http.maxConnectionsPerAddress, logger: self.logger)
        self.state.withLock {
            $0.origin = origin
            $0.playback = verifier
        }
        return (content, origin.boundAddress)
    }

    /// Opens the TCP socket of WebRTC viewers, after all other listeners.
    func openStreams() async { await self.servers.webRTC?.openStreams() }

    var playback: SignedURLVerifier? { self.servers.playback }
    var viewerTraffic: ViewerTraffic { self.servers.origin?.traffic ?? ViewerTraffic() }
    /// Whether the viewers' listener is open.
    var hasViewers: Bool { self.servers.origin != nil }
    /// Nanoseconds since a viewer last requested a playlist; nil if none has.
    var sinceViewersRequest: Int64? { self.servers.origin?.sinceRequest }

    /// Answers viewers' requests that wait for the first segment, and lets later ones pass.
    func openGate() { self.servers.gate?.open() }

    /// Makes viewers' requests wait until ``openGate()``, at most five seconds.
    func holdGate() { self.servers.gate?.hold() }

    /// Closes the viewers' listener.
    func stopViewers() async {
        let origin = self.state.withLock { $0.origin.take() }
        await origin?.stop()
    }

    // MARK: Operators

    /// Opens the operators' listener.
    ///
    /// - Parameter content: The content of the viewers' listener; nil if the room has none.
    /// - Returns: The address of the listener.
    /// - Throws: ``MediaError/Code/bindFailed``, and errors of tokens that cannot be read.
    func openControl(
        _ room: any RoomControlling, _ settings: RoomSettings, _ pipeline: Pipeline, content: (any OriginContent)?
    ) async throws(MediaError) -> String {
        let (token, readToken) = try pipeline.control.tokens()
        var options = ControlListenerOptions(pipeline, settings, content)
        options.readToken = readToken
        let control = try await ControlServer.start(
            listen: pipeline.control.listen, token: token, room: room, options: options, logger: self.logger)
        self.state.withLock { $0.control = control }
        return control.boundAddress
    }

    /// Runs a change that no API request asked for, in turn with the commands of the API. `body` returns whether it has
    /// changed anything.
    func carryOut(_ body: () throws(ControlFailure) -> Bool) throws(ControlFailure) {
        if let control = self.servers.control { try control.carryOut(body) } else { _ = try body() }
    }

    /// Sets the access tokens that operators need from now on.
    func renewTokens(command: String, reader: String?) {
        self.servers.control?.renewTokens(command: command, reader: reader)
    }

    /// Limits the operators' listener to probes, `room:end` and `room:drain`, while viewers of an ended room are still
    /// served.
    func leaveControl() { self.servers.control?.leave() }

    func stopControl() async {
        let control = self.state.withLock { $0.control.take() }
        await control?.stop(within: .seconds(1))
    }

    // MARK: The end

    /// Closes everything except the listeners of operators and viewers.
    func stop() async {
        let servers = self.state.withLock { servers in
            defer {
                let (control, origin) = (servers.control, servers.origin)
                servers = Servers()
                (servers.control, servers.origin) = (control, origin)
            }
            return servers
        }
        for watch in servers.certificates { watch.stop() }
        servers.files?.stop()
        await servers.live?.stop(reason: "the room is over")
        await servers.webRTC?.stop()
    }
}

/// The content of the viewers' listener without low latency: the files that the packager has published.
private struct PublishedContent: OriginContent {
    let packager: HLSPackager
    let hasEnded: @Sendable () -> Bool

    func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void) {
        answer(self.packager.viewerObject(named: request.path).map { .object($0) } ?? .missing)
    }

    var ended: Bool { self.hasEnded() }
}

extension HLSPackager {
    fileprivate func viewerObject(named name: String) -> OriginObject? {
        guard let object = self.object(named: name) else { return nil }
        let body: OriginObject.Body =
            switch object.body {
            case .bytes(let bytes): .bytes(bytes)
            case .file(let path, let size): .file(path: path, size: size)
            }
        return OriginObject(body: body, contentType: object.contentType, cacheControl: object.cacheControl)
    }

    /// The playlists that players request, and how often.
    fileprivate func players(isLowLatency: Bool, _ pipeline: Pipeline) -> PlayerPlaylists {
        let (names, control) = (self.trackPlaylistNames, self.control)
        let whole = self.wholeWindowPlaylistNames
        return PlayerPlaylists(
            video: names.video.union(whole.video), audio: names.audio.union(whole.audio),
            multivariants: Set(pipeline.transports.map { "\($0.outputID)/\($0.multivariantPlaylist)" }),
            target: Int64(control.targetDuration) * 1_000, part: isLowLatency ? control.partTarget : nil,
            whole: whole.video.union(whole.audio), wholeTarget: Int64(self.wholeWindowTargetDuration) * 1_000)
    }

    /// The low-latency content, which receives the live edge from the packager from now on.
    fileprivate func liveContent(
        clock: any SleepClock, _ watched: WatchedRenditions?, _ hasEnded: @escaping @Sendable () -> Bool
    ) -> LiveContent {
        let demand = watched.map { watched in
            LiveContent.Demand(requested: { watched.requested($0) }, isRefusing: { watched.isRefusing })
        }
        let content = LiveContent(
            control: self.control, playlistNames: self.mediaPlaylistNames, clock: clock,
            elsewhere: { self.viewerObject(named: $0) }, demand: demand, ended: hasEnded)
        self.attach { content.publish($0) }
        return content
    }
}

extension ViewerPage.Options {
    /// The page of a room with this HLS output.
    fileprivate init(_ pipeline: Pipeline, _ hls: HLSOutput) {
        self.init(title: pipeline.room.title ?? pipeline.room.roomID)
        self.playlist = hls.multivariantPlaylist
        self.keyURI = hls.encryption?.keyURI
        self.recording = hls.http.recordingURL
        self.embedOrigins = hls.http.embedOrigins
        self.wholeWindow = hls.hasWholeWindowPlaylists ? hls.windowSeconds : nil
        self.still = pipeline.images.first?.fileName
        self.thumbnails = pipeline.images.first { $0.sprites != nil }.map { "\($0.fileName.dropLast(4)).vtt" }
    }
}

extension ControlListenerOptions {
    /// - Parameter content: The content of the viewers' listener; nil if the room has none.
    fileprivate init(_ pipeline: Pipeline, _ settings: RoomSettings, _ content: (any OriginContent)?) {
        self.init()
        self.player = ViewerPage.player
        self.opensReads = pipeline.control.openReads
        self.allowOrigins = pipeline.control.allowOrigins
        self.logs = settings.logs
        self.versions = settings.versions
        self.requestsPerSecond = pipeline.control.maxRequestsPerSecond
        guard let content, let hls = pipeline.hls else { return }
        self.keyOrigin = hls.encryption?.keyURI.flatMap { ViewerPage.origin(of: $0) }
        let responder = OriginResponder(
            content: content, policy: CORSPolicy(allowOrigins: []), page: ViewerPage.Options(title: ""))
        self.media = ControlListenerOptions.Media(isReading: hls.http.signedURLs == nil) { request, answer in
            responder.reply(to: request, answer)
        }
    }
}
