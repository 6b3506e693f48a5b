import MediaTypes
import Room
import RoomAPI
import RoomSources
import Synchronization
import Testing

@Suite("Quarantine of sources whose data crashed workers")
struct CrashQuarantineTests {
    static let a = SourceID(uid: "1001")
    static let b = SourceID(uid: "a \"b\"\\", streamType: .sub)
    static let now: Int64 = 1_800_000_000_000

    static func quarantine(_ crashes: [(SourceID, Int64)], now: Int64 = CrashQuarantineTests.now) -> CrashQuarantine {
        let lines = crashes.map { source, ago -> String in
            guard case .object(let members) = CrashQuarantine.mark(source, .h264) else { return "" }
            return JSONValue.object(members + [.init("at", .integer(Self.now - ago))]).text + "\n"
        }
        return CrashQuarantine(Array(lines.joined().utf8), modified: 0, now: now)
    }

    @Test("a crash mark without a time gets the time of its file; crashes are equal after they are written and read")
    func marks() {
        let text = [Self.a, Self.b].map { CrashQuarantine.mark($0, .aac).text + "\n" }.joined()
        let quarantine = CrashQuarantine(Array(text.utf8), modified: Self.now - 5, now: Self.now)
        #expect(
            quarantine.crashes == [
                .init(source: Self.a, codec: "aac", at: Self.now - 5),
                .init(source: Self.b, codec: "aac", at: Self.now - 5),
            ])
        #expect(
            CrashQuarantine(Array(quarantine.text.utf8), modified: 1, now: Self.now) == quarantine, "the times are kept"
        )
        let next = CrashQuarantine(
            Array((quarantine.text + CrashQuarantine.mark(Self.b, .h264).text + "\n").utf8), modified: Self.now + 900,
            now: Self.now + 1000)
        #expect(
            next.quarantined(now: Self.now + 1000) == [
                .init(source: Self.b, codec: "h264", until: Self.now + 900 + CrashQuarantine.term)
            ])
    }

    @Test(
        "a source that crashes workers twice within a minute is refused for five minutes",
        arguments: [
            ([0], nil), ([60_000, 0], 300_000), ([60_001, 0], nil), ([100_000, 50_000, 1], 299_999),
            ([300_000, 290_000], 10_000), ([310_000, 300_000], nil), ([10, 10], 299_990), ([-5, 0], 300_000),
        ] as [([Int64], Int64?)])
    func window(ago: [Int64], left: Int64?) {
        let quarantine = Self.quarantine(ago.map { (Self.a, $0) })
        #expect(quarantine.quarantined(now: Self.now).map(\.until) == (left.map { [Self.now + $0] } ?? []))
    }

    @Test("quarantined sources are reported with their codecs, ordered by uid; a kicked source is not reported")
    func told() {
        let lines = Mutex<[String]>([])
        let events = RoomEvents(roomID: "1", wall: StandingWall()) { line in lines.withLock { $0.append(line) } }
        var refusals = SourceRefusals()
        #expect(refusals.kick(Self.a, until: 1) == .refused)
        refusals.quarantine(SourceID(uid: "3003"), until: 0, codec: "h264")
        refusals.quarantine(SourceID(uid: "2002"), until: 0, codec: "aac")
        refusals.announceQuarantines(events)
        let told = lines.withLock { $0 }
        #expect(told.count == 2 && told.allSatisfy { $0.contains(#""type":"source.quarantined""#) }, "\(told)")
        #expect(told.first?.contains(#""codec":"aac""#) == true && told.first?.contains(#""uid":"2002"#) == true)
        #expect(told.last?.contains(#""codec":"h264""#) == true && told.last?.contains(#""uid":"3003"#) == true)
    }

    @Test("one crash by each of two sources quarantines neither")
    func others() {
        #expect(Self.quarantine([(Self.a, 10), (Self.b, 5)]).quarantined(now: Self.now).isEmpty)
    }

    @Test(
        "damaged lines of the crash file are skipped, and at most 64 crashes and none older than six minutes are kept"
    )
    func damage() {
        let good = CrashQuarantine.mark(Self.a, .h264).text
        for bad in ["", "{", "{\"uid\":7}", "{\"uid\":\"1\",\"streamType\":\"x\"}", "\u{0}", good + good, "[]"] {
            let quarantine = CrashQuarantine(Array("\(bad)\n\(good)\n".utf8), modified: Self.now, now: Self.now)
            #expect(quarantine.crashes.map(\.source) == [Self.a], "\(bad)")
        }
        let long = String(repeating: good + "\n", count: 1_000)
        #expect(CrashQuarantine(Array(long.utf8), modified: Self.now, now: Self.now).crashes.count == 64)
        #expect(Self.quarantine([(Self.a, 361_000)]).crashes.isEmpty)
    }
}

@Suite("Rate limit of reports about refused publishers")
struct RefusalReportsTests {
    @Test("refused publishers of one address cause 20 reports at once, then one a second with the number suppressed")
    func rate() {
        var reports = RefusalReports()
        var told: [Int] = []
        for index in 0..<2_000 {
            if let silent = reports.tell("192.0.2.1:\(1024 + index)", now: Int64(index) * 2_000_000) {
                told.append(silent)
            }
        }
        #expect(told.prefix(20).allSatisfy { $0 == 0 })
        #expect(told.count == 23 && told.reduce(0, +) + told.count > 1_400)
        #expect(reports.tell("[2001:db8::1]:5", now: 4_000_000_000) == 0)
        for index in 0..<10_000 { _ = reports.tell("10.0.\(index >> 8).\(index & 255):1", now: 4_000_000_000) }
        #expect(reports.tell("192.0.2.1:1", now: 5_000_000_000) != nil, "a known address keeps a limit of its own")
    }
}
