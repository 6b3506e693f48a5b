import CapacityPlan
import Foundation
import MediaTypes
import PipelineSpec
import Testing

@Suite("Rooms at once: machines, traffic and money")
struct RoomsAtOnceTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func pipeline(_ outputs: String = "", sources: String = "") throws -> Pipeline {
        let report = Pipeline.parse(
            """
            { "room": { "roomId": "1" }, "sources": [
              { "uid": "a", "streamKey": "k1"\(sources) }, { "uid": "b", "streamKey": "k2" } ],
              "renditions": [ { "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2500000 } },
                { "name": "480p", "width": 854, "height": 480, "video": { "bitrate": 1200000 } },
                { "name": "360p", "width": 640, "height": 360, "video": { "bitrate": 700000 } } ],
              "scenes": [{ "sceneId": "pk", "layout": "sideBySide", "uids": ["a", "b"] }],
              "outputs": [{ "path": "out" }\(outputs)] }
            """)
        return try #require(report.pipeline, "\(report.text(file: "test"))")
    }

    private static func machine(
        _ name: String, cores: Int64, gib: Int64 = 1_024, mbits: Int64 = 1_000_000, _ price: Double? = nil
    )
        -> PriceList.Machine
    {
        PriceList.Machine(
            name: name, size: Fleet.Size(millicores: cores * 1_000, memory: gib << 30, network: mbits * 1_000_000),
            perHour: price)
    }

    /// A room of one core, 1 GiB and 10 Mbit/s.
    private static func answer(
        _ machines: [PriceList.Machine], rooms: Int = 500, minutes: Int = 60, pipeline: Pipeline? = nil
    ) throws -> RoomsAtOnce {
        var cost = CostModel().cost(of: try Self.pipeline())
        // Peak figures have 17 % on top.
        cost.stages = [RoomCost.Stage("all", 1_000_000_000 * 100 / CostCoefficients.peakPercent)]
        (cost.memoryBytes, cost.ingressBitsPerSecond, cost.egressBitsPerSecond) = (1 << 30, 4_000_000, 6_000_000)
        (cost.viewers, cost.windowBytes) = (2, 1 << 20)
        #expect(cost.peakMillicores == 1_000)
        return RoomsAtOnce(
            rooms: rooms, minutes: minutes, cost: cost, pipeline: try pipeline ?? Self.pipeline(),
            prices: PriceList(machines: machines))
    }

    @Test("the scarcest resource decides how many rooms at once a machine runs; spare machines are added")
    func machines() throws {
        let answer = try Self.answer([
            Self.machine("cores", cores: 16), Self.machine("memory", cores: 64, gib: 12),
            Self.machine("network", cores: 64, mbits: 85), Self.machine("small", cores: 1, gib: 1, mbits: 9),
        ])
        #expect(answer.fits.map(\.roomsPerMachine) == [16, 12, 8, 0])
        #expect(answer.fits.map(\.limit) == ["cores", "memory", "network", "network"])
        // 500 / 16 = 31.25, 500 / 12 = 41.7, 500 / 8 = 62.5.
        #expect(answer.fits.map(\.machines) == [33, 43, 64, 0])
        #expect(answer.best?.machine.name == "cores")
        var many = answer
        (many.rooms, many.spare) = (512, 3)
        #expect(many.fits.first?.machines == 35)
        #expect(try Self.answer([Self.machine("small", cores: 1, gib: 1, mbits: 9)]).best == nil)
    }

    @Test(
        "for rooms at once the cheapest machines are chosen and billed for the whole time; a missing price leaves the total unknown"
    )
    func money() throws {
        let record = #", { "type": "record", "path": "rec" }"#
        var answer = try Self.answer(
            [
                Self.machine("large", cores: 32, 2.0), Self.machine("small", cores: 8, 0.4),
                Self.machine("free?", cores: 99),
            ],
            minutes: 90, pipeline: Self.pipeline(record))
        // 17 machines for 3.00 each, or 64 for 0.60.
        #expect(answer.fits.map(\.price) == [51.0, 64 * 0.4 * 1.5, nil])
        #expect(answer.best?.machine.name == "small")
        #expect(answer.bill.total == nil && answer.perRoomHour == nil && answer.bill.cdn == 0)
        #expect(answer.text.contains("?") && answer.text.contains("A price that is not known"))
        answer.prices.egressPerGB = 0.01
        answer.prices.storagePerGBMonth = 0.03
        answer.keptDays = 60
        let (sent, recorded) = (Double(answer.sentBytes) / 1e9, Double(answer.recordedBytes) / 1e9)
        let total = try #require(answer.bill.total)
        #expect(abs(total - (38.4 + sent * 0.01 + recorded * 0.06)) < 1e-6)
        #expect(abs(try #require(answer.perRoomHour) - total / 750) < 1e-9)
        answer.cdnViewers = 1_000
        #expect(answer.bill.total == nil)
        answer.prices.cdnPerGB = 0.002
        answer.prices.currency = "EUR"
        #expect(answer.bill.total ?? 0 > total && answer.text.contains(" EUR"))
        #expect(!answer.text.contains("A price that is not known"))
    }

    @Test("traffic and recordings of rooms at once follow from the average bit rates, the number of rooms and the time")
    func traffic() throws {
        // Two viewers of 720p with audio (128 kbit/s), and 3 % for the container.
        let perViewer: Int64 = (2_500_000 + 128_000) * 103 / 100
        let plain = try Self.answer([Self.machine("m", cores: 16)], rooms: 10, minutes: 30)
        #expect(plain.traffic.perViewer == perViewer && plain.traffic.sent == 0 && plain.recordedBytes == 0)
        #expect(plain.sentBytes == 10 * 2 * perViewer / 8 * 1_800)
        #expect(plain.traffic.received == 2 * (2_048_000 + 65_536) && plain.windowBytes == 10 << 20)
        let relayed = try Self.pipeline(
            #", { "type": "rtmp", "outputId": "cdn", "url": "rtmp://cdn.example/live/k" }, { "type": "http", "outputId": "o", "url": "http://o.example/1" }"#,
            sources: #", "relays": [{ "relayId": "r", "url": "rtmp://other.example/live/k" }]"#)
        let ladder: Int64 = (2_500_000 + 1_200_000 + 700_000 + 128_000) * 103 / 100
        #expect(AverageTraffic(relayed).sent == 2_048_000 + 65_536 + perViewer + ladder)
        let recorded = AverageTraffic(
            try Self.pipeline(#", { "type": "record", "path": "rec", "renditions": ["720p"] }"#))
        #expect(recorded.recorded == (2_500_000 + 1_200_000 + 700_000 + 128_000 + 2_628_000) * 103 / 100)
    }

    /// A committed result of `make bench`.
    private static func result(_ name: String) throws -> JSONNode {
        let bytes = try Data(contentsOf: Self.root.appendingPathComponent("benchmarks/results/\(name).json"))
        return try #require(JSONParser.parse(Array(bytes), limit: 16 << 20).root)
    }

    private static func double(_ node: JSONNode?) -> Double? {
        switch node?.content {
        case .integer(let number)?: Double(number)
        case .number(let number)?: number
        default: nil
        }
    }

    @Test(
        "the computed traffic of a viewer is within 4 % of the measured bytes in four results of the reference job"
    )
    func measuredBytes() throws {
        var count = 0
        for name in ["2026-11-22-8143d38", "2026-11-23-8066d1e", "2026-11-23-e776dd2", "2026-11-24-d4928eb9"] {
            let run = try #require(
                try Self.result(name)[key: "r1"]?[key: "runs"]?.array?.first { $0[key: "side"]?.string == "ours" })
            let bytes = try #require(run[key: "bytes"])
            let (video, audio) = (try #require(bytes[key: "720p"]?.integer), try #require(bytes[key: "audio"]?.integer))
            // Twenty seconds of the highest rendition, as a viewer loads it.
            let planned = AverageTraffic(try Self.pipeline()).perViewer * 20 / 8
            #expect(abs(planned - video - audio) * 100 <= (video + audio) * 4, "\(name): \(planned), \(video + audio)")
            count += 1
        }
        #expect(count == 4)
    }

    @Test(
        "planned rooms per machine equal those a benchmark ran without late frames; planned memory is above the measured"
    )
    func measuredRooms() throws {
        let live = try #require(try Self.result("2026-11-22-8143d38")[key: "live"])
        let pipeline = try Self.pipeline()
        let cost = CostModel().cost(of: pipeline)
        let answer = RoomsAtOnce(
            rooms: 500, minutes: 60, cost: cost, pipeline: pipeline,
            prices: PriceList(machines: [Self.machine("the benchmark's", cores: 2)]))
        let inRealTime = try #require(live[key: "roomsInRealTime"]?.integer)
        #expect(answer.fits.first?.roomsPerMachine == Int(inRealTime), "\(cost.peakMillicores)")
        // Two rooms at once, without late frames, on a machine that also ran their publishers.
        let two = try #require(live[key: "rooms"]?.array?.first { $0[key: "rooms"]?.integer == inRealTime })
        #expect(two[key: "late"]?.integer == 0)
        let each = try #require(Self.double(two[key: "roomCores"])) / Double(inRealTime)
        #expect(abs(Double(cost.meanMillicores) / 1_000 - each) < each * 0.15, "\(cost.meanMillicores), \(each)")
        // Half an hour of a PK room.
        let memory = try Self.result("2026-11-23-e776dd2")[key: "live"]?[key: "memory"]?[key: "samples"]?.array?.last
        let mebibytes = try #require(Self.double(memory?.array?.last))
        #expect(Double(cost.memoryBytes >> 20) > mebibytes && mebibytes > 100)
        #expect(Double(cost.memoryBytes >> 20) < mebibytes * 1.5, "\(cost.memoryBytes >> 20), \(mebibytes)")
    }

    @Test(
        "the largest inputs do not overflow the plan for rooms at once, and each of its numbers is in the JSON report")
    func extremes() throws {
        let record = #", { "type": "record", "path": "rec" }"#
        let pipeline = try Self.pipeline(record)
        let cost = CostModel(viewers: RoomsAtOnce.mostViewers).cost(of: pipeline)
        var answer = RoomsAtOnce(
            rooms: RoomsAtOnce.mostRooms, minutes: RoomsAtOnce.mostMinutes, cost: cost, pipeline: pipeline,
            prices: PriceList(
                machines: [Self.machine("m", cores: 1_024, gib: 65_536, mbits: 10_000_000, PriceList.highest)],
                egressPerGB: PriceList.highest, cdnPerGB: PriceList.highest, storagePerGBMonth: PriceList.highest))
        (answer.cdnViewers, answer.keptDays) = (RoomsAtOnce.mostViewers, 36_500)
        let json = try #require(JSONParser.parse(Array(answer.json.text.utf8)).root)
        for key in [
            "rooms", "minutes", "viewers", "cdnViewers", "cpuMillicores", "memoryBytes", "ingressBitsPerSecond",
            "egressBitsPerSecond", "windowBytes", "sentBytes", "cdnBytes", "recordedBytes", "keptDays",
        ] { #expect(json[key: key]?.integer ?? -1 > 0, "\(key)") }
        #expect(json[key: "machines"]?.array?.count == 1 && json[key: "best"]?.string == "m")
        #expect(answer.text.hasPrefix("100000 rooms at once, 8784 h each\n"))
    }

    @Test("the example price list can be read, and says that it is an example")
    func example() throws {
        let file = try Data(contentsOf: Self.root.appendingPathComponent("examples/plan/prices.example.json"))
        let prices = try PriceList(json: Array(file))
        #expect(
            prices.machines.count == 2
                && prices.machines.allSatisfy { $0.name.hasPrefix("example-") && $0.perHour != nil })
        #expect(prices.egressPerGB != nil && prices.cdnPerGB != nil && prices.storagePerGBMonth != nil)
        #expect(String(decoding: file, as: UTF8.self).contains("An example: no provider charges these prices"))
    }

    @Test(
        "a price list with a mistake is refused with an error that has the mistake's location",
        arguments: [
            ("[]", "file"), ("{", "file"), (#"{ "machines": [] }"#, "machines"), (#"{ "prices": 1 }"#, "file.prices"),
            (#"{ "machines": [{ "name": "a", "cores": 0, "memoryGiB": 1, "networkMbits": 1 }] }"#, "machines[0].cores"),
            (
                #"{ "machines": [{ "name": "a", "cores": 1.5, "memoryGiB": 1, "networkMbits": 1 }] }"#,
                "machines[0].cores"
            ),
            (#"{ "machines": [{ "name": "", "cores": 1, "memoryGiB": 1, "networkMbits": 1 }] }"#, "machines[0].name"),
            (
                #"{ "machines": [{ "name": "a", "cores": 1, "memoryGiB": 1, "networkMbits": 1, "price": 1 }] }"#,
                "machines[0].price"
            ),
            (
                #"{ "machines": [{ "name": "a", "cores": 1, "memoryGiB": 1, "networkMbits": 1, "pricePerHour": -1 }] }"#,
                "machines[0].pricePerHour"
            ),
            (
                #"{ "machines": [{ "name": "a", "cores": 1, "memoryGiB": 1, "networkMbits": 1 }], "egressPerGB": "1" }"#,
                "egressPerGB"
            ),
            (
                #"{ "machines": [{ "name": "a", "cores": 1, "memoryGiB": 1, "networkMbits": 1 }], "currency": "pounds sterling" }"#,
                "currency"
            ),
        ])
    func mistakes(text: String, place: String) throws {
        var found: MediaError?
        do { _ = try PriceList(json: Array(text.utf8)) } catch { found = error }
        #expect(found?.code == .invalidData && found?.place == "prices: \(place)", "\(String(describing: found))")
    }

    @Test("in the plan for rooms at once, sums of the largest numbers saturate, in the text and in the JSON report")
    func largest() throws {
        var answer = try Self.answer(
            [Self.machine("m", cores: 16)], rooms: RoomsAtOnce.mostRooms, minutes: RoomsAtOnce.mostMinutes)
        // A million viewers at 200 Mbit/s.
        answer.cost.egressBitsPerSecond = 1_000_000 * 200_000_000
        (answer.cost.viewers, answer.cdnViewers) = (RoomsAtOnce.mostViewers, RoomsAtOnce.mostViewers)
        answer.cost.ingressBitsPerSecond = .max
        (answer.cost.memoryBytes, answer.cost.windowBytes) = (.max, .max)
        answer.cost.stages = [RoomCost.Stage("all", .max)]
        answer.traffic.perViewer = 200_000_000
        #expect(answer.windowBytes == .max && answer.sentBytes == .max)
        #expect(answer.json.text.contains("\"egressBitsPerSecond\":\(Int64.max)"))
        #expect(answer.text.contains("9223372036854.78 Mbit/s"))
        #expect(answer.fits.map(\.machines) == [0])
    }
}
