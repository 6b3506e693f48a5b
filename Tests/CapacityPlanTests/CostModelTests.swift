import MediaTypes
import PipelineSpec
import CapacityPlan
import Testing

@Suite("Cost of a pipeline, computed before start")
struct CostModelTests {
    private static func pipeline(_ more: String = "", scenes: String? = nil) throws -> Pipeline {
        let scenes =
            scenes ?? #"[{ "sceneId": "pk", "layout": "sideBySide", "uids": ["a", "b"] }]"#
        let report = Pipeline.parse(
            """
            { "room": { "roomId": "1" }, "sources": [
              { "uid": "a", "streamKey": "hunter2a" }, { "uid": "b", "streamKey": "hunter2b" } ],
              "scenes": \(scenes), \(more) "outputs": [{ "path": "out" }] }
            """)
        return try #require(report.pipeline, "\(report.text(file: "test"))")
    }

    private static func stage(_ name: String, _ cost: RoomCost) -> Int64 {
        cost.stages.first { $0.name == name }?.nanoseconds ?? -1
    }

    @Test("the reference job's computed stages are within 12 % of the measured ones, and its total within a tenth")
    func reference() throws {
        let video = #""video": { "bFrames": 3, "lookaheadFrames": 10 }"#
        let pipeline = try Self.pipeline(
            """
            "renditions": [ { "name": "720p", "width": 1280, "height": 720, \(video) },
              { "name": "480p", "width": 854, "height": 480, \(video) },
              { "name": "360p", "width": 640, "height": 360, \(video) } ],
            """)
        // benchmarks/results/2026-11-22-8143d38.json: stages, CPU seconds of 20 s.
        let measured: [(String, Int64)] = [
            ("decode", 2403), ("encode[720p]", 8870), ("encode[480p]", 4190), ("encode[360p]", 2329), ("scale", 671),
            ("compose", 204),
        ]
        let cost = CostModel().cost(of: pipeline)
        for (name, milliseconds) in measured {
            let wanted = milliseconds * 50_000
            let planned = Self.stage(name, cost)
            #expect(abs(planned - wanted) * 100 <= wanted * 12, "\(name): \(planned) planned, \(wanted) measured")
        }
        #expect((973...1168).contains(cost.meanMillicores), "\(cost.meanMillicores)")
        #expect(cost.peakMillicores * 100 >= cost.meanMillicores * CostCoefficients.peakPercent - 100)
        #expect(cost.memoryBytes >= 224 << 20 && cost.memoryBytes < 400 << 20, "\(cost.memoryBytes >> 20) MiB")
    }

    @Test("the cost of a hardware encoder is unknown: the rendition counts as encoded by libx264, and a note says so")
    func hardware() throws {
        func cost(_ encoder: String) throws -> RoomCost {
            CostModel().cost(
                of: try Self.pipeline(
                    #""renditions": [{ "name": "a", "width": 640, "height": 360, "video": { "encoder": "\#(encoder)" } }],"#
                ))
        }
        let (software, hardware) = (try cost("libx264"), try cost("h264_vaapi"))
        #expect(software.stages == hardware.stages && software.notes.isEmpty)
        #expect(hardware.notes.count == 1 && hardware.text.contains("the cost of h264_vaapi is unknown: a counts"))
        #expect(hardware.json.text(pretty: true).contains("h264_vaapi"))
    }

