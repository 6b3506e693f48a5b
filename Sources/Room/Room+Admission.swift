package import Admission
import Ingest
package import MediaTypes
package import PipelineSpec
import Stages

extension Room {
    /// Who may publish, with all secrets read.
    ///
    /// - Throws: ``MediaError/Code/notReadable``.
    static func admission(_ pipeline: Pipeline) throws(MediaError) -> Admission {
        let ingest = pipeline.ingest
        var admission = Admission(app: ingest.rtmp.app, bindings: try self.streamKeys(of: pipeline))
        admission.allowedAddresses = ingest.allowedAddresses
        let publishers = Set(
            pipeline.sources.filter { if case .rtmp = $0.input { true } else { false } }.map(\.id))
        if let auth = ingest.auth {
            var check = SignedKeyCheck(
                form: SignedKeyCheck.Form(auth.type), secrets: try self.signingSecrets(of: pipeline),
                room: pipeline.room.roomID, app: ingest.rtmp.app)
            check.skew = Int64(auth.maxSkewSeconds)
            check.validity = Int64(auth.validSeconds)
            admission.signed = check
            admission.isSingleUse = auth.singleUse
            admission.signable = publishers
        }
        if ingest.onPublish != nil { admission.open = publishers.subtracting(admission.bindings.map(\.source)) }
        return admission
    }

    /// The webhook that decides on publishers.
    ///
    /// - Throws: ``MediaError/Code/notReadable``.
    func hook() throws(MediaError) -> HookClient? {
        guard let settings = self.pipeline.ingest.onPublish else { return nil }
        try Secret.refusePlaceholder(settings.url, in: "the URL", place: "ingest.onPublish")
        let secret = try settings.secret?.resolved(place: "ingest.onPublish")
        return HookClient(
            hook: PublishHook(form: PublishHook.Form(settings.form), secret: secret), url: settings.url,
            timeout: Int64(settings.timeoutMs) * 1_000_000,
            onFailure: settings.onFailure == .allow ? .allow : .deny)
    }

    /// Reads the keys and secrets that stand in files again. What cannot be read changes nothing.
    package func reloadKeys() {
        guard let server = self.listeners.ingest else { return }
        do throws(MediaError) {
            // With the document, so that no other version of it comes between.
            try self.documentTurn.withLock { _ throws(MediaError) in
                server.renew(try Self.admission(self.pipeline))
            }
            self.logger.info("stream keys read again")
            self.events.emit("ingest.keysRenewed", [:])
        } catch {
            self.logger.warning("stream keys not read again, the old ones stay", metadata: ["error": "\(error)"])
            self.events.emit("ingest.keysRefused", ["reason": .string(error.what), "fix": .string(error.fix)])
        }
    }

    /// The tokens of operators, of those who command and of those who look.
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

    /// Reads the tokens again. What cannot be read changes nothing.
    func reloadTokens() {
        do throws(MediaError) {
            let (command, reader) = try self.tokens()
            guard let command else { return }
            self.listeners.renewTokens(command: command, reader: reader)
            self.logger.info("control tokens read again")
            self.events.emit("control.tokensRenewed", [:])
        } catch {
            self.logger.warning("control tokens not read again, the old ones stay", metadata: ["error": "\(error)"])
            self.events.emit("control.tokensRefused", ["reason": .string(error.what), "fix": .string(error.fix)])
        }
    }

    /// The stream keys of all sources, those in files and environment variables included.
    ///
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` if two sources have the same key, since a
    ///   publisher would then be taken for either.
    package static func streamKeys(of pipeline: Pipeline) throws(MediaError) -> [IngestBinding] {
        var bindings: [IngestBinding] = []
        var owners: [String: SourceID] = [:]
        for source in pipeline.sources {
            guard case .rtmp(let secrets) = source.input else { continue }
            for secret in secrets {
                for key in try secret.lines(place: "source[\(source.id)]") {
                    if let owner = owners[key], owner != source.id {
                        throw MediaError(
                            .rejected, "has the same stream key as source[\(owner)]", at: "source[\(source.id)]",
                            fix: "give each source a stream key of its own")
                    }
                    owners[key] = source.id
                    bindings.append(IngestBinding(source: source.id, streamKey: key))
                }
            }
        }
        return bindings
    }

    static func signingSecrets(of pipeline: Pipeline) throws(MediaError) -> [String] {
        try pipeline.ingest.auth?.secret?.lines(place: "ingest.auth") ?? []
    }
}

extension PublishHook.Form {
    init(_ form: Pipeline.OnPublish.Form) {
        switch form {
        case .srs: self = .srs
        case .nginx: self = .nginx
        case .ome: self = .ome
        }
    }
}

extension SignedKeyCheck.Form {
    init(_ kind: Pipeline.Auth.Kind) {
        switch kind {
        case .hmac: self = .hmac
        case .tencent: self = .tencent
        case .alibaba: self = .alibaba
        }
    }
}

extension Secret {
    /// The secrets it holds, one a line: none is empty, and one is there.
    ///
    /// - Throws: ``MediaError/Code/notReadable``, as ``resolved(place:)`` does, and when there is none.
    func lines(place: String) throws(MediaError) -> [String] {
        let text = try self.resolved(place: place)
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        guard !lines.isEmpty else {
            throw MediaError(
                .notReadable, "\(self) holds no key", at: place, fix: "write one in it, or several, one a line")
        }
        return lines
    }
}
