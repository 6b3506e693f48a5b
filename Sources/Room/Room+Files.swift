import Control
import RoomAPI
import Threading

/// Watches the room's files while it runs.
extension Room {
    /// Starts checking the pipeline file, if it is watched, and the files of secrets, about once a second.
    func followFiles() {
        let pipeline = self.settings.file.map { file in
            PipelineFileWatch(
                file.path, bytes: file.bytes, take: { bytes throws(ControlFailure) in try self.take(bytes) },
                report: { self.document.noteFile(file.path, $0) })
        }
        let looks = PollingThread("files", (pipeline: pipeline, secrets: self.settings.secretFiles)) { seen, isTold in
            let asked = self.value.withLock(\.api.reloads.asked)
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

    /// Reads all files again: pipeline, certificates, tokens, keys, secrets. Returns at once.
    package func reloadFiles() {
        let asked = self.value.withLock { value in
            value.api.reloads.asked += 1
            return value.api.reloads.asked
        }
        guard self.isOffline else { return self.listeners.tellFiles() }
        // An offline job reloads only certificates.
        _ = StageThread("files") {
            self.listeners.reloadCertificates()
            self.noteReloaded(asked)
        }
    }

    private func noteReloaded(_ asked: Int) {
        self.value.withLock { $0.api.reloads.done = max($0.api.reloads.done, asked) }
    }

    /// Applies another version of the pipeline file, like `PUT /v1/room`.
    private func take(_ bytes: [UInt8]) throws(ControlFailure) {
        try self.listeners.carryOut { () throws(ControlFailure) in
            try self.document.write(bytes, isPatch: false, isDryRun: false, isRequest: false).changed
        }
    }
}
