package import Control
import HLS
import Encoding
import LibAV
package import MediaTypes
package import Packager
package import PipelineSpec
import Secrets
package import Upload

/// Uploads copies of the HLS output to other servers (stores).
package struct UploadService: OutputService {
    let host: any OutputsHost

    /// How long a worker that hands the room over waits for its uploads, in seconds.
    private static let drainPatience: Int64 = 5

    /// Makes the uploaders of the pipeline's stores. Each of them receives every new list of files of the packager.
    ///
    /// - Throws: ``MediaError`` if a secret cannot be read, or if a secret or URL is still a placeholder such as
    ///   `CHANGE_ME`.
    package static func open(
        _ pipeline: Pipeline, _ packager: HLSPackager, clock: any MonotonicClock, _ host: @escaping LateHost
    ) throws(MediaError) -> [Uploader] {
        var uploads: [Uploader] = []
        for output in pipeline.uploads {
            let id = output.outputID
            let upload = try self.uploader(
                to: output, packager, connections: packager.mediaPlaylistNames.count, clock: clock,
                slate: { segment, track in
                    host()?.outputs.uploads.slate.flatMap { packager.restamped($0, like: segment, track: track) }
                }
            ) { host()?.outputs.uploads.report($0, of: id) }
            guard let upload else { continue }
            packager.watchListing { upload.list($0) }
            uploads.append(upload)
        }
        return uploads
    }

    /// The uploader of an output; nil for an output that is not a store.
    ///
    /// - Parameters:
    ///   - directory: The files to upload.
    ///   - slate: Makes media that the store lists in place of lost segments; nil if it lists gaps.
    ///   - settling: If the room has ended: the final list of files, and the time to upload the rest in nanoseconds.
    ///     nil while the room continues.
    /// - Throws: ``MediaError`` if a secret cannot be read, or if a secret or URL is still a placeholder such as
    ///   `CHANGE_ME`.
    static func uploader(
        to output: Output, _ directory: any OutputDirectory, connections: Int, clock: any MonotonicClock,
        slate: (@Sendable (Segment, String) -> [UInt8]?)? = nil, settling: (listing: OutputListing, time: Int64)? = nil,
        notify: @escaping @Sendable (UploadNotice) -> Void
    ) throws(MediaError) -> Uploader? {
        guard let (target, method, store) = try self.target(of: output) else { return nil }
        var rules = UploadRules(store)
        if let settling { rules = rules.settling(settling.listing, within: settling.time) }
        let files = OutputFiles(
            directory: directory, outputID: output.outputID, slate: store.onLost == .slate ? slate : nil)
        return Uploader(
            outputID: output.outputID, target: target, method: method, rules: rules, connections: connections,
            files: files, clock: clock, authorities: store.authorities, notify: notify)
    }

    /// The target, HTTP method and rules of a store; nil for an output that is not a store.
    ///
    /// - Throws: ``MediaError`` if a secret cannot be read, or if a secret or URL is still a placeholder such as
    ///   `CHANGE_ME`.
    private static func target(
        of output: Output
    ) throws(MediaError) -> (any UploadTarget, method: String, StoreRules)? {
        let place = "outputs[\(output.outputID)]"
        switch output {
        case .http(let http):
            var authorization: String?
            try Secret.refusePlaceholder(http.url, in: "the URL", place: place)
            if let credentials = http.credentials, let secret = try credentials.secret?.resolved(place: place) {
                authorization =
                    switch credentials.type {
                    case .bearer: "Bearer \(secret)"
                    case .basic: "Basic \(Base64.encode(Array(secret.utf8)))"
                    }
            }
            return (HTTPOrigin(url: http.url, authorization: authorization), http.method.rawValue, http.store)
        case .s3(let bucket):
            let target = S3Bucket(
                endpoint: bucket.endpoint, region: bucket.region, bucket: bucket.bucket, prefix: bucket.prefix,
                pathStyle: bucket.pathStyle, accessKey: try bucket.accessKey?.resolved(place: place) ?? "",
                secretKey: try bucket.secretKey?.resolved(place: place) ?? "",
                sessionToken: try bucket.sessionToken?.resolved(place: place))
            return (target, "PUT", bucket.store)
        default: return nil
        }
    }

    /// Reads the credentials of stores again, since session keys of cloud services expire after hours. If a secret
    /// cannot be read, then the old ones stay in use. If only some of several files have been replaced, then the next
    /// call reads the others.
    package func reloadSecrets() {
        for upload in self.stages.uploads {
            guard let output = self.host.pipeline.uploads.first(where: { $0.outputID == upload.outputID }),
                output.uploadSecrets.contains(where: { $0 != nil })
            else { continue }
            let id = JSONValue.string(upload.outputID)
            do throws(MediaError) {
                guard let (target, _, _) = try Self.target(of: output) else { continue }
                // The call reads the files of all stores; those of this store may be unchanged.
                guard upload.replace(target) else { continue }
                self.logger.info("the secrets of a store were read again", metadata: ["output": "\(upload.outputID)"])
                self.events.emit("output.secretsRenewed", ["outputId": id])
            } catch {
                self.logger.warning(
                    "the secrets of a store cannot be read; the old ones stay in use",
                    metadata: ["output": "\(upload.outputID)", "error": "\(error)"])
                self.events.emit(
                    "output.secretsRefused",
                    ["outputId": id, "reason": .string(error.what), "fix": .string(error.fix)])
            }
        }
    }

    /// Emits an event about a store.
    private func report(_ notice: UploadNotice, of outputID: String) {
        if case .unreachable(let reason) = notice {
            self.logger.warning("an upload fails", metadata: ["output": "\(outputID)", "reason": "\(reason)"])
        }
        self.events.emit(notice, of: outputID)
    }

    /// How the room ends, as far as stores are concerned.
    package enum End: Sendable {
        /// The room has ended; the store must receive everything.
        case ended
        /// A successor continues the uploads where this worker stops.
        case handedOver
        /// This worker has failed, or another worker already serves the room.
        case abandoned
    }

    /// Completes the uploads. When the room has ended, every store must receive the rest until the deadline. When a
    /// successor continues, this waits at most 5 s for uploads that have begun, and the successor uploads the rest.
    ///
    /// - Parameter deadline: Time on the monotonic clock.
    /// - Returns: The error about uploads that the next worker has to finish; nil if there are none.
    package func finish(_ end: End, by deadline: Int64) async -> MediaError? {
        let now = self.machine.now()
        let limit: Int64 =
            switch end {
            case .ended: deadline
            case .handedOver: min(deadline, now &+ Self.drainPatience &* TimeMath.nanoseconds)
            case .abandoned: now
            }
        return await PendingUploads.finish(
            self.stages.uploads, by: limit, isOver: end == .ended, events: self.events)
    }

    /// Black frames for stores that have lost segments. They are encoded when a store first needs them; nil if they
    /// cannot be encoded, so that a gap is listed.
    private var slate: Slate? {
        if let known = self.host.withOutputs(\.uploadSlate) { return known }
        // If two stores need the frames at the same time, then they are encoded twice.
        let made = try? self.encodeSlate()
        self.host.withOutputs { $0.uploadSlate = .some(made) }
        return made
    }

    private func encodeSlate() throws(MediaError) -> Slate? {
        guard let frames = self.stages.packager?.slateFrames else { return nil }
        let canvas = self.host.pipeline.canvas
        return try Slate(nil, frames: frames, width: canvas.width, height: canvas.height, like: self.stages.ladder)
    }

    /// Adds metrics of the stores.
    package func addMetrics(to metrics: inout MetricsText) {
        guard !self.stages.uploads.isEmpty else { return }
        let rows = self.stages.uploads.map { ($0.outputID, $0.statistics) }
        func each(
            _ name: String, _ kind: MetricsText.Kind, _ help: String, _ value: (Uploader.Statistics) -> Int64
        ) {
            metrics.family(name, kind, help)
            for (id, statistics) in rows { metrics.sample(name, ["output": id], value(statistics)) }
        }
        each(
            "tandem_upload_objects_total", .counter, "Uploads that the store has accepted, including playlists.",
            \.taken)
        each("tandem_upload_bytes_total", .counter, "Bytes of the uploads that the store has accepted.", \.bytes)
        each("tandem_upload_failures_total", .counter, "Upload attempts that failed.", \.failed)
        each("tandem_upload_lost_segments_total", .counter, "Segments that the store did not receive in time.", \.lost)
        each(
            "tandem_upload_queue_segments", .gauge, "Media sequence numbers that the store's playlists do not list yet."
        ) { Int64($0.waitingSegments) }
    }
}

extension Pipeline {
    /// The credentials of all stores in the pipeline.
    package var uploadSecrets: [Secret?] { self.uploads.flatMap(\.uploadSecrets) }
}

extension Output {
    /// The credentials of the store; empty for an output that is not a store.
    fileprivate var uploadSecrets: [Secret?] {
        switch self {
        case .http(let http): [http.credentials?.secret]
        case .s3(let bucket): [bucket.accessKey, bucket.secretKey, bucket.sessionToken]
        default: []
        }
    }
}