    @Test(
        "noise suppression and automatic gain of a source add their cost to that of audio",
        arguments: [
            (#"{ "noiseSuppression": "fft" }"#, 15), (#"{ "noiseSuppression": "model", "noiseModel": "m.rnnn" }"#, 17),
            (#"{ "autoGain": "speech" }"#, 1), (#"{ "noiseSuppression": "fft", "autoGain": "speech" }"#, 16),
            (#"{ "noiseSuppression": "off", "autoGain": "off" }"#, 0),
        ] as [(String, Int64)])
    func audioProcessing(audio: String, millicores: Int64) throws {
        func cost(_ audio: String) throws -> Int64 {
            let report = Pipeline.parse(
                """
                { "room": { "roomId": "1" }, "sources": [ { "uid": "a", "streamKey": "hunter2a"\(audio) } ],
                  "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["a"] }], "outputs": [{ "path": "out" }] }
                """)
            return Self.stage("sound", CostModel().cost(of: try #require(report.pipeline, "\(report.text(file: ""))")))
        }
        let added = try cost(#", "audio": \#(audio)"#) - cost("")
        #expect(abs(added - millicores * 1_000_000) < 100_000, "\(added)")
    }

    @Test("a source that the most expensive scene does not show costs less to decode than one that it shows")
    func hidden() throws {
        let solo = #"[{ "sceneId": "solo", "layout": "solo", "uids": ["a"] }]"#
        let one = Self.stage("decode", CostModel().cost(of: try Self.pipeline(scenes: solo)))
        let both = Self.stage("decode", CostModel().cost(of: try Self.pipeline()))
        #expect(one < both * 6 / 10 && one > both / 2)
    }

    @Test("a pane smaller than its source adds the cost of scaling its pixels; an auto layout decodes all sources")
    func panes() throws {
        let cut = Self.stage("compose", CostModel().cost(of: try Self.pipeline()))
        let scaled = #"[{ "sceneId": "p", "layout": "topBottom", "uids": ["a", "b"] }]"#
        #expect(Self.stage("compose", CostModel().cost(of: try Self.pipeline(scenes: scaled))) >= cut)
        let grid = #"[{ "sceneId": "p", "panes": [{ "uid": "a", "width": 320, "height": 180 }] }]"#
        let small = CostModel().cost(of: try Self.pipeline(scenes: grid))
        let extra = Int64(320 * 180 * 30) * CostCoefficients.reference.scalePerMegapixel / 1_000_000
        #expect(Self.stage("compose", small) == cut + extra)
        let auto = #"[{ "sceneId": "all", "layout": "auto" }]"#
        let everyone = Self.stage("decode", CostModel().cost(of: try Self.pipeline(scenes: auto)))
        #expect(everyone == Self.stage("decode", CostModel().cost(of: try Self.pipeline())))
    }

    @Test("a room at 30 fps costs more than at 15 fps, and each slower preset costs more than the faster one")
    func monotone() throws {
        let slow = try Self.pipeline(#""canvas": { "fps": 15 },"#)
        let fast = try Self.pipeline(#""canvas": { "fps": 30 },"#)
        let model = CostModel()
        #expect(model.cost(of: slow).meanMillicores < model.cost(of: fast).meanMillicores)
        var last: Int64 = 0
        for preset in ["ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow"] {
            let pipeline = try Self.pipeline(
                #""renditions": [{ "name": "v", "width": 1280, "height": 720, "video": { "preset": "\#(preset)" } }],"#)
            let cores = model.cost(of: pipeline).peakMillicores
            #expect(cores > last, "\(preset)")
            last = cores
        }
    }

    @Test(
        "a room's cost while renditions sleep leaves out their scaling and encoding; a room without such renditions has none"
    )
    func asleep() throws {
        func cost(_ word: String, first: String = "always") throws -> RoomCost {
            let renditions = """
                "renditions": [ { "name": "a", "width": 1280, "height": 720, "when": "\(first)" },
                  { "name": "b", "width": 640, "height": 360, "when": "\(word)" } ],
                """
            return CostModel().cost(of: try Self.pipeline(renditions))
        }
        let (always, watched) = (try cost("always"), try cost("watched"))
        #expect(always.asleepMeanMillicores == nil && !always.text.contains("asleep"))
        #expect(always.json[key: "cpuAsleepMillicores"] == nil && always.peakMillicores == watched.peakMillicores)
        let saved = Self.stage("encode[b]", watched) + Self.stage("scale", watched)
        #expect(watched.sleepNanoseconds == saved)
        #expect(try #require(watched.asleepMeanMillicores) < watched.meanMillicores)
        #expect(watched.json[key: "cpuAsleepMillicores"]?.integer == watched.asleepPeakMillicores)
        #expect(watched.text.contains("\nasleep     "))
        let all = try cost("watched", first: "watched")
        let decoded = all.sleepNanoseconds - saved - Self.stage("encode[a]", all)
        let whole = Self.stage("decode", all)
        #expect(decoded > whole * 8 / 10 && decoded < whole, "only key frames are decoded while all renditions sleep")
    }

    @Test("in a room's computed cost, viewers add egress, CPU and memory; a recording adds disk bytes per hour")
    func traffic() throws {
        let plain = CostModel().cost(of: try Self.pipeline())
        let watched = CostModel(viewers: 100).cost(of: try Self.pipeline())
        #expect(plain.egressBitsPerSecond == 0)
        #expect(watched.egressBitsPerSecond == 100 * (2_750_000 + 128_000) * 103 / 100)
        #expect(watched.memoryBytes > plain.memoryBytes && watched.meanMillicores > plain.meanMillicores)
        #expect(plain.ingressBitsPerSecond == 2 * (2_048_000 + 65_536))
        #expect(plain.recordedBytesPerHour == 0 && plain.windowBytes > 0)
        let report = Pipeline.parse(
            """
            { "room": { "roomId": "1" }, "sources": [{ "uid": "a", "streamKey": "hunter2a" }],
              "scenes": [{ "sceneId": "s", "layout": "solo", "uids": ["a"] }],
              "outputs": [{ "path": "out" }, { "type": "record", "path": "rec" }] }
            """)
        let recorded = CostModel().cost(of: try #require(report.pipeline))
        #expect(recorded.recordedBytesPerHour > recorded.windowBytes)
        #expect(recorded.writtenBytesPerHour > recorded.recordedBytesPerHour)
    }

    @Test(
        "in a room's computed cost, RTMP outputs and HTTP stores add egress; an MPEG-TS output more than doubles bytes written"
    )
    func outputs() throws {
        func cost(_ more: String = "") throws -> RoomCost {
            let report = Pipeline.parse(
                """
                { "room": { "roomId": "1" }, "sources": [{ "uid": "a", "streamKey": "hunter2a" }],
                  "scenes": [{ "sceneId": "s", "layout": "solo", "uids": ["a"] }], "outputs": [{ "path": "out" }\(more)] }
                """)
            return CostModel().cost(of: try #require(report.pipeline, "\(report.text(file: "test"))"))
        }
        let plain = try cost()
        let rtmp = #"{ "type": "rtmp", "outputId": "cdn", "url": "rtmp://cdn.example/live/hunter2u" }"#
        let highest: Int64 = (2_750_000 + 128_000) * 103 / 100
        #expect(try cost(", \(rtmp)").egressBitsPerSecond == highest)
        let store = #"{ "type": "http", "outputId": "o", "url": "http://origin.example/1" }"#
        let stored = try cost(", \(store)")
        #expect(stored.egressBitsPerSecond / 8 == plain.writtenBytesPerHour / 3600)
        #expect(stored.meanMillicores == plain.meanMillicores)
        let streams = try cost(#", { "type": "hls", "segmentFormat": "ts", "path": "ts" }"#)
        // Each rendition contains the audio.
        #expect(streams.writtenBytesPerHour > plain.writtenBytesPerHour * 2)
        #expect(streams.windowBytes > plain.windowBytes * 2 && streams.windowBytes < plain.windowBytes * 5 / 2)
        #expect(streams.egressBitsPerSecond == 0)
    }

    @Test(
        "large coefficients, up to 2^63-1, do not overflow the computed cost", arguments: [100_000_000_000, Int64.max])
    func dearest(price: Int64) throws {
        var coefficients = CostCoefficients.reference
        for path: WritableKeyPath<CostCoefficients, Int64> in [
            \.decodePerMegapixel, \.decodePerMegabit, \.scalePerMegapixel, \.composePerMegapixel, \.encodePerMegabit,
            \.networkPerMegabit,
        ] {
            coefficients[keyPath: path] = price
        }
        coefficients.roomPerSecond = 100_000_000_000
        let cost = CostModel(coefficients, viewers: 1_000_000).cost(of: try Self.pipeline())
        #expect(cost.peakMillicores >= cost.meanMillicores && cost.meanMillicores > 1_000_000)
        #expect(cost.text.hasPrefix("cores      ") && cost.json[key: "cpuMillicores"]?.integer == cost.peakMillicores)
        let machine = Fleet.Size(millicores: 1_024_000, memory: .max, network: .max)
        #expect(Fleet(machine: machine, rooms: [Fleet.Size(cost)], roomsPerHour: 1, minutes: 1).plan() == nil)
    }

    @Test("the cost report has cores, viewers and encoders in its text, and millicores of the room and stages in JSON")
    func reports() throws {
        let cost = CostModel(viewers: 3).cost(of: try Self.pipeline())
        #expect(cost.text.hasPrefix("cores      "))
        #expect(cost.text.contains("3 viewers") && cost.text.contains("encode[720p]"))
        #expect(cost.json[key: "cpuMillicores"]?.integer == cost.peakMillicores)
        #expect(cost.json[key: "stageMillicores"]?[key: "encode[360p]"]?.integer ?? 0 > 0)
        #expect(JSONParser.parse(Array(cost.json.text(pretty: true).utf8)).mistakes.isEmpty)
    }
}
