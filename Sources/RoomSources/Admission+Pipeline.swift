package import PublishAuth
import Ingest
package import MediaTypes
package import PipelineSpec
import Secrets

extension Admission {
    /// The rules for admitting publishers in a pipeline. Reads the stream keys and the secrets of signed keys.
    ///
    /// - Throws: The errors of ``PipelineSpec/Pipeline/streamKeys()``.
    package init(_ pipeline: Pipeline) throws(MediaError) {
        let ingest = pipeline.ingest
        self.init(app: ingest.rtmp.app, bindings: try pipeline.streamKeys())
        self.allowedAddresses = ingest.allowedAddresses
        let publishers = Set(
            pipeline.sources.filter { if case .rtmp = $0.input { true } else { false } }.map(\.id))
        if let auth = ingest.auth {
            var check = SignedKeyCheck(
                form: auth.type, secrets: try auth.secret?.lines(place: "ingest.auth") ?? [],
                room: pipeline.room.roomID, app: ingest.rtmp.app)
            check.skew = Int64(auth.maxSkewSeconds)
            check.validity = Int64(auth.validSeconds)
            self.signed = check
            self.isSingleUse = auth.singleUse
            self.signable = publishers
        }
        if ingest.onPublish != nil { self.open = publishers.subtracting(self.bindings.map(\.source)) }
    }
}

extension Pipeline {
    /// The stream keys of all sources, including those in files and environment variables.
    ///
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` if a key is still a placeholder such as
    ///   `CHANGE_ME`, or if two sources have the same key, since a publisher with that key could be either.
    package func streamKeys() throws(MediaError) -> [IngestBinding] {
        var bindings: [IngestBinding] = []
        var owners: [String: SourceID] = [:]
        for source in self.sources {
            guard case .rtmp(let secrets) = source.input else { continue }
            for secret in secrets {
                for key in try secret.lines(place: "source[\(source.id)]") {
                    if let owner = owners[key], owner != source.id {
                        throw MediaError(
                            .rejected, "has the same stream key as source[\(owner)]", at: "source[\(source.id)]",
                            fix: "give each source its own stream key")
                    }
                    owners[key] = source.id
                    bindings.append(IngestBinding(source: source.id, streamKey: key))
                }
            }
        }
        return bindings
    }

    /// The client of the webhook that admits or rejects publishers; nil if the pipeline has no such webhook.
    ///
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` if the URL or the secret is still a
    ///   placeholder such as `CHANGE_ME`.
    func publishHook() throws(MediaError) -> PublishWebhookClient? {
        guard let settings = self.ingest.onPublish else { return nil }
        try Secret.refusePlaceholder(settings.url, in: "the URL", place: "ingest.onPublish")
        let secret = try settings.secret?.resolved(place: "ingest.onPublish")
        return PublishWebhookClient(
            hook: PublishWebhook(form: settings.form, secret: secret), url: settings.url,
            timeout: Int64(settings.timeoutMs) * 1_000_000,
            onFailure: settings.onFailure == .allow ? .allow : .deny)
    }
}
