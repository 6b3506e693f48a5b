package import MediaTypes
package import PipelineSpec
package import CapacityPlan

/// The room and the options for which a manifest is made.
package struct ManifestRequest: Sendable {
    /// The validated pipeline.
    package var pipeline: Pipeline
    /// The pipeline's JSON document as its author wrote it, after overrides.
    package var document: JSONNode
    package var cost: RoomCost
    /// Container image, for orchestrators that run images.
    package var image = "localhost/tandem:latest"
    /// Storage that outlives a machine: the name of a claim (Kubernetes), or a directory on every machine (Swarm,
    /// Nomad); unused by systemd. `nil`: the room has storage of its own, which is deleted with it.
    package var storage: String?
    /// Kubernetes: name of the Secret that the room reads; `nil`: the name of the Job.
    package var secretName: String?
    /// Kubernetes: also print a Secret whose values are ``placeholder``. Applying it replaces the values of an existing
    /// Secret.
    package var printsSecret = false
    /// Kubernetes: do not restart a room whose pipeline cannot run (`podFailurePolicy`).
    package var failsFast = false

    /// Placeholder for a secret that the operator must insert; a room with a placeholder does not start.
    package static let placeholder = "REPLACE-ME"

    /// Returns the number of lines with a ``placeholder``, not counting comments.
    package static func placeholders(in text: String) -> Int {
        text.split(separator: "\n").filter { line in
            line.first { $0 != " " } != "#" && line.contains(self.placeholder)
        }.count
    }

    package init(pipeline: Pipeline, document: JSONNode, cost: RoomCost) {
        self.pipeline = pipeline
        self.document = document
        self.cost = cost
    }
}

/// A generated file.
package struct ManifestFile: Sendable, Hashable {
    /// Path of the file, relative to the directory of all generated files.
    package var name: String
    package var text: String

    package init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }
}

/// Properties of a room that all manifests need: the portable pipeline and values derived from it.
struct RoomDeployment: Sendable {
    /// A port that the room listens on and that others connect to.
    struct Port: Sendable, Hashable {
        var name: String
        var number: Int
        var isUDP = false
    }

    let name: RoomName
    let portable: PortablePipeline
    /// The pipeline parsed from the portable document.
    let pipeline: Pipeline
    let cost: RoomCost

    /// Path of the pipeline file in a container. Images and other files are in another directory, because nothing can
    /// be mounted inside a read-only mount.
    static let pipelinePath = "/etc/tandem/pipeline.json"
    static let workingDirectory = "/var/lib/tandem"
    static let filesDirectory = "/etc/tandem-files"
    /// Id of the user and group that run the room in a container; it has no name and no privileges.
    static let user: Int64 = 65_532

    init(_ request: ManifestRequest, places: PortablePipeline.Places) {
        self.name = RoomName(request.pipeline.room.roomID)
        self.portable = PortablePipeline(request.document, places: places)
        // Only paths, addresses, secrets and the disk limit were changed, so the document is still a valid pipeline.
        self.pipeline = Pipeline.parse(self.portable.document.text()).pipeline ?? request.pipeline
        self.cost = request.cost
    }

    var pipelineText: String { self.portable.document.text(pretty: true) + "\n" }

    /// Seconds from the stop request until the orchestrator may kill: `shutdown.endTimeoutMs`, plus a margin of 10 s.
    var graceSeconds: Int { (self.pipeline.shutdown.endTimeoutMs + 999) / 1000 + 10 }

    /// The ports for publishers and for the media of WebRTC viewers, which must be reachable from outside.
    var ingestPorts: [Port] {
        let ingest = self.pipeline.ingest
        var ingestPorts: [Port?] = []
        var peers = [Self.port("whep", self.pipeline.webRTCOutput?.udp, isUDP: true)]
        var streams = [Self.port("wheptcp", self.pipeline.webRTCOutput?.udp)]
        if self.pipeline.hasPublishers {
            ingestPorts = [
                Self.port("rtmp", ingest.rtmp.listen), Self.port("rtmps", ingest.rtmps?.listen),
                Self.port("srt", ingest.srt?.listen, isUDP: true), Self.port("whip", ingest.webRTC?.listen),
            ]
            peers.insert(Self.port("webrtc", ingest.webRTC?.udp, isUDP: true), at: 0)
            streams.insert(Self.port("icetcp", ingest.webRTC?.udp), at: 0)
        }
        // WebRTC peers whose network blocks UDP connect to the same number by TCP, unless a listener has it.
        let listeners = (ingestPorts + [self.viewers, self.control]).compactMap(\.self)
        var taken = Set(listeners.filter { !$0.isUDP }.map(\.number))
        return
            (ingestPorts
            + zip(peers, streams).flatMap { peer, stream in
                [peer, stream.flatMap { taken.insert($0.number).inserted ? $0 : nil }]
            }).compactMap(\.self)
    }

