import PublishAuth
import Control
import LibAV
import MediaTypes
import Origin
import Packager
import PipelineSpec
import Push
import RoomSources
import Threading
import TLSFiles

/// The room's sockets, open from ``Room/startListeners()`` until ``stop(isHandedOver:)``. They are part of
/// ``RoomState``. Code that calls a server must release the room's value first.
struct RoomListeners {
    struct Servers: Sendable {
        var live: LiveOutputs?
        var origin: OriginServer?
        /// Viewers' requests wait while the worker is about to publish; `nil` for an offline job.
        var gate: StartupGate?
        var control: ControlServer?
        var certificates: [CertificateWatch] = []
        var files: PollingThread?
        /// Whether the files must be checked as soon as they are watched.
        var isLookDue = false
        /// Verifies the URLs of viewers; `nil`: everybody may watch.
        var playback: SignedURLVerifier?
    }

    fileprivate let room: Room

    private var servers: Servers { self.room.value.withLock(\.servers) }

    private func changeServers<Result: Sendable>(_ body: (inout Servers) -> Result) -> Result {
        self.room.value.withLock { body(&$0.servers) }
    }

    func update(_ change: (inout Servers) -> Void) { self.changeServers(change) }

    var playback: SignedURLVerifier? { self.servers.playback }

    var viewerConnections: Int { self.servers.origin?.connectionCount ?? 0 }

    /// Reads the certificate files now. Blocks.
    func reloadCertificates() {
        for watch in self.servers.certificates { watch.reload() }
    }

    /// The certificates of the listeners.
    var certificates: [CertificateStore] { self.servers.certificates.map(\.store) }

    /// Checks the room's files now, or as soon as they are watched.
    func tellFiles() {
        let looks = self.changeServers { servers in
            if servers.files == nil { servers.isLookDue = true }
            return servers.files
        }
        looks?.tell()
    }

    /// Sets the thread that watches the files from now on.
    func follow(by looks: PollingThread) {
        let isDue = self.changeServers { servers in
            servers.files = looks
            defer { servers.isLookDue = false }
            return servers.isLookDue
        }
        if isDue { looks.tell() }
    }

    /// Changes the room's document without a command; `body` returns whether it has changed it.
    func carryOut(_ body: () throws(ControlFailure) -> Bool) throws(ControlFailure) {
        if let control = self.servers.control { try control.carryOut(body) } else { _ = try body() }
    }

    /// Sets the tokens that operators need from now on.
    func renewTokens(command: String, reader: String?) {
        self.servers.control?.renewTokens(command: command, reader: reader)
    }

    /// Answers viewers' requests that waited for the first segment.
    func openGate() { self.servers.gate?.open() }

    /// Lets viewers' requests wait until ``openGate()``.
    func holdGate() { self.servers.gate?.hold() }

    /// Closes everything except the listeners of operators and viewers.
    ///
    /// - Parameter isHandedOver: Whether a successor takes over the publishers.
    func stop(isHandedOver: Bool) async {
        let (servers, connections) = self.room.value.withLock { value in
            defer {
                let (control, origin) = (value.servers.control, value.servers.origin)
                value.servers = Servers()
                (value.servers.control, value.servers.origin) = (control, origin)
                value.sources.connections = SourceConnections()
            }
            return (value.servers, value.sources.connections)
        }
        for watch in servers.certificates { watch.stop() }
        servers.files?.stop()
        await servers.live?.stop(reason: "the room is over")
        await connections.stop(isHandedOver: isHandedOver)
    }

    /// Whether viewers can connect.
    var hasViewers: Bool { self.servers.origin != nil }
    /// Nanoseconds since a viewer last requested a playlist; `nil`: none has.
    var sinceViewersRequest: Int64? { self.servers.origin?.sinceRequest }

    /// Closes the viewers' listener.
    func stopViewers() async {
        let origin = self.changeServers { $0.origin.take() }
        await origin?.stop()
    }

    /// Limits the operators' listener to probes and the request to end the lingering, while viewers of an ended room
    /// are still served.
    func leaveControl() { self.servers.control?.leave() }

    func stopControl() async {
        let control = self.changeServers { $0.control.take() }
        await control?.stop(within: .seconds(1))
    }
}

/// The content of the viewers' listener: what the packager has published, nothing else.
private struct PublishedContent: OriginContent {
    let packager: HLSPackager
    let room: Room

