package import PipelineSpec

/// The files of secrets a room follows, by what they are for: which of them are others than those that were read.
///
/// Made before the first of them is read: what changes between that and the first look is seen by the look.
package struct RoomSecretFiles: Sendable {
    /// What secrets are for.
    package enum Use: CaseIterable, Sendable {
        /// Operators' tokens.
        case tokens
        /// What events are signed with.
        case webhooks
        /// Stream keys, and what signed ones are made with.
        case keys
        /// What questions to the publish webhook are signed with.
        case hook
        /// What viewers' URLs are signed with.
        case playback
        /// What stores know the room by.
        case uploads
    }

    private var files: [Use: SecretFiles] = [:]

    package init(_ pipeline: Pipeline) {
        for use in Use.allCases { _ = self.haveChanged(use, in: pipeline) }
    }

    /// Whether files of a use have changed since the last call for it. Called before they are read again.
    package mutating func haveChanged(_ use: Use, in pipeline: Pipeline) -> Bool {
        self.files[use, default: SecretFiles()].haveChanged(Self.secrets(for: use, in: pipeline))
    }

    private static func secrets(for use: Use, in pipeline: Pipeline) -> [Secret?] {
        switch use {
        case .tokens: return [pipeline.control.token, pipeline.control.readToken]
        case .webhooks: return pipeline.control.events.map(\.secret)
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
