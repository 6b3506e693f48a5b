import Foundation
import Manifest
import PipelineSpec
import Testing

/// Kustomize itself and the schemas of Kubernetes judge these files in `make test-kubernetes`.
@Suite("Files in deploy/kubernetes: well-formed, and consistent with what `tandem manifest` writes")
struct KubernetesFilesTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("deploy/kubernetes")
    /// Every YAML file below ``root``, relative to it.
    private static let files: [String] = {
        let all = FileManager.default.enumerator(atPath: Self.root.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix(".yaml") }.sorted()
    }()
    private static let roomPaths: [String] = Self.files.filter { $0.hasSuffix("/room.yaml") }.map {
        Self.directory(of: $0)
    }

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    private static func text(_ path: String) throws -> String {
        try String(decoding: Data(contentsOf: Self.root.appendingPathComponent(path)), as: UTF8.self)
    }

    private static func documents(_ path: String) throws -> [[String: String]] {
        do { return try YAMLReader.documents(try Self.text(path)) } catch let error as YAMLReader.Malformed {
            Issue.record("\(path), \(error)")
            return []
        }
    }

    /// The objects of hand-written files, with their file.
    private static func written() throws -> [(path: String, object: [String: String])] {
        try Self.files.filter { !$0.hasSuffix("/room.yaml") }.flatMap { path in
            try Self.documents(path).map { (path, $0) }
        }
    }

    /// The objects of the Kubernetes manifest for a pipeline.
    private static func manifest(_ text: String) throws -> [[String: String]] {
        try YAMLReader.documents(KubernetesManifest.files(try Rooms.request(text)).map(\.text).joined())
    }

    @Test("every YAML file in deploy/kubernetes is well-formed and in a kustomization, whose resources exist")
    func files() throws {
        #expect(Self.files.count >= 20 && Self.roomPaths.count >= 3)
        for path in Self.files {
            let documents = try Self.documents(path)
            for document in documents {
                #expect(document["apiVersion"] != nil && document["kind"] != nil, "\(path): \(document.keys)")
            }
            guard path.hasSuffix("/kustomization.yaml") else {
                let kustomization = try #require(
                    try Self.documents("\(Self.directory(of: path))/kustomization.yaml").first)
                let name = path.split(separator: "/").last.map(String.init)
                #expect(
                    kustomization.contains { $0.key.hasPrefix("resources[") && $0.value == name },
                    "\(path) is in no kustomization")
                continue
            }
            for document in documents {
                for (key, value) in document where key.hasPrefix("resources[") || key.hasPrefix("components[") {
                    let file = Self.root.appendingPathComponent(Self.directory(of: path)).appendingPathComponent(value)
                    let target = value.hasSuffix(".yaml") ? file : file.appendingPathComponent("kustomization.yaml")
                    #expect(FileManager.default.fileExists(atPath: target.path), "\(path): \(value) does not exist")
                }
            }
        }
    }

    @Test(
        "the room.yaml of each room is what `tandem manifest` writes for its pipeline", arguments: Self.roomPaths)
    func rooms(directory: String) throws {
        var request = try Rooms.request(try Self.text("\(directory)/pipeline.json"))
        request.image = Self.image
        let command = try Self.text("\(directory)/kustomization.yaml").split(separator: "\n").first ?? ""
        #expect(command.hasPrefix("# tandem manifest pipeline.json --for k8s"), "\(command)")
        if command.contains("--storage rooms") { request.storage = "rooms" }
        let text = KubernetesManifest.files(request).map(\.text).joined()
        try expectSame(text, asFile: "deploy/kubernetes/\(directory)/room.yaml")
    }

    /// The name in all files, so that one entry of `images` replaces all of them.
    private static let image = "localhost/tandem:latest"

    @Test(
        "hand-written Kubernetes objects use a room's image and user, and the spare pod requests a room's CPU and memory"
    )
    func pods() throws {
        let small = try Rooms.request(Rooms.small)
        let usual = ManifestRequest(pipeline: small.pipeline, document: small.document, cost: small.cost)
        #expect(usual.image == Self.image)
        let room = try #require(
            try Self.documents("overlays/numbered-ports/room-88231/room.yaml").first { $0["kind"] == "Job" })
        let requests = room["spec.template.spec.containers[0].resources.requests"] ?? ""
        var images = 0
        for (path, object) in try Self.written() {
            for (key, value) in object where key.hasSuffix("].image") {
                #expect(value == Self.image, "\(path)")
                images += 1
            }
            for (key, value) in object where key.hasSuffix(".runAsUser") || key.hasSuffix(".runAsGroup") {
                // The Jobs of a CronJob are one level below it.
                #expect(value == room[key.replacing("spec.jobTemplate.", with: "")], "\(path)")
            }
            guard object["metadata.name"] == "tandem-spare", object["kind"] == "Deployment" else { continue }
            let own = "spec.template.spec.containers[0].resources.requests"
            let size = "{cpu: \"\(object["\(own).cpu"] ?? "")\", memory: \"\(object["\(own).memory"] ?? "")\"}"
            #expect(size == requests, "\(path)")
        }
        #expect(images == 4)
    }

    @Test("labels and port names that hand-written Kubernetes objects select exist in the rooms' manifests")
    func names() throws {
        let job = try #require(try Self.manifest(Rooms.full).first { $0["kind"] == "Job" })
        let prefix = "spec.template.metadata.labels."
        let labels = Set(job.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
        // A flow map on one line: {name: srt, containerPort: 9000, hostPort: 9000, protocol: UDP}.
        let ports = job.filter { $0.key.hasPrefix("spec.template.spec.containers[0].ports[") }.values
        let isUDP = Dictionary(
            uniqueKeysWithValues: try ports.map { port in
                (String(try #require(port.firstMatch(of: /name: ([a-z]+)/)).output.1), port.contains("protocol: UDP"))
            })
        #expect(Set(isUDP.keys) == ["rtmp", "rtmps", "srt", "viewers", "control"])
        var (selectors, names) = (0, 0)
        for (path, object) in try Self.written() where object["kind"] != "DaemonSet" && object["kind"] != "Deployment" {
            for (key, value) in object {
                if let selected = key.firstRange(of: /(?:matchLabels|podSelector|spec\.selector)\.app/) {
                    selectors += 1
                    let label = String(key[selected.lowerBound...]).replacing(/^[a-zA-Z.]+\.app\./, with: "app.")
                    #expect(labels.contains { $0 == label }, "\(path): \(key)")
                    #expect(!label.hasSuffix("/name") || value == "tandem", "\(path): \(key)")
                }
                if key.hasSuffix(".port") || key.hasSuffix(".targetPort") || key.hasSuffix("port.name") {
                    guard Int(value) == nil else { continue }
                    names += 1
                    let transport = object[key.replacing(/port$/, with: "protocol")]
                    #expect(isUDP[value] == (transport == "UDP"), "\(path): \(key) is \(value)")
                }
            }
        }
        #expect(selectors >= 8 && names >= 7)
    }

    @Test("the Prometheus operator's monitor sets the same labels as deploy/prometheus/kubernetes.yml")
    func monitoring() throws {
        let plain = try Self.text("../prometheus/kubernetes.yml").matches(of: /target_label: ([a-z_]+)/)
            .map { String($0.output.1) }.filter { $0 != "__address__" }
        let monitor = try #require(try Self.documents("base/monitor.yaml").first)
        let labels = monitor.filter { $0.key.hasSuffix(".targetLabel") }.values
        #expect(Set(labels) == Set(plain) && labels.contains("room_id"), "\(labels), not \(plain)")
        for pattern in monitor.filter({ $0.key.hasSuffix(".regex") }).values {
            #expect(try Self.text("../prometheus/kubernetes.yml").contains("regex: \(pattern)\n"), "\(pattern)")
        }
    }

    @Test(
        "the scripts drain and upgrade of deploy/kubernetes wait longer than the grace period of a room's Job",
        arguments: ["drain", "upgrade"])
    func patience(script: String) throws {
        let limit = try #require(try Self.text(script).firstMatch(of: /limit=([0-9]+)\n/)).output.1
        let job = try #require(try Self.manifest(Rooms.small).first { $0["kind"] == "Job" })
        let grace = try #require(job["spec.template.spec.terminationGracePeriodSeconds"].flatMap { Int($0) })
        #expect(try #require(Int(limit)) > grace)
    }

    @Test(
        "the YAML reader of these tests refuses malformed text, duplicate keys and keys without a value",
        arguments: [
            "a: 1\na: 2", "a:\n\tb: 1", "a:\n    b: 1\n  c: 1", "a:", "a: [1", "a: {b: 1", "a: \"b", "a",
            "a:\n- b",
        ])
    func mistakes(text: String) {
        #expect(throws: YAMLReader.Malformed.self) { try YAMLReader.documents(text) }
    }

    @Test("the YAML reader of these tests finds every value by path")
    func reads() throws {
        let text = "a:\n  # c\n  - b: 1\n    c: [d]\n  - e\nf: |\n  g: h\ni: &j\n  k: \"l\"\n---\nm: 1\n"
        #expect(
            try YAMLReader.documents(text) == [
                ["a[0].b": "1", "a[0].c": "[d]", "a[1]": "e", "f": "g: h", "i.k": "l"], ["m": "1"],
            ])
    }
}