    func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void) {
        answer(self.packager.viewerObject(named: request.path).map { .object($0) } ?? .missing)
    }

    var ended: Bool { self.room.state == .closed }
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

    /// The live edge, attached to this packager from the start.
    fileprivate func liveContent(of room: Room) -> LiveContent {
        let content = LiveContent(
            control: self.control, playlistNames: self.mediaPlaylistNames, clock: room.machine,
            elsewhere: { self.viewerObject(named: $0) }, ended: { room.state == .closed })
        self.attach { content.publish($0) }
        return content
    }
}

extension Room {
    var listeners: RoomListeners { RoomListeners(room: self) }

    /// Opens the listeners of the pipeline, if ``RoomSettings/opensListeners``; the servers behind them are made in any
    /// case.
    ///
    /// - Throws: ``MediaError/Code/bindFailed``, and errors of secrets that cannot be read.
    func startListeners() async throws(MediaError) {
        self.restoration.restoreRefusals()
        self.restoration.restoreGraces()
        self.alarms.restore(self.value.withLock(\.resumption.state.alarms))
        self.restoration.restorePK()
        // Only if the next worker finds the room's directory.
        if let directory = self.pipeline.hls?.path, !self.isOffline {
            self.refusing.recallCrashes(inDirectory: directory)
        }
        self.overload.recall(isContinued: self.packager?.hasPublishedBefore == true)
        let admission = try Admission(self.pipeline)
        if !admission.sources.isEmpty {
            let configuration = try self.ingestion.configuration(admission) { settings throws(MediaError) in
                try self.openCertificates(settings, place: "rtmps")
            }
            for (name, address) in try await self.ingestion.start(configuration) { self.note(name, address) }
        }
        if !self.isOffline {
            try self.ingestion.openPulls()
            try self.relaying.start()
            self.restoration.restoreRelays()
        }
        try self.startPushes()
        var playable: (any OriginContent)?
        if self.settings.opensListeners, let packager = self.packager, let hls = self.pipeline.hls,
            let listen = hls.http.listen
        {
            let http = hls.http
            var content: any OriginContent =
                hls.lowLatency
                ? packager.liveContent(of: self) : PublishedContent(packager: packager, room: self)
            playable = content
            if self.outputStages.slate != nil || packager.opening != nil {
                let gate = StartupGate(content, isOpen: self.outputStages.slate == nil, clock: self.machine)
                content = gate
                self.listeners.update { $0.gate = gate }
            }
            let gate = try self.pipeline.playbackGate(wall: self.clocks.wall)
            let origin = try await OriginServer.start(
                listen: listen, content: content,
                allowOrigins: http.allowOrigins, roomTitle: self.pipeline.room.title ?? self.pipeline.room.roomID,
                gate: gate, live: http.flv ? self.live?.outputs : nil,
                playlist: hls.multivariantPlaylist, keyURI: hls.encryption?.keyURI,
                certificates: try self.openCertificates(http.tls, place: "viewer"), connections: http.maxConnections,
                connectionsPerAddress: http.maxConnectionsPerAddress, logger: self.logger)
            self.listeners.update {
                $0.origin = origin
                $0.playback = gate
            }
            self.note("viewer", origin.boundAddress)
        }
        if self.settings.opensListeners, !self.isOffline {
            let (token, readToken) = try self.tokens()
            var doors = self.controlDoors(playable)
            doors.readToken = readToken
            let control = try await ControlServer.start(
                listen: self.pipeline.control.listen, token: token, room: self, doors: doors, logger: self.logger)
            self.listeners.update { $0.control = control }
            self.note("control", control.boundAddress)
            self.followFiles()
        }
    }

    func note(_ name: String, _ address: String) {
        self.value.withLock { $0.lifecycle.addresses.append((name, address)) }
    }

    /// Emits the first event, with the addresses of the listeners.
    func announceReady() {
        func address(_ name: String) -> JSONValue { JSONValue(self.address(name)) }
        let viewer = self.address("viewer")
        let playlist = viewer.map { "\($0)/\(self.pipeline.hls?.multivariantPlaylist ?? "index.m3u8")" }
        self.events.emit(
            "room.ready",
            [
                "rtmp": address("rtmp"), "rtmps": address("rtmps"), "srt": address("srt"), "viewer": JSONValue(viewer),
                "playlist": JSONValue(playlist),
                "control": address("control"), "scene": .string(self.program.scene.sceneID),
                "played": .bool(self.wasPlayed),
            ])
        LibAV.releaseStartPages()
    }
}
