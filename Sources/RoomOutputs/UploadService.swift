package import Control
import HLS
import Encoding
import LibAV
package import MediaTypes
package import Packager
package import PipelineSpec
import Secrets
package import Upload

/// Copies of the HLS output on other servers.
package struct UploadService: OutputService {
    let host: any OutputsHost

    /// Seconds a worker that leaves the room to another gives its stores for what is under way.
    private static let drainPatience: Int64 = 5

    /// The uploaders of the stores a pipeline names; they are told what the packager lists.
    ///
    /// - Throws: ``MediaError/Code/notReadable`` for a secret that cannot be read.
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

    /// The uploader of an output; nil for one that is no store.
    ///
    /// - Parameters:
    ///   - directory: What it sends.
    ///   - slate: Media that the store lists in place of what it has lost, if it does not list gaps.
    ///   - time: The room is over, and the rest of the listing is to be sent in so many nanoseconds; nil: the room goes on.
    /// - Throws: ``MediaError/Code/notReadable`` for a secret that cannot be read.
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

    /// Where an output goes, and what with; `nil` for one that goes nowhere.
    ///
    /// - Throws: ``MediaError/Code/notReadable`` for a secret that cannot be read.
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

    /// Reads the secrets of stores again: keys of a service's sessions are good for some hours. What cannot be read changes
    /// nothing; where one of several files is another already, the next look takes the others.
    package func reloadSecrets() {
        for upload in self.stages.uploads {
            guard let output = self.host.pipeline.uploads.first(where: { $0.outputID == upload.outputID }),
                output.uploadSecrets.contains(where: { $0 != nil })
            else { continue }
            let id = JSONValue.string(upload.outputID)
            do throws(MediaError) {
                guard let (target, _, _) = try Self.target(of: output) else { continue }
                // A look is at the files of all stores.
                guard upload.replace(target) else { continue }
                self.logger.info("secrets of a store read again", metadata: ["output": "\(upload.outputID)"])
                self.events.emit("output.secretsRenewed", ["outputId": id])
            } catch {
                self.logger.warning(
                    "secrets of a store cannot be read, the old ones stay",
                    metadata: ["output": "\(upload.outputID)", "error": "\(error)"])
                self.events.emit(
                    "output.secretsRefused",
                    ["outputId": id, "reason": .string(error.what), "fix": .string(error.fix)])
            }
        }
    }

    /// Reports what becomes of a store.
    private func report(_ notice: UploadNotice, of outputID: String) {
        if case .unreachable(let reason) = notice {
            self.logger.warning("an upload fails", metadata: ["output": "\(outputID)", "reason": "\(reason)"])
        }
        self.events.emit(notice, of: outputID)
    }

    /// How the room ends for its stores.
    package enum End: Sendable {
        /// The room is over.
        case ended
        /// A successor goes on where this worker stops.
        case handedOver
        /// This worker has failed, or another one serves the room already.
        case abandoned
    }

    /// Sends what is left. The end of a room is to be seen in every store; a successor goes on where this worker stops.
    ///
    /// - Returns: What the next worker has to finish.
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

    /// Black frames for stores that have lost something, encoded when a store first needs them; `nil` if they cannot be encoded: then
    /// a gap is listed.
    private var slate: Slate? {
        if let known = self.host.withOutputs(\.uploadSlate) { return known }
        // Two stores that need it at the same time encode it twice.
        let made = try? self.encodeSlate()
        self.host.withOutputs { $0.uploadSlate = .some(made) }
        return made
    }

    private func encodeSlate() throws(MediaError) -> Slate? {
        guard let frames = self.stages.packager?.slateFrames else { return nil }
        let canvas = self.host.pipeline.canvas
        return try Slate(nil, frames: frames, width: canvas.width, height: canvas.height, like: self.stages.ladder)
    }

    /// Adds the samples of the stores.
    package func addMetrics(to metrics: inout MetricsText) {
        guard !self.stages.uploads.isEmpty else { return }
        let rows = self.stages.uploads.map { ($0.outputID, $0.statistics) }
        func each(
            _ name: String, _ kind: MetricsText.Kind, _ help: String, _ value: (Uploader.Statistics) -> Int64
        ) {
            metrics.family(name, kind, help)
            for (id, statistics) in rows { metrics.sample(name, ["output": id], value(statistics)) }
        }
        each("tandem_upload_objects_total", .counter, "Objects a store has taken.", \.taken)
        each("tandem_upload_bytes_total", .counter, "Their bytes.", \.bytes)
        each("tandem_upload_failures_total", .counter, "Attempts that failed.", \.failed)
        each("tandem_upload_lost_segments_total", .counter, "Segments that were not taken in time.", \.lost)
        each("tandem_upload_queue_segments", .gauge, "Segments that wait.") { Int64($0.waitingSlots) }
    }
}

extension Uploader {
    /// As the room's document shows it beside the output's id and type.
    package var members: [JSONValue.Member] {
        let statistics = self.statistics
        let state = statistics.isFailing ? "recovering" : statistics.taken > 0 ? "live" : "waiting"
        return [
            .init("target", .string(self.target.shown)), .init("state", .string(state)),
            .init("queuedSegments", JSONValue(statistics.waitingSlots)), .init("objects", .integer(statistics.taken)),
            .init("bytes", .integer(statistics.bytes)), .init("failures", .integer(statistics.failed)),
            .init("lostSegments", .integer(statistics.lost)),
        ]
    }
}

extension Pipeline {
    /// What stores know this room by.
    package var uploadSecrets: [Secret?] { self.uploads.flatMap(\.uploadSecrets) }
}

extension Output {
    /// What the store knows this room by; none of what is no store.
    fileprivate var uploadSecrets: [Secret?] {
        switch self {
        case .http(let http): [http.credentials?.secret]
        case .s3(let bucket): [bucket.accessKey, bucket.secretKey, bucket.sessionToken]
        default: []
        }
    }
}
