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

/// The room's sockets, open from ``Room/startListeners()`` until ``stop(isHandedOver:)``. They are part of ``RoomState``. Code
/// that calls a server releases the value first.
struct RoomListeners {
    struct Servers: Sendable {
        var live: LiveOutputs?
        var origin: OriginServer?
        /// Viewers' requests wait while the worker is about to publish; `nil` for an offline job.
        var gate: StartupGate?
        var control: ControlServer?
        var certificates: [CertificateWatch] = []
        var files: PollingThread?
        /// Somebody has asked for a look before anybody looked.
        var isLookDue = false
        /// Who may watch; `nil`: anybody.
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

    /// Takes the certificates' files now; blocks.
    func reloadCertificates() {
        for watch in self.servers.certificates { watch.reload() }
    }

    /// Whose certificates are shown now: each listener's.
    var certificates: [CertificateStore] { self.servers.certificates.map(\.store) }

    /// Looks at the files the room runs by now; as soon as they are followed, if they are not yet.
    func tellFiles() {
        let looks = self.changeServers { servers in
            if servers.files == nil { servers.isLookDue = true }
            return servers.files
        }
        looks?.tell()
    }

    /// The files are followed from now on.
    func follow(by looks: PollingThread) {
        let isDue = self.changeServers { servers in
            servers.files = looks
            defer { servers.isLookDue = false }
            return servers.isLookDue
        }
        if isDue { looks.tell() }
    }

    /// Changes the room's document, not by a command; `body` tells whether it has.
    func carryOut(_ body: () throws(ControlFailure) -> Bool) throws(ControlFailure) {
        if let control = self.servers.control { try control.carryOut(body) } else { _ = try body() }
    }

    /// What operators send from now on needs these tokens.
    func renewTokens(command: String, reader: String?) {
        self.servers.control?.renewTokens(command: command, reader: reader)
    }

    /// Lets viewers who came before the first publish have what they ask for.
    func openGate() { self.servers.gate?.open() }

    /// Viewers' requests wait until ``openGate()``.
    func holdGate() { self.servers.gate?.hold() }

    /// Closes what is open but the operators' listener and that of the viewers.
    ///
    /// - Parameter isHandedOver: A successor takes the publishers.
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
    /// Nanoseconds since a viewer asked for a playlist; `nil`: nobody has.
    var sinceViewersRequest: Int64? { self.servers.origin?.sinceRequest }

    /// Closes the viewers' listener.
    func stopViewers() async {
        let origin = self.changeServers { $0.origin.take() }
        await origin?.stop()
    }

    /// The room is over and viewers are served on: the operators' listener answers probes, and takes a request to end that.
    func leaveControl() { self.servers.control?.leave() }

    func stopControl() async {
        let control = self.changeServers { $0.control.take() }
        await control?.stop(within: .seconds(1))
    }
}

/// What the viewers' listener may serve: what the packager has published, nothing else.
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

    /// The live edge, filled by this packager from its beginning on.
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

    /// Opens the listeners the pipeline asks for, if ``RoomSettings/opensListeners``; what is behind them is there in any case.
    ///
    /// - Throws: ``MediaError/Code/bindFailed`` and what the secrets' files say.
    func startListeners() async throws(MediaError) {
        self.resumeRefusals()
        self.resumeGraces()
        self.resumeAlarms()
        self.resumePK()
        // Only a room whose directory the next worker finds.
        if let directory = self.pipeline.hls?.path, !self.isOffline {
            self.refusing.recallCrashes(inDirectory: directory)
        }
        self.recallOverload()
        let admission = try PublishAuth(self.pipeline)
        if !admission.sources.isEmpty {
            let configuration = try self.ingestion.configuration(admission) { settings throws(MediaError) in
                try self.openCertificates(settings, place: "rtmps")
            }
            for (name, address) in try await self.ingestion.start(configuration) { self.note(name, address) }
        }
        if !self.isOffline {
            try self.ingestion.openPulls()
            try self.relaying.start()
            self.resumeRelays()
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

    /// The first event: where everything is.
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
