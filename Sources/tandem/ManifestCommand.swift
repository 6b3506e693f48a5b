import ArgumentParser
import Manifest
import PipelineSpec
import CapacityPlan

struct ManifestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manifest",
        abstract: "Print the files that an orchestrator needs to run a room: Kubernetes, Docker Swarm, systemd, Nomad.",
        discussion: """
            The pipeline is included without its secrets: stream keys are replaced by references to the orchestrator's
            store of secrets. The requests for cores and memory are what `tandem plan` estimates. Without --out only the
            first file is printed.

            For Kubernetes the file names a Secret, and begins with the command that creates it. The room waits until the
            Secret exists, and applying the file again does not change it:

                tandem manifest room.json --for k8s \\
                    --image registry.example/tandem:1 > room.yaml
                head -20 room.yaml
                kubectl apply -f room.yaml

            With --with-secret the Secret is in the file, each value as REPLACE-ME. A room with such a placeholder does not
            start (exit 65).

                tandem manifest room.json --for swarm --storage /srv/rooms --out stack
                tandem manifest room.json --for systemd --out /etc
            """)

    enum Engine: String, ExpressibleByArgument, CaseIterable { case k8s, swarm, systemd, nomad }

    @Argument(help: "The pipeline file; - is standard input.")
    var pipeline: String

    @Option(name: .customLong("for"), help: "The orchestrator to print files for.")
    var engine: Engine

    @Option(help: "The container image.")
    var image: String = "localhost/tandem:latest"

    @Option(
        help:
            "Shared storage: a claim (k8s) or directory (swarm, nomad). Without it, files are lost with the room."
    )
    var storage: String?

    @Option(
        help: ArgumentHelp(
            "Kubernetes: the Secret that the room reads (default: the name of the Job).", valueName: "name"))
    var secret: String?

    @Flag(help: "Kubernetes: print the Secret as well, with REPLACE-ME as each value.")
    var withSecret = false

    @Flag(help: "Kubernetes: do not restart a room whose pipeline cannot run (podFailurePolicy).")
    var failFast = false

    @Option(help: ArgumentHelp("Write all files to this directory.", valueName: "directory"))
    var out: String?

    @Option(name: .long, help: ArgumentHelp("Override a value of the file, repeatable.", valueName: "path=value"))
    var set: [String] = []

    @Option(help: "Number of viewers at the room's own listener.")
    var viewers: Int = 0

    @Option(help: ArgumentHelp("File with a measurement by `tandem plan --calibrate`.", valueName: "file"))
    var calibration: String?

    func validate() throws {
        guard (0...1_000_000).contains(self.viewers) else {
            throw ValidationError("--viewers \(self.viewers): give 0 to 1000000")
        }
        guard self.engine == .k8s || self.secret == nil && !self.withSecret else {
            throw ValidationError(
                "--secret and --with-secret are for k8s; files for \(self.engine) only name secrets")
        }
        if let name = self.secret {
            // A DNS subdomain name, as Kubernetes requires it.
            guard (1...253).contains(name.utf8.count), name.utf8.allSatisfy(Self.isNameByte),
                !"-.".contains(name.first ?? "-"), !"-.".contains(name.last ?? "-")
            else {
                throw ValidationError("--secret \(name): write lowercase letters, digits, - and .")
            }
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7a, 0x2d, 0x2e: true
        default: false
        }
    }

    func run() throws {
        let bytes = try PipelineLoading.read(self.pipeline)
        let (pipeline, overrides) = try PipelineLoading.check(bytes, file: self.pipeline, set: self.set)
        guard let document = Pipeline.document(bytes, overrides: overrides) else {
            throw ExitStatus.pipelineInvalid.code
        }
        let model = CostModel(try CalibrationFile.read(self.calibration), viewers: self.viewers)
        var request = ManifestRequest(pipeline: pipeline, document: document, cost: model.cost(of: pipeline))
        request.image = self.image
        request.storage = self.storage
        request.failsFast = self.failFast
        request.secretName = self.secret
        request.printsSecret = self.withSecret
        let files =
            switch self.engine {
            case .k8s: KubernetesManifest.files(request)
            case .swarm: SwarmManifest.files(request)
            case .systemd: SystemdManifest.files(request)
            case .nomad: NomadManifest.files(request)
            }
        let placeholders = files.reduce(0) { $0 + ManifestRequest.placeholders(in: $1.text) }
        if placeholders > 0 {
            StandardError.write(
                "note: \(placeholders) secrets are REPLACE-ME in this manifest. Fix: insert them before applying it; a room "
                    + "with a placeholder does not start (exit 65)\n")
        }
        guard let directory = self.out else {
            if let first = files.first { try StandardOutput.write(first.text) }
            let others = files.dropFirst().map(\.name)
            if !others.isEmpty {
                StandardError.write("not shown: \(others.joined(separator: ", ")); use --out to write all files\n")
            }
            return
        }
        for file in files {
            let path = "\(directory)/\(file.name)"
            guard FileBytes.makeDirectories(above: path), FileBytes.write(file.text, toFile: path) else {
                StandardError.write(
                    "\(path) cannot be written. Fix: check that \(directory) can be written and has space\n")
                throw ExitStatus.cannotCreate.code
            }
            try StandardOutput.write("\(path)\n")
        }
    }
}
