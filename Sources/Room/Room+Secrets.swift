import PublishAuth
import Ingest
import MediaTypes
import Origin
import PipelineSpec
import RoomSources
import Secrets

/// Reads secrets again while the room runs. They apply from the next publisher, request or viewer on.
extension Room {
    /// Reads the secrets of one use again. If they cannot be read, then the old ones stay.
    func reload(_ use: RoomSecretFiles.Use) {
        switch use {
        case .tokens:
            let isRenewed = self.renew("control tokens", refused: "control.tokensRefused") { () throws(MediaError) in
                let (command, reader) = try self.tokens()
                guard let command else { return false }
                self.listeners.renewTokens(command: command, reader: reader)
                return true
            }
            if isRenewed { self.events.emit("control.tokensRenewed", [:]) }
        case .webhooks: self.reloadWebhooks()
        case .keys: self.reloadKeys()
        case .hook:
            let isRenewed = self.renew(
                "secret of the publish webhook", old: "one stays", refused: "ingest.hookSecretRefused"
            ) { () throws(MediaError) in try self.ingestion.reloadHookSecret() }
            if isRenewed { self.events.emit("ingest.hookSecretRenewed", [:]) }
        case .playback:
            let isRenewed = self.renew("secrets of viewers' URLs", refused: "playback.secretsRefused") {
                () throws(MediaError) in
                guard let gate = self.listeners.playback, let secrets = try self.pipeline.playbackSecrets() else {
                    return false
                }
                gate.renew(secrets: secrets)
                return true
            }
            if isRenewed { self.events.emit("playback.secretsRenewed", [:]) }
        case .uploads: self.outputs.uploads.reloadSecrets()
        }
    }

    /// Reads the stream keys and the secrets of signed keys again. If they cannot be read, then the old ones stay.
    package func reloadKeys() {
        guard let server = self.ingest else { return }
        let isRenewed = self.renew("stream keys", refused: "ingest.keysRefused") { () throws(MediaError) in
            // In the turn of the document, so that no other version of it comes between.
            try self.documentTurn.withLock { _ throws(MediaError) in server.renew(try Admission(self.pipeline)) }
            return true
        }
        if isRenewed { self.events.emit("ingest.keysRenewed", [:]) }
    }

    /// Reads secrets again, logs the result, and emits an event if they cannot be read.
    ///
    /// - Parameters:
    ///   - words: What is read, for the log.
    ///   - old: What happens to the old secrets if the new ones cannot be read, for the log.
    ///   - refused: The type of that event.
    ///   - read: Reads and applies the secrets; false if there are none.
    /// - Returns: Whether secrets were read and applied.
    private func renew(
        _ words: String, old: String = "ones stay", refused: String, _ read: () throws(MediaError) -> Bool
    ) -> Bool {
        do throws(MediaError) {
            guard try read() else { return false }
            self.logger.info("\(words) read again")
            return true
        } catch {
            self.logger.warning("\(words) not read again, the old \(old)", metadata: ["error": "\(error)"])
            self.events.emit(refused, ["reason": .string(error.what), "fix": .string(error.fix)])
            return false
        }
    }

    /// The operators' tokens: the one for commands and the one for reading.
    ///
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` if both are the same.
    func tokens() throws(MediaError) -> (command: String?, reader: String?) {
        let control = self.pipeline.control
        let command = try control.token?.resolved(place: "control")
        let reader = try control.readToken?.resolved(place: "control")
        guard command == nil || command != reader else {
            throw MediaError(
                .rejected, "the read token is the same as the token for commands", at: "control",
                fix: "write another token in control.readTokenFile or control.readTokenEnv")
        }
        return (command, reader)
    }
}
