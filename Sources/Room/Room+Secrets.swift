import Ingest
import MediaTypes
import Origin
import PipelineSpec
import Secrets

/// Secrets that have taken the place of others, in force from the next publisher or viewer on.
extension Room {
    /// Reads them again. What cannot be read changes nothing.
    func reload(_ use: RoomSecretFiles.Use) {
        switch use {
        case .tokens: self.reloadTokens()
        case .webhooks: self.reloadWebhooks()
        case .keys: self.reloadKeys()
        case .hook: self.reloadHook()
        case .playback: self.reloadPlayback()
        case .uploads: self.outputs.uploads.reloadSecrets()
        }
    }

    private func reloadHook() {
        guard let server = self.listeners.ingest, let secret = self.pipeline.ingest.onPublish?.secret else { return }
        do throws(MediaError) {
            server.replaceHookSecret(try secret.resolved(place: "ingest.onPublish"))
            self.logger.info("secret of the publish webhook read again")
            self.events.emit("ingest.hookSecretRenewed", [:])
        } catch {
            self.logger.warning(
                "secret of the publish webhook not read again, the old one stays", metadata: ["error": "\(error)"])
            self.events.emit(
                "ingest.hookSecretRefused", ["reason": .string(error.what), "fix": .string(error.fix)])
        }
    }

    private func reloadPlayback() {
        guard let gate = self.listeners.playback else { return }
        do throws(MediaError) {
            guard let secrets = try self.pipeline.playbackSecrets() else { return }
            gate.renew(secrets: secrets)
            self.logger.info("secrets of viewers' URLs read again")
            self.events.emit("playback.secretsRenewed", [:])
        } catch {
            self.logger.warning(
                "secrets of viewers' URLs not read again, the old ones stay", metadata: ["error": "\(error)"])
            self.events.emit(
                "playback.secretsRefused", ["reason": .string(error.what), "fix": .string(error.fix)])
        }
    }
}
