import Control
import MediaTypes
import PipelineSpec
import Threading

/// The files a room runs by, followed while it runs.
extension Room {
    /// Looks at the pipeline file, if there is one to follow, and at the files of secrets, about once a second from now on.
    func followFiles() {
        let pipeline = self.settings.file.map { file in
            PipelineFileWatch(
                file.path, bytes: file.bytes, take: { bytes throws(ControlFailure) in try self.take(bytes) },
                report: { self.noteFile(file.path, $0) })
        }
        let looks = PollingThread("files", (pipeline: pipeline, secrets: self.settings.secretFiles)) { seen, isTold in
            let asked = self.value.withLock(\.reloads.asked)
            seen.pipeline?.look(isTold: isTold)
            let running = self.pipeline
            for use in RoomSecretFiles.Use.allCases where seen.secrets.haveChanged(use, in: running) || isTold {
                self.reload(use)
            }
            guard isTold else { return }
            self.listeners.reloadCertificates()
            self.noteReloaded(asked)
        }
        self.listeners.follow(by: looks)
    }

    /// Takes everything that stands in files now: pipeline, certificates, tokens, keys, secrets. Returns at once.
    package func reloadFiles() {
        let asked = self.value.withLock { value in
            value.reloads.asked += 1
            return value.reloads.asked
        }
        guard self.isOffline else { return self.listeners.tellFiles() }
        // Nothing but certificates is followed there.
        _ = StageThread("files") {
            self.listeners.reloadCertificates()
            self.noteReloaded(asked)
        }
    }

    private func noteReloaded(_ asked: Int) { self.value.withLock { $0.reloads.done = max($0.reloads.done, asked) } }

    /// Another version of the pipeline file, as `PUT /v1/room` takes it.
    private func take(_ bytes: [UInt8]) throws(ControlFailure) {
        try self.listeners.carryOut { () throws(ControlFailure) in
            try self.writeDocument(bytes, isPatch: false, isDryRun: false, isRequest: false).changed
        }
    }

    /// Most mistakes that are told.
    private static let listed = 16

    /// - Parameter refusal: `nil`: the file is one the room runs by.
    private func noteFile(_ path: String, _ refusal: ControlFailure?) {
        guard let refusal else {
            self.value.withLock { $0.configurationAlarm = nil }
            self.logger.info("the pipeline file is in force again", metadata: ["file": "\(path)"])
            self.events.emit("config.restored", ["file": .string(path)])
            return
        }
        // The room is over: nothing is to be mended any more.
        guard refusal.status != 410 else { return }
        self.value.withLock {
            $0.configurationAlarm = AlarmBook.Alarm(
                "config.invalid", "alert_2", kind: "config", subject: path,
                message: "\(path) is refused, the room runs by the version before: \(refusal.what)")
        }
        self.logger.warning(
            "the pipeline file is refused, the version before stays",
            metadata: ["file": "\(path)", "reason": "\(refusal.what)", "fix": "\(refusal.fix)"])
        let errors = refusal.details.prefix(Self.listed).map { detail -> JSONValue in
            [
                "path": .string(detail.path), "line": JSONValue(detail.line), "column": JSONValue(detail.column),
                "what": .string(detail.what), "fix": .string(detail.fix),
            ]
        }
        self.events.emit(
            "config.invalid",
            [
                "file": .string(path), "code": .string(refusal.code), "reason": .string(refusal.what),
                "fix": .string(refusal.fix), "errors": .array(errors),
            ])
    }
}
