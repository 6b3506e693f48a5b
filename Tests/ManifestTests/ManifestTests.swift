import Manifest
import PipelineSpec
import Testing

@Suite("Manifests for orchestrators")
struct ManifestTests {
    @Test(
        "the manifests of a small and a full room equal the golden files, for each orchestrator",
        arguments: ["k8s", "swarm", "systemd", "nomad"])
    func golden(engine: String) throws {
        let files = try #require(Rooms.engines.first { $0.name == engine }?.files)
        for (name, text) in [("small", Rooms.small), ("full", Rooms.full)] {
            var request = try Rooms.request(text)
            if name == "full" {
                request.storage = engine == "k8s" ? "rooms" : "/srv/rooms"
                request.failsFast = true
            }
            let all = files(request).map { "===== \($0.name)\n\($0.text)" }.joined()
            try expectGolden(all, "\(engine)-\(name).txt")
        }
    }

    @Test("generated manifests contain no secret of the pipeline, but names of variables and files in their place")
    func secrets() throws {
        for (name, files) in Rooms.engines {
            let all = files(try Rooms.request(Rooms.full)).map(\.text).joined()
            #expect(!all.contains("hunter2"), "\(name)")
            for place in ["SIGNING", "HOOK_SECRET", "sources-0-streamkeys", "control-tokenfile"] {
                #expect(all.contains(place), "\(name): \(place)")
            }
            // Chat services have a webhook's secret in its path.
            #expect(all.contains("TANDEM_CONTROL_EVENTS_0_URL") && !all.contains("hooks.example"), "\(name)")
        }
    }

