import PublishAuth
import PublishEdge
import PipelineSpec
import RTMP
import Testing

@Suite("The publish edge's key directory: where the room of each stream key is")
struct KeyDirectoryTests {
    @Test(
        "a stream key's file is named by the SHA-256 of APP/KEY in hex, without the query; the app's file is read second"
    )
    func names() throws {
        #expect(
            KeyDirectory.name(of: "live/key") == "e2c6902cfa2ce6a34aa29cd2c8ab596db53bd1fcff91c7152d8f561c05081bcc")
        let address = try #require(StreamAddress(app: "live", streamName: "key?e=1&s=2"))
        #expect(
            KeyDirectory.names(of: address) == [
                "e2c6902cfa2ce6a34aa29cd2c8ab596db53bd1fcff91c7152d8f561c05081bcc",
                "304a25a9e4c8a40550c55f639ba73a18267a31db6f5a196b8f56008ed95884a9",
            ], "the query is not part of the name; the app's own file comes second")
    }

    @Test("a stream address of 60 path segments has only eight file names in the key directory")
    func manySegments() throws {
        let address = try #require(
            StreamAddress(app: "a", streamName: (0..<60).map { "\($0)" }.joined(separator: "/")))
        #expect(KeyDirectory.names(of: address).count == 8)
    }

    @Test("a stream key's own file is used before that of its app; without both the key is unknown")
    func order() throws {
        let keys = try TemporaryKeys()
        defer { keys.remove() }
        try keys.write("10.0.0.1:1935 88231-1\n", for: "live/key")
        try keys.write("10.0.0.2:1935", for: "live/")
        let directory = KeyDirectory(path: keys.path)
        func find(_ name: String) throws -> KeyDirectory.Lookup {
            directory.location(KeyDirectory.names(of: try #require(StreamAddress(app: "live", streamName: name))))
        }
        #expect(try find("key") == .found(RoomLocation(host: "10.0.0.1", port: 1935, worker: "88231-1")))
        #expect(try find("other") == .found(RoomLocation(host: "10.0.0.2", port: 1935)))
        keys.delete("live/")
        #expect(try find("other") == .unknown)
    }

    @Test("for a stream key, a damaged file and a missing key directory are failures, not an unknown key")
    func failures() throws {
        let name = KeyDirectory.name(of: "live/key")
        let keys = try TemporaryKeys()
        defer { keys.remove() }
        try keys.write("nowhere", for: "live/key")
        for place in [keys.path, keys.path + "/missing"] {
            guard case .failed = KeyDirectory(path: place).location([name]) else {
                Issue.record("\(place)")
                continue
            }
        }
    }

    @Test(
        "a room's location is HOST:PORT and an optional worker name",
        arguments: [
            ("10.0.0.1:1935", RoomLocation(host: "10.0.0.1", port: 1935)),
            (" room.example:40001  w-2 \n", RoomLocation(host: "room.example", port: 40_001, worker: "w-2")),
            ("[2001:db8::1]:1935\r\n", RoomLocation(host: "2001:db8::1", port: 1935)),
            ("", nil), ("10.0.0.1", nil), ("10.0.0.1:0", nil), ("10.0.0.1:1935 a b", nil), ("unix:/run/x", nil),
            (String(repeating: "a", count: 600) + ":1", nil),
        ] as [(String, RoomLocation?)])
    func location(text: String, location: RoomLocation?) { #expect(RoomLocation(parsing: text) == location) }

    @Test(
        "a room reads the publisher's address from the PROXY header that the edge writes",
        arguments: ["192.0.2.7", "2001:db8::7"])
    func proxyText(source: String) throws {
        let address = try #require(IPAddress(source))
        for target in [IPAddress("10.0.0.1"), IPAddress("2001:db8::1"), nil] {
            let bytes = ProxyText.header(source: address, port: 50_000, target: target, targetPort: 1935)
            guard case .header(let header) = ProxyHeader.read(bytes + [3]) else {
                Issue.record("\(String(decoding: bytes, as: UTF8.self))")
                continue
            }
            #expect(header.source == address && header.port == 50_000 && header.length == bytes.count)
        }
        guard
            case .header(let none) = ProxyHeader.read(
                ProxyText.header(source: nil, port: 0, target: nil, targetPort: 0))
        else {
            Issue.record("unknown source")
            return
        }
        #expect(none.source == nil)
    }
}

@Suite("The publish edge's read pace and metrics")
struct ForwardPaceTests {
    @Test("the edge reads a slow publisher once per read delay, and a fast one at every timer turn of 20 ms")
    func pace() {
        var pace = ForwardPace(number: 7, delay: 100_000_000)
        func due(_ turns: Range<Int>) -> Int { turns.count { pace.isDue(at: $0) } }
        #expect(due(0..<100) == 20, "a turn has 20 ms")
        pace.received(1_000)
        #expect(pace.turns == 5 && due(0..<100) == 20, "a slow publisher waits as long as the delay allows")
        pace.received(250_000)
        #expect(pace.turns == 2, "131,072 bytes arrive in more than two turns")
        pace.received(10_000_000)
        #expect(pace.turns == 1 && due(0..<100) == 100)
        pace.received(0)
        #expect(pace.turns == 5)
        #expect(ForwardPace(number: 1, delay: 1).turns == 1)
    }

    @Test(
        "the edge spreads publishers evenly over the timer turns, also if publisher and turn have the smallest integers as numbers"
    )
    func spread() {
        var perTurn = [Int](repeating: 0, count: 5)
        for number in 0..<100 {
            let pace = ForwardPace(number: number, delay: 100_000_000)
            for turn in 0..<5 where pace.isDue(at: turn) { perTurn[turn] += 1 }
        }
        #expect(perTurn == [Int](repeating: 20, count: 5))
        #expect((0..<5).count { ForwardPace(number: .min, delay: 100_000_000).isDue(at: Int.min + $0) } == 1)
    }

    @Test("the edge's metrics have a counter for every reason for which it closes connections")
    func metrics() {
        var counters = EdgeCounters()
        counters.ends["moved"] = 2
        counters.bytes = 5
        #expect(counters.text.contains("tandem_edge_closed_total{reason=\"moved\"} 2\n"))
        #expect(counters.text.contains("tandem_edge_bytes_total 5\n"))
        for name in EdgeEnd.names { #expect(counters.text.contains("{reason=\"\(name)\"}")) }
        #expect(EdgeEnd.names.contains(EdgeEnd.refused(code: "x").name))
    }
}
