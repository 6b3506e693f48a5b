import Control
import Events
import MediaTypes
import PublishAuth
import RoomAPI
import RoomOutputs
import RoomSources
import Threading

/// Reads the room's files again while it runs: certificates, secrets, and the pipeline file if it is watched. New
/// secrets apply from the next publisher, request or viewer on.
struct RoomFiles {
    let host: any DocumentHost
    let ingestion: SourceIngest
    let uploads: UploadService
    let listeners: RoomListeners
    /// Sends the room's events to webhooks; nil if there are none.
    let delivery: EventDelivery?
    /// Sends stills to the moderation webhook; nil if there is none.
    let moderation: ModerationService?

    private var events: RoomEvents { self.host.events }

    // MARK: Changed files

    /// Checks the files about once per second from now on.
    ///
    /// - Parameters:
    ///   - file: The pipeline file; nil if it is not watched.
    ///   - secrets: The versions of the secret files, determined before the first secret was read.
    func watch(_ file: RoomSettings.File?, _ secrets: RoomSecretFiles) {
        let pipeline = file.map { file in
            PipelineFileWatch(
                file.path, bytes: file.bytes, take: { bytes throws(ControlFailure) in try self.take(bytes) },
                report: { DocumentService(self.host).noteFile(file.path, $0) })
        }
        let looks = PollingThread("files", (pipeline: pipeline, secrets: secrets)) { seen, isTold in
            let asked = self.host.withAPI(\.reloads.asked)
            seen.pipeline?.look(isTold: isTold)
            let running = self.host.pipeline
            for use in RoomSecretFiles.Use.allCases where seen.secrets.haveChanged(use, in: running) || isTold {
                self.reload(use)
            }
            if isTold { self.finishReload(asked) }
        }
        self.listeners.follow(by: looks)
    }

    /// Lets another thread read the certificates, tokens, keys and secrets again, and the pipeline file if it is watched.
    /// Returns at once.
    ///
    /// - Parameter isOffline: An offline job reloads only certificates.
    func reload(isOffline: Bool) {
        let asked = self.host.withAPI { state in
            state.reloads.asked += 1
            return state.reloads.asked
        }
        guard isOffline else { return self.listeners.tellFiles() }
        _ = StageThread("files") { self.finishReload(asked) }
    }

    private func finishReload(_ asked: Int) {
        self.listeners.reloadCertificates()
        self.host.withAPI { $0.reloads.done = max($0.reloads.done, asked) }
    }

    /// Applies a new version of the pipeline file, like `PUT /v1/room`, but with the operator's rights to files and servers.
    private func take(_ bytes: [UInt8]) throws(ControlFailure) {
        try self.listeners.carryOut { () throws(ControlFailure) in
            try DocumentService(self.host).write(bytes, isPatch: false, isDryRun: false, isRequest: false).changed
        }
    }

    // MARK: Secrets

    /// Reads the secrets of one use again, and reports if they cannot be used.
    private func reload(_ use: RoomSecretFiles.Use) {
        switch use {
        case .tokens:
            let isRenewed = self.renew("control tokens", refused: "control.tokensRefused") { () throws(MediaError) in
                let (command, reader) = try self.host.pipeline.control.tokens()
                guard let command else { return false }
                self.listeners.renewTokens(command: command, reader: reader)
                return true
            }
            if isRenewed { self.events.emit("control.tokensRenewed", [:]) }
        case .webhooks:
            let isRenewed = self.renew("secrets of webhooks", refused: "webhook.secretsRefused") {
                () throws(MediaError) in
                // The document is locked, so that another thread cannot change it in between. All secrets are read before
                // any are renewed: if one cannot be read, then all old ones stay in force.
                try self.host.holdingDocument { () throws(MediaError) -> Bool in
                    let running = self.host.pipeline
                    let hasSecrets = running.control.events.contains { $0.secret != nil }
                    let delivery = hasSecrets ? self.delivery : nil
                    let webhooks = try delivery == nil ? [] : running.webhooks()
                    let hasModeration = try running.moderation.flatMap { settings throws(MediaError) in
                        try self.moderation?.renew(settings)
                    }
                    delivery?.replace(webhooks)
                    return delivery != nil || hasModeration == true
                }
            }
            if isRenewed { self.events.emit("webhook.secretsRenewed", [:]) }
        case .keys:
            let isRenewed = self.renew("stream keys", refused: "ingest.keysRefused") { () throws(MediaError) in
                guard let server = self.ingestion.connections.ingest else { return false }
                // The document is locked, so that another thread cannot change it in between.
                try self.host.holdingDocument { () throws(MediaError) in
                    server.renew(try Admission(self.host.pipeline))
                }
                return true
            }
            if isRenewed { self.events.emit("ingest.keysRenewed", [:]) }
        case .hook:
            let isRenewed = self.renew(
                "secret of the publish webhook", old: "one stays", refused: "ingest.hookSecretRefused"
            ) { () throws(MediaError) in try self.ingestion.reloadHookSecret() }
            if isRenewed { self.events.emit("ingest.hookSecretRenewed", [:]) }
        case .playback:
            let isRenewed = self.renew("secrets of viewers' URLs", refused: "playback.secretsRefused") {
                () throws(MediaError) in
                guard let gate = self.listeners.playback, let secrets = try self.host.pipeline.playbackSecrets() else {
                    return false
                }
                gate.renew(secrets: secrets)
                return true
            }
            if isRenewed { self.events.emit("playback.secretsRenewed", [:]) }
        case .uploads: self.uploads.reloadSecrets()
        }
    }

    /// Reads secrets again, logs the result, and emits an event if they cannot be read or are rejected.
    ///
    /// - Parameters:
    ///   - words: What is read, for the log line.
    ///   - old: End of the log line if the new secrets cannot be used, after "the old".
    ///   - refused: Type of the event if the secrets cannot be read or are rejected.
    ///   - read: Reads and applies the secrets; returns false if the room has none of this use.
    /// - Returns: Whether secrets were read and applied.
    private func renew(
        _ words: String, old: String = "ones stay", refused: String, _ read: () throws(MediaError) -> Bool
    ) -> Bool {
        do throws(MediaError) {
            guard try read() else { return false }
            self.host.logger.info("\(words) read again")
            return true
        } catch {
            self.host.logger.warning("cannot renew the \(words); the old \(old)", metadata: ["error": "\(error)"])
            self.events.emit(refused, ["reason": .string(error.what), "fix": .string(error.fix)])
            return false
        }
    }
}
