import Control
import Events
import HLS
import Ladder
import LibAV
import MediaTypes
import Packager
import PipelineSpec
import Secrets
import Upload

extension Room {
    /// Seconds a worker that leaves the room to another gives its stores for what is under way.
    private static let drainPatience: Int64 = 5

    /// The uploaders of the stores a pipeline names; they are told what the packager lists.
    ///
    /// - Parameter slate: See ``uploadSlate``.
    /// - Throws: ``MediaError/Code/notReadable`` for a secret that cannot be read.
    static func makeUploads(
        _ pipeline: Pipeline, _ packager: HLSPackager, clock: any MonotonicClock,
        slate black: @escaping @Sendable () -> Slate?,
        notify: @escaping @Sendable (_ outputID: String, UploadNotice) -> Void
    ) throws(MediaError) -> [Uploader] {
        var uploads: [Uploader] = []
        for output in pipeline.uploads {
            let id = output.outputID
            guard let (target, method, store) = try self.target(of: output) else { continue }
            var slate: (@Sendable (Segment, String) -> [UInt8]?)?
            if store.onLost == .slate {
                slate = { segment, track in
                    black().flatMap { packager.restamped($0, like: segment, track: track) }
                }
            }
            let upload = Uploader(
                outputID: id, target: target, method: method, rules: UploadRules(store),
                connections: packager.mediaPlaylistNames.count,
                files: OutputFiles(directory: packager, outputID: id, slate: slate), clock: clock,
                authorities: store.authorities
            ) { notify(id, $0) }
            packager.watchListing { upload.list($0) }
            uploads.append(upload)
        }
        return uploads
    }

    /// Where an output goes, and what with; `nil` for one that goes nowhere.
    ///
    /// - Throws: ``MediaError/Code/notReadable`` for a secret that cannot be read.
    static func target(
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
    func reloadUploads() {
        for upload in self.uploads {
            guard let output = self.pipeline.uploads.first(where: { $0.outputID == upload.outputID }),
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

    /// What becomes of a store.
    func store(_ outputID: String, did notice: UploadNotice) {
        if case .unreachable(let reason) = notice {
            self.logger.warning("an upload fails", metadata: ["output": "\(outputID)", "reason": "\(reason)"])
        }
        self.events.emit(notice, of: outputID)
    }

    /// Sends what is left. The end of a room is to be seen in every store; a successor goes on where this worker stops.
    ///
    /// - Returns: What this worker owes.
    func finishUploads(_ outcome: RoomOutcome, by deadline: Int64) async -> MediaError? {
        let limit: Int64 =
            switch outcome {
            case .ended: deadline
            case .drained: min(deadline, self.machine.now() &+ Self.drainPatience &* TimeMath.nanoseconds)
            case .failed, .superseded: self.machine.now()
            }
        var isOver = false
        if case .ended = outcome { isOver = true }
        return await UploadDebt.finish(self.uploads, by: limit, isOver: isOver, events: self.events)
    }

    /// Black frames for stores that have lost something, encoded when a store first needs them; `nil` if they cannot be encoded: then
    /// a gap is listed.
    var uploadSlate: Slate? {
        if let known = self.value.withLock(\.output.uploadSlate) { return known }
        // Two stores that need it at the same time encode it twice.
        let made = try? self.codeUploadSlate()
        self.value.withLock { $0.output.uploadSlate = .some(made) }
        return made
    }

    private func codeUploadSlate() throws(MediaError) -> Slate? {
        guard let frames = self.packager?.slateFrames else { return nil }
        let canvas = self.pipeline.canvas
        let black = try PictureCanvas.open(width: canvas.width, height: canvas.height, fill: .black).finish()
        return Slate(frames: frames, tracks: try SlateCoder.code(black, frames: frames, like: self.ladder))
    }

    func addUploads(_ metrics: inout MetricsText) {
        guard !self.uploads.isEmpty else { return }
        let rows = self.uploads.map { ($0.outputID, $0.statistics) }
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
    var members: [JSONValue.Member] {
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
    var uploadSecrets: [Secret?] { self.uploads.flatMap(\.uploadSecrets) }
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