    /// The port for viewers; nil if the room has no HTTP listener with a fixed port.
    var viewers: Port? { Self.port("viewers", self.pipeline.hls?.http.listen) }

    /// The control port, if it is reachable from other machines.
    var control: Port? {
        self.pipeline.control.listen.isLoopback ? nil : Self.port("control", self.pipeline.control.listen)
    }

    /// Address of the control API for a probe inside the container.
    var controlAddress: String { self.pipeline.control.listen.url(scheme: "http") }

    private static func port(_ name: String, _ address: ListenAddress?, isUDP: Bool = false) -> Port? {
        guard case .tcp(_, let number)? = address, number > 0 else { return nil }
        return Port(name: name, number: Int(number), isUDP: isUDP)
    }

    /// Directories of outputs, clips and recordings of sources that have an absolute path, with names for volumes. A still
    /// image and a recording of a source in the directory of another output need no separate entry.
    var absoluteDirectories: [(path: String, outputID: String)] {
        var directories: [(path: String, outputID: String)] = []
        var stills: [(path: String, outputID: String)] = []
        for output in self.pipeline.outputs {
            if case .hls(let hls) = output, let clips = hls.clipPath, clips.hasPrefix("/") {
                directories.append((clips, "\(hls.outputID)-clips"))
            }
            guard let path = output.path, path.hasPrefix("/") else { continue }
            if case .image = output {
                stills.append((Self.directory(of: path), output.outputID))
            } else {
                directories.append((path, output.outputID))
            }
        }
        let recordings = Set(self.pipeline.sources.compactMap(\.record?.directory)).filter { $0.hasPrefix("/") }
        var count = 0
        for path in recordings.sorted() where !directories.contains(where: { "\(path)/".hasPrefix("\($0.path)/") }) {
            count += 1
            directories.append((path, count == 1 ? "source-recordings" : "source-recordings-\(count)"))
        }
        for still in stills where !directories.contains(where: { "\(still.path)/".hasPrefix("\($0.path)/") }) {
            directories.append(still)
        }
        return directories
    }

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// Memory to request for the room, in MiB. The room is killed at ``memoryLimitMiB``, so that a leak does not affect
    /// other rooms.
    var memoryMiB: Int64 { (self.cost.memoryBytes + (1 << 20) - 1) >> 20 }
    var memoryLimitMiB: Int64 { self.memoryMiB * 3 / 2 + 128 }

    var secretFiles: [PortableFile] { self.portable.files.filter { $0.kind == .secretFile } }
    var plainFiles: [PortableFile] { self.portable.files.filter { $0.kind == .file } }

    /// Environment variables with secrets, each with its file.
    var variables: [(name: String, file: PortableFile)] {
        self.portable.files.compactMap { file in
            if case .secretVariable(let name) = file.kind { (name, file) } else { nil }
        }
    }

    /// Returns the comment lines for the beginning of the manifest.
    func head(_ engine: String) -> [String] {
        [
            "Room \(self.pipeline.room.roomID) for \(engine), generated by `tandem manifest`.",
            "Estimated: \(self.cost.peakMillicores) millicores (mean \(self.cost.meanMillicores)), "
                + "\(self.memoryMiB) MiB; measured on \(self.cost.machine).",
        ] + self.portable.notes
            + self.ingestPorts.filter { $0.number < 1024 }.map {
                "Port \($0.number) (\($0.name)) may need privileges on some machines: choose a port from 1024 on."
            }
    }
}

extension Pipeline {
    /// True if the room's output grows as long as the room runs: a recording, an EVENT playlist, or raw video.
    var growsOnDisk: Bool {
        self.record != nil || self.hls?.playlistType == .event || !self.raws.isEmpty
            || self.sources.contains { $0.record != nil }
    }
}
