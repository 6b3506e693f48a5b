import LibAV
import MediaTypes
import Origin
package import PipelineSpec
import PublishAuth

extension Room {
    var listeners: RoomListeners {
        RoomListeners(
            state: self.value.part(\.servers), clocks: self.clocks, events: self.events, logger: self.logger)
    }

    /// Reads certificates, secrets and the pipeline file again while the room runs.
    var files: RoomFiles {
        RoomFiles(
            host: self, ingestion: self.ingestion, uploads: self.outputs.uploads, listeners: self.listeners,
            delivery: self.delivery, moderation: self.moderation.get())
    }

    /// Restores the previous worker's state and opens the listeners of the pipeline. If ``RoomSettings/opensListeners``
    /// is false, then no listener is opened.
    ///
    /// - Throws: ``MediaError/Code/bindFailed``, and errors of secrets and certificates that cannot be read.
    func startListeners() async throws(MediaError) {
        self.restoration.restoreRefusals()
        self.restoration.restoreGraces()
        self.alarms.restore(self.value.withLock(\.resumption.state.alarms))
        self.restoration.restorePK()
        // Crash reports are useful only if the next worker finds the room's directory.
        if let directory = self.pipeline.hls?.path, !self.isOffline {
            self.refusing.recallCrashes(inDirectory: directory)
        }
        self.overload.recall(isContinued: self.packager?.hasPublishedBefore == true)
        let admission = try Admission(self.pipeline)
        if !admission.sources.isEmpty {
            let configuration = try self.ingestion.configuration(admission) { settings, place throws(MediaError) in
                try self.listeners.openCertificates(settings, place: place)
            }
            for (name, address) in try await self.ingestion.start(configuration) { self.note(name, address) }
        }
        if !self.isOffline {
            try self.ingestion.openPulls()
            try self.relaying.start()
            self.restoration.restoreRelays()
        }
        try self.startPushes()
        guard self.settings.opensListeners else { return }
        var content: (any OriginContent)?
        if let packager = self.packager {
            let viewers = try await self.listeners.openViewers(
                self.pipeline, packager, live: self.live?.outputs, webRTC: self.outputStages.webRTC,
                watched: self.outputStages.watched, hasSlate: self.outputStages.slate != nil, status: self.viewerStatus
            ) { [value = self.value] in value.withLock(\.lifecycle.state) == .closed }
            if let viewers { self.note("viewer", viewers.address) }
            if let viewers, self.outputStages.webRTC != nil { self.note("whep", "\(viewers.address)/whep") }
            content = viewers?.content
        }
        if self.isOffline { return }
        self.note(
            "control", try await self.listeners.openControl(self, self.settings, self.pipeline, content: content))
        await self.ingestion.openStreams()
        await self.listeners.openStreams()
        self.files.watch(self.settings.file, self.settings.secretFiles)
    }

    private func note(_ name: String, _ address: String) {
        self.value.withLock { $0.lifecycle.addresses.append((name, address)) }
    }

    /// Emits `room.ready` with the addresses of the listeners.
    func announceReady() {
        func address(_ name: String) -> JSONValue { JSONValue(self.address(name)) }
        let viewer = self.address("viewer")
        let playlist = viewer.map { "\($0)/\(self.pipeline.hls?.multivariantPlaylist ?? "index.m3u8")" }
        self.events.emit(
            "room.ready",
            [
                "rtmp": address("rtmp"), "rtmps": address("rtmps"), "srt": address("srt"), "whip": address("whip"),
                "viewer": JSONValue(viewer), "whep": address("whep"),
                "playlist": JSONValue(playlist),
                "control": address("control"),
                "allInterfaces": .array(
                    self.pipeline.wildcardListeners.filter { self.address($0) != nil }.map { .string($0) }),
                "scene": .string(self.program.scene.sceneID),
                "played": .bool(self.wasPlayed),
            ])
        LibAV.releaseStartPages()
    }

    /// Lets another thread read the room's files again; see ``RoomFiles/reload(isOffline:)``. Returns at once.
    package func reloadFiles() { self.files.reload(isOffline: self.isOffline) }
}

extension Pipeline {
    /// Names of the listeners that the document puts on every address of the machine, as in the event `room.ready`.
    package var wildcardListeners: [String] {
        let listeners: [(name: String, listen: ListenAddress?)] = [
            ("rtmp", self.ingest.rtmp.listen), ("rtmps", self.ingest.rtmps?.listen), ("srt", self.ingest.srt?.listen),
            ("whip", self.ingest.webRTC?.listen),
            ("viewer", self.hls?.http.listen), ("control", self.control.listen),
        ]
        return listeners.filter { $0.listen?.isWildcard == true }.map(\.name)
    }
}

extension ListenAddress {
    /// Whether the address stands for every address of the machine.
    fileprivate var isWildcard: Bool {
        if case .tcp(let host, _) = self { host == "0.0.0.0" || host == "::" } else { false }
    }
}