    @Test(
        "the Kubernetes manifest names its Secret and how to create it; a Secret to fill in is printed on request"
    )
    func secretObject() throws {
        var request = try Rooms.request(Rooms.full)
        func text(_ request: ManifestRequest) -> String { KubernetesManifest.files(request).map(\.text).joined() }
        let named = text(request)
        let name = "tandem-room-7-93f8eef8"
        #expect(!named.contains("REPLACE-ME") && !named.contains("kind: Secret\n"))
        #expect(named.contains("#   kubectl create secret generic \(name) \\\n"))
        request.printsSecret = true
        let printed = text(request)
        // Each key of the Secret is in the command, and in the list of the pod or a variable of the container.
        let keys = printed.matches(of: /\n  ([a-z0-9-]+): REPLACE-ME/).map { String($0.output.1) }
        #expect(keys.count == 18 && Set(keys).count == 18 && ManifestRequest.placeholders(in: printed) == 18)
        for key in keys {
            #expect(
                named.contains("--from-file=\(key)\n") || named.contains("--from-file=\(key) ")
                    || named.contains("--from-file=\(key)="))
            #expect(
                named.contains("{key: \(key), path: \(key)}") || named.contains("{name: \(name), key: \(key)}"),
                "\(key)")
        }
        // But for the Secret and the head, both are the same file.
        let rest = try #require(printed.firstRange(of: "---\n")).upperBound
        #expect(named.hasSuffix(printed[rest...]))
        request.secretName = "keys-of-room-7"
        let other = text(request)
        #expect(
            other.contains("secretName: keys-of-room-7\n") && other.contains("{name: keys-of-room-7, key: hook-secret}")
        )
        #expect(other.contains("kind: Secret\nmetadata:\n  name: keys-of-room-7\n"))
    }

    @Test("in every manifest, user info and query of a webhook's URL become REPLACE-ME, with a notice")
    func plainURLs() throws {
        let hook = #""ingest": { "onPublish": { "url": "https://user:hunter2x@hooks.example/pk?token=hunter2h" } },"#
        let text = Rooms.small.replacing(#""sources": ["#, with: "\(hook) \"sources\": [")
        for (name, files) in Rooms.engines {
            let all = files(try Rooms.request(text)).map(\.text).joined()
            #expect(all.contains("https://REPLACE-ME@hooks.example/pk?REPLACE-ME"), "\(name)")
            #expect(!all.contains("hunter2") && all.contains("REPLACE-ME replaces a possible secret"), "\(name)")
        }
    }

    @Test("the pipeline in the manifest is valid and has the same scenes, output paths and renditions")
    func handedOn() throws {
        let streams = Rooms.small.replacing(
            #"{ "path": "out/88231" }"#,
            with: #"{ "path": "out/88231" }, { "type": "hls", "segmentFormat": "ts", "path": "out/88231-ts" }"#)
        for text in [Rooms.small, Rooms.full, streams] {
            let request = try Rooms.request(text)
            let places = PortablePipeline.Places(secrets: "/s", files: "/f", control: "127.0.0.1:8081")
            let portable = PortablePipeline(request.document, places: places)
            let report = Pipeline.parse(portable.document.text())
            let pipeline = try #require(report.pipeline, "\(report.text(file: "portable"))")
            #expect(pipeline.scenes == request.pipeline.scenes)
            #expect(pipeline.outputs.map(\.path) == request.pipeline.outputs.map(\.path))
            #expect(pipeline.renditions == request.pipeline.renditions)
        }
    }

    @Test(
        "in a manifest, RTMP and HTTP listeners on 127.0.0.1 move to 0.0.0.0, port 0 becomes a fixed port, and null stays null"
    )
    func listeners() throws {
        let places = PortablePipeline.Places(secrets: "/s", files: nil, control: "127.0.0.1:8081")
        func portable(_ text: String) throws -> Pipeline {
            let document = PortablePipeline(try Rooms.request(text).document, places: places).document
            return try #require(Pipeline.parse(document.text()).pipeline)
        }
        let small = try portable(Rooms.small)
        #expect(small.ingest.rtmp.listen?.description == "0.0.0.0:1935")
        #expect(small.hls?.http.listen?.description == "0.0.0.0:8080")
        #expect(small.control.listen.description == "127.0.0.1:8081")
        // A listener that names the usual control port gets it.
        let other = try portable(
            Rooms.small.replacing(
                #"{ "path": "out/88231" }"#,
                with: #"{ "path": "out/88231", "http": { "listen": "127.0.0.1:8081" } }"#))
        #expect(other.hls?.http.listen?.description == "0.0.0.0:8081")
        #expect(other.control.listen.description == "127.0.0.1:8082")
        let full = try portable(Rooms.full)
        #expect(full.ingest.rtmp.listen?.description == "0.0.0.0:1935")
        #expect(full.ingest.rtmps?.listen.description == "0.0.0.0:443")
        #expect(full.hls?.http.listen?.description == "0.0.0.0:8090")
        #expect(full.control.listen.description == "0.0.0.0:9100")
        let closed = Rooms.small.replacing(
            #""outputs": [{ "path": "out/88231" }]"#, with: #""outputs": [{ "path": "o", "http": { "listen": null } }]"#
        )
        #expect(try portable(closed).hls?.http.listen == nil)
    }

    @Test("a Kubernetes room that records or has an EVENT playlist gets an emptyDir without size limit or maxDiskBytes")
    func growing() throws {
        func manifest(_ outputs: String) throws -> String {
            let text = Rooms.small.replacing(#""outputs": [{ "path": "out/88231" }]"#, with: #""outputs": \#(outputs)"#)
            return KubernetesManifest.files(try Rooms.request(text)).map(\.text).joined()
        }
        #expect(try manifest(#"[{ "path": "o" }]"#).contains(#"emptyDir: {sizeLimit: "256Mi"}"#))
        for outputs in [
            #"[{ "path": "o" }, { "type": "record", "path": "rec" }]"#, #"[{ "path": "o", "playlistType": "event" }]"#,
        ] {
            #expect(try manifest(outputs).contains("emptyDir: {}\n"), "\(outputs)")
            #expect(try !manifest(outputs).contains("maxDiskBytes"), "\(outputs)")
        }
    }

    @Test(
        "a Kubernetes room's emptyDir limit is the largest of 256 MiB, twice the window and maxDiskBytes, and sets an unset maxDiskBytes"
    )
    func limited() throws {
        func manifest(_ limits: String) throws -> String {
            let text = Rooms.small.replacing(#""sources": ["#, with: "\(limits)\"sources\": [")
            return KubernetesManifest.files(try Rooms.request(text)).map(\.text).joined()
        }
        let usual = try manifest("")
        #expect(usual.contains(#"emptyDir: {sizeLimit: "256Mi"}"#) && usual.contains(#""maxDiskBytes": 268435456"#))
        // An hour of the usual ladder needs more than two gigabytes; the limit is twice the window.
        let text = Rooms.small.replacing(
            #"{ "path": "out/88231" }"#, with: #"{ "path": "out/88231", "windowSeconds": 3600 }"#)
        let request = try Rooms.request(text)
        let mebibytes = (request.cost.windowBytes * 2) >> 20
        #expect(mebibytes > 4_000)
        let long = KubernetesManifest.files(request).map(\.text).joined()
        #expect(long.contains(#"emptyDir: {sizeLimit: "\#(mebibytes)Mi"}"#))
        let own = try manifest(#""limits": { "maxDiskBytes": 1073741824 }, "#)
        #expect(own.contains(#"emptyDir: {sizeLimit: "1024Mi"}"#) && own.contains(#""maxDiskBytes": 1073741824"#))
    }

    @Test("a Swarm stack warns of absolute output paths in the container's memory, but not if --storage is given")
    func memory() throws {
        let said = "is in the container's memory"
        let absolute = Rooms.small.replacing(#""path": "out/88231""#, with: #""path": "/srv/hls/88231""#)
        var request = try Rooms.request(absolute)
        func stack(_ request: ManifestRequest) -> String { SwarmManifest.files(request).map(\.text).joined() }
        #expect(stack(request).contains("# /srv/hls/88231 \(said)"))
        request.storage = "/srv/rooms"
        #expect(!stack(request).contains(said))
        #expect(try !stack(Rooms.request(Rooms.small)).contains(said))
    }

    @Test(
        "the manifest puts a control socket where the orchestrator lets a room create one",
        arguments: ["k8s", "swarm", "systemd", "nomad"])
    func socket(engine: String) throws {
        let text = Rooms.small.replacing(
            #""sources": ["#, with: #""control": { "listen": "unix:/run/rooms/88231.sock" }, "sources": ["#)
        let files = try #require(Rooms.engines.first { $0.name == engine }?.files)
        let all = files(try Rooms.request(text)).map(\.text).joined()
        #expect(!all.contains("/run/rooms"))
        let own = ["systemd": "unix:/run/tandem/88231/control.sock", "nomad": "unix:/alloc/tmp/control.sock"]
        let socket = own[engine] ?? "unix:/tmp/control.sock"
        #expect(all.contains(#""listen": "\#(socket)""#))
        if own[engine] == nil { #expect(all.contains(#"tandem, healthcheck, "\#(socket)""#)) }
    }

    @Test("paths and names inside the pipeline's ext object are copied unchanged and become no files or secrets")
    func free() throws {
        let places = PortablePipeline.Places(secrets: "/s", files: "/f", control: "127.0.0.1:8081")
        let ext = #""ext": { "path": "/shows/42", "hookEnv": "NAME", "logoFile": "a.png" }, "outputs": ["#
        let text = Rooms.small.replacing(#""outputs": ["#, with: ext)
        let portable = PortablePipeline(try Rooms.request(text).document, places: places)
        #expect(portable.files.map(\.name) == ["sources-0-streamkey"])
        #expect(portable.document[key: "ext"]?[key: "path"]?.string == "/shows/42")
        #expect(portable.document[key: "ext"]?[key: "logoFile"]?.string == "a.png")
    }

    @Test("two files of the pipeline with the same name get different names in the manifest")
    func files() throws {
        let places = PortablePipeline.Places(secrets: "/s", files: "/f", control: "127.0.0.1:8081")
        let files = PortablePipeline(try Rooms.request(Rooms.full).document, places: places).files
        let plain = files.filter { $0.kind == .file }
        #expect(Set(plain.map(\.name)).count == 5 && plain.count == 5)
        #expect(Set(files.map(\.name)).count == files.count)
    }

    @Test("manifests quote paths with spaces, % and quotes for systemd and for the shell")
    func spaces() throws {
        let text = Rooms.small.replacing(#""path": "out/88231""#, with: #""path": "/srv/my rooms/100%""#).replacing(
            #""sources": ["#, with: #""canvas": { "bgImages": [{ "path": "my images/it's.png" }] }, "sources": ["#)
        let request = try Rooms.request(text)
        let unit = SystemdManifest.files(request).map(\.text).joined()
        #expect(unit.contains("ReadWritePaths=\"/srv/my rooms/100%%\"\n"))
        let command = KubernetesManifest.files(request).map(\.text).joined()
        #expect(command.contains(#"--from-file=it-s.png='my images/it'\''s.png'"# + "\n"))
    }

    @Test("the manifest copies an image given as a file URL from its path, and its pipeline names the copy")
    func fileURLs() throws {
        let text = Rooms.small.replacing(
            #""sources": ["#, with: #""canvas": { "bgImages": [{ "path": "file:///assets/bg.png" }] }, "sources": ["#)
        let places = PortablePipeline.Places(secrets: "/s", files: "/f", control: "127.0.0.1:8081")
        let portable = PortablePipeline(try Rooms.request(text).document, places: places)
        #expect(portable.files.first { $0.kind == .file }?.origin == "/assets/bg.png")
        #expect(Pipeline.parse(portable.document.text()).pipeline?.canvas.bgImages.map(\.path) == ["/f/bg.png"])
    }

    @Test("deploy/tandem@.service equals the unit that `tandem manifest` prints")
    func unit() throws {
        try expectSame(SystemdManifest.unit, asFile: "deploy/tandem@.service")
    }
}
