package import MediaTypes
package import PipelineSpec
package import Plan

/// What an engine's files are made from.
package struct ManifestRequest: Sendable {
    /// The room, checked.
    package var pipeline: Pipeline
    /// Its file as it is written, after overrides.
    package var document: JSONNode
    package var cost: RoomCost
    /// Image to run, for engines that run images.
    package var image = "localhost/tandem:latest"
    /// Storage that outlives a machine: a claim's name (Kubernetes), a directory every machine has (Swarm, Nomad). `nil`: the
    /// room's own, which goes with it.
    package var storage: String?
    /// Kubernetes: give up at once on a file that cannot run (`podFailurePolicy`).
    package var failsFast = false

    /// What stands for a secret that the operator puts in; a room that finds it does not start.
    package static let placeholder = "REPLACE-ME"

    /// How many lines of a file hold a placeholder, comments left aside.
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

/// A file for an engine.
package struct ManifestFile: Sendable, Hashable {
    /// Relative; directories between slashes.
    package var name: String
    package var text: String

    package init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }
}

/// What engines share of a room: the portable file and what follows from it.
struct RoomNeeds: Sendable {
    /// A port others connect to.
    struct Port: Sendable, Hashable {
        var name: String
        var number: Int
        var isUDP = false
    }

    let name: RoomName
    let portable: PortablePipeline
    /// The pipeline that the portable file makes.
    let pipeline: Pipeline
    let cost: RoomCost

    /// Where a container finds its pipeline file, where its relative paths begin, and where its images are: not below the
    /// first, because nothing can be mounted in what is mounted read-only.
    static let pipelinePath = "/etc/tandem/pipeline.json"
    static let workingDirectory = "/var/lib/tandem"
    static let filesDirectory = "/etc/tandem-files"
    /// A user without a name or rights.
    static let user: Int64 = 65_532

    init(_ request: ManifestRequest, places: PortablePipeline.Places) {
        self.name = RoomName(request.pipeline.room.roomID)
        self.portable = PortablePipeline(request.document, places: places)
        // What was moved is names and addresses alone, so it still is a pipeline.
        self.pipeline = Pipeline.parse(self.portable.document.text()).pipeline ?? request.pipeline
        self.cost = request.cost
    }

    var pipelineText: String { self.portable.document.text(pretty: true) + "\n" }

    /// Seconds from a request to stop until the engine may kill: what the end of a room may take, and the last part.
    var graceSeconds: Int { (self.pipeline.shutdown.endTimeoutMs + 999) / 1000 + 10 }

    /// Publishers' ports, which must be reached from outside.
    var doors: [Port] {
        let ingest = self.pipeline.ingest
        guard self.pipeline.sources.contains(where: { if case .rtmp = $0.input { true } else { false } }) else {
            return []
        }
        return [
            Self.port("rtmp", ingest.rtmp.listen), Self.port("rtmps", ingest.rtmps?.listen),
            Self.port("srt", ingest.srt?.listen, isUDP: true),
        ].compactMap(\.self)
    }

    /// The viewers' port.
    var viewers: Port? { Self.port("viewers", self.pipeline.hls?.http.listen) }

    /// The control port, where others than this machine may reach it.
    var control: Port? {
        self.pipeline.control.listen.isLoopback ? nil : Self.port("control", self.pipeline.control.listen)
    }

    /// Where a probe inside reaches control.
    var controlAddress: String { self.pipeline.control.listen.url(scheme: "http") }

    private static func port(_ name: String, _ address: ListenAddress?, isUDP: Bool = false) -> Port? {
        guard case .tcp(_, let number)? = address, number > 0 else { return nil }
        return Port(name: name, number: Int(number), isUDP: isUDP)
    }

    /// Directories of outputs that are not below the working directory, with the outputs' ids; a still among the files of
    /// another output needs none of its own.
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
        for still in stills where !directories.contains(where: { "\(still.path)/".hasPrefix("\($0.path)/") }) {
            directories.append(still)
        }
        return directories
    }

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// Mebibytes to ask for, and to be killed at: a room that leaks must not take its neighbors along.
    var memoryMiB: Int64 { (self.cost.memoryBytes + (1 << 20) - 1) >> 20 }
    var memoryLimitMiB: Int64 { self.memoryMiB * 3 / 2 + 128 }

    var secretFiles: [PortableFile] { self.portable.files.filter { $0.kind == .secretFile } }
    var plainFiles: [PortableFile] { self.portable.files.filter { $0.kind == .file } }

    /// Environment variables that hold secrets, each with its file.
    var variables: [(name: String, file: PortableFile)] {
        self.portable.files.compactMap { file in
            if case .secretVariable(let name) = file.kind { (name, file) } else { nil }
        }
    }

    /// The lines every file begins with.
    func head(_ engine: String) -> [String] {
        [
            "Room \(self.pipeline.room.roomID) for \(engine), by `tandem manifest`.",
            "Reckoned: \(self.cost.peakMillicores) millicores (mean \(self.cost.meanMillicores)), "
                + "\(self.memoryMiB) MiB; measured on \(self.cost.machine).",
        ] + self.portable.notes
            + self.doors.filter { $0.number < 1024 }.map {
                "Port \($0.number) (\($0.name)) is one that a user without rights may not open everywhere: take one from 1024 on."
            }
    }
}

extension Pipeline {
    /// What it writes is not bounded by a window: a recording, a playlist that lists everything, raw pictures.
    var growsOnDisk: Bool { self.record != nil || self.hls?.playlistType == .event || !self.raws.isEmpty }
}
