package import PipelineSpec
import Threading

/// The secret files that a room watches, by use. Detects which of them have changed since they were read.
///
/// Must be made before the first secret is read, so that every later change is detected.
package struct RoomSecretFiles: Sendable {
    /// What secrets are used for.
    package enum Use: CaseIterable, Sendable {
        /// Operators' tokens.
        case tokens
        /// Secrets that sign events and stills for moderation.
        case webhooks
        /// Stream keys, and secrets that sign keys.
        case keys
        /// The secret that signs requests to the publish webhook.
        case hook
        /// Secrets that sign viewers' URLs.
        case playback
        /// Credentials of the servers to which the HLS output is uploaded.
        case uploads
    }

    private var versions: [Use: [String: FileVersion?]] = [:]

    package init(_ pipeline: Pipeline) {
        for use in Use.allCases { _ = self.haveChanged(use, in: pipeline) }
    }

    /// Whether files of a use have changed since the last call for that use. Call this before reading them again. A
    /// file that was not named at the last call counts as unchanged, since the command that names it reads it.
    package mutating func haveChanged(_ use: Use, in pipeline: Pipeline) -> Bool {
        var now: [String: FileVersion?] = [:]
        for case .file(let path)? in Self.secrets(for: use, in: pipeline) {
            now.updateValue(FileVersion(path: path), forKey: path)
        }
        let before = self.versions.updateValue(now, forKey: use) ?? [:]
        return now.contains { path, version in before[path].map { $0 != version } ?? false }
    }

    private static func secrets(for use: Use, in pipeline: Pipeline) -> [Secret?] {
        switch use {
        case .tokens: return [pipeline.control.token, pipeline.control.readToken]
        case .webhooks:
            return pipeline.control.events.map(\.secret) + [pipeline.moderation?.stills.webhook?.secret]
        case .keys:
            var secrets: [Secret?] = [pipeline.ingest.auth?.secret]
            for source in pipeline.sources { if case .rtmp(let keys) = source.input { secrets += keys } }
            return secrets
        case .hook: return [pipeline.ingest.onPublish?.secret]
        case .playback: return [pipeline.hls?.http.signedURLs?.secret]
        case .uploads: return pipeline.uploadSecrets
        }
    }
}
