import PublishAuth
import Ingest
import MediaKernels
import MediaTypes
import RTMP
import Testing

@Suite("Source hub: one publisher, many readers")
struct SourceHubTests {
    static let video = CodecParameters(codec: .h264, configuration: [1])
    static let audio = CodecParameters(codec: .aac, configuration: [2])

    static func packet(_ kind: TrackKind, at time: Int64, isKey: Bool = false, bytes: Int = 1) -> SourceItem {
        .packet(
            CodedPacket(
                kind: kind, memory: PacketMemory([UInt8](repeating: 0, count: bytes)), pts: time, dts: time,
                timescale: 1000, isKey: isKey))
    }

    /// One letter per item: C and D configurations, K key frame, v frame, a audio, E end.
    static func letters(_ items: [SourceItem]) -> String {
        items.map { item in
            switch item {
            case .configuration(let parameters): parameters.kind == .video ? "C" : "D"
            case .packet(let packet): packet.kind == .audio ? "a" : packet.isKey ? "K" : "v"
            case .end: "E"
            }
        }.joined()
    }

    static func feed(_ letters: String, to hub: SourceHub) {
        for (index, letter) in letters.enumerated() {
            let time = Int64(index)
            switch letter {
            case "C": hub.receive([.configuration(self.video)])
            case "D": hub.receive([.configuration(self.audio)])
            case "K": hub.receive([self.packet(.video, at: time, isKey: true)])
            case "v": hub.receive([self.packet(.video, at: time)])
            case "a": hub.receive([self.packet(.audio, at: time)])
            default: hub.receive([.end])
            }
        }
    }

    @Test(
        "a later reader starts with the configurations and the last GOP",
        arguments: [
            ("CDKvav", "CDKvav"), ("CDKvavKa", "CDKa"), ("CD", "CD"), ("CDaa", "CD"), ("CDvv", "CD"), ("CDKvE", ""),
            ("CDKvECKv", "CKv"), ("CDKvCv", "CDKvCv"), ("CDKvCvKv", "CDKv"), ("DaaCKa", "CDKa"), ("", ""),
        ])
    func backlog(sent: String, expected: String) {
        let hub = SourceHub(source: SourceID(uid: "u"))
        Self.feed(sent, to: hub)
        let reader = ItemRecorder()
        let token = hub.subscribe(reader)
        #expect(Self.letters(reader.items.elements) == expected)
        hub.receive([Self.packet(.video, at: 99)])
        #expect(Self.letters(reader.items.elements) == expected + "v")
        hub.unsubscribe(token)
        hub.receive([Self.packet(.video, at: 100)])
        #expect(Self.letters(reader.items.elements) == expected + "v", "nothing after unsubscribe")
    }

    @Test("every reader of a source hub gets every item, in order")
    func fanOut() {
        let hub = SourceHub(source: SourceID(uid: "u"))
        let readers = (0..<3).map { _ in ItemRecorder() }
        for reader in readers { _ = hub.subscribe(reader) }
        Self.feed("CDKvavKaE", to: hub)
        for reader in readers { #expect(Self.letters(reader.items.elements) == "CDKvavKaE") }
    }

    @Test("a GOP over ten seconds or 16 MiB is not cached, the next one is")
    func bounds() {
        var cache = GOPCache()
        cache.note(.configuration(Self.video))
        cache.note(Self.packet(.video, at: 0, isKey: true))
        cache.note(Self.packet(.video, at: 10_000))
        #expect(Self.letters(cache.backlog) == "CKv")
        cache.note(Self.packet(.audio, at: 10_001))
        cache.note(Self.packet(.video, at: 10_002))
        #expect(Self.letters(cache.backlog) == "C", "ten seconds")
        // Their memory blocks are up to a fifth larger.
        cache.note(Self.packet(.video, at: 20_000, isKey: true, bytes: 6 << 20))
        cache.note(Self.packet(.video, at: 20_033, bytes: 6 << 20))
        #expect(Self.letters(cache.backlog) == "CKv")
        cache.note(Self.packet(.video, at: 20_066, bytes: 4 << 20))
        #expect(Self.letters(cache.backlog) == "C", "sixteen mebibytes")
        cache.note(Self.packet(.video, at: 20_100, isKey: true))
        #expect(Self.letters(cache.backlog) == "CK")
    }

    @Test("the GOP cache is limited also for tens of thousands of tiny packets with one timestamp")
    func tinyPackets() {
        var cache = GOPCache()
        cache.note(.configuration(Self.video))
        cache.note(Self.packet(.video, at: 0, isKey: true))
        var most = 0
        for index in 0..<100_000 {
            cache.note(Self.packet(.audio, at: 0, bytes: 14))
            if index.isMultiple(of: 4_000) { most = max(most, cache.backlog.count) }
        }
        #expect(Self.letters(cache.backlog) == "C")
        #expect(most > 20_000 && most <= GOPCache.maximumBytes / SourceItem.overhead)
    }

    @Test("if configurations keep changing, the GOP cache keeps the newest, and their size counts against its limit")
    func configurationStorm() {
        var cache = GOPCache()
        cache.note(.configuration(Self.video))
        cache.note(Self.packet(.video, at: 0, isKey: true))
        for index in 0..<100_000 {
            cache.note(.configuration(CodecParameters(codec: .aac, configuration: [UInt8(index & 1)])))
            if index == GOPCache.maximumChanges - 1 { #expect(cache.backlog.count == 34) }
        }
        #expect(Self.letters(cache.backlog) == "CD", "the GOP is dropped, configurations are kept")
        // Four of five mebibytes exceed the limit, although no single packet does.
        cache.note(Self.packet(.video, at: 33, isKey: true))
        for index in 0..<4 {
            cache.note(
                .configuration(
                    CodecParameters(codec: .aac, configuration: [UInt8](repeating: UInt8(index), count: 5 << 20))))
        }
        #expect(Self.letters(cache.backlog) == "CD")
        cache.note(Self.packet(.video, at: 66, isKey: true))
        #expect(Self.letters(cache.backlog) == "CDK")
    }

    @Test("a hub is full while any of its readers is full")
    func full() {
        let hub = SourceHub(source: SourceID(uid: "u"))
        let first = hub.subscribe(ItemRecorder())
        let second = hub.subscribe(ItemRecorder())
        #expect(!hub.isFull)
        hub.setFull(true, for: first)
        hub.setFull(true, for: second)
        hub.setFull(false, for: first)
        #expect(hub.isFull)
        hub.unsubscribe(second)
        #expect(!hub.isFull, "a reader that has left pauses nothing")
    }

    @Test(
        "a later reader without a cached GOP makes the hub request a key frame",
        arguments: [("CDKvav", 0), ("", 1), ("CD", 1), ("CDvv", 1), ("CDKvE", 1)])
    func keyFrameRequest(sent: String, requests: Int) {
        let hub = SourceHub(source: SourceID(uid: "u"))
        let recorder = Recorder<Bool>()
        hub.onKeyFrameRequest { recorder.append(true) }
        Self.feed(sent, to: hub)
        _ = hub.subscribe(ItemRecorder())
        #expect(recorder.elements.count == requests)
        hub.requestKeyFrame()
        #expect(recorder.elements.count == requests + 1)
    }
}

@Suite("Stream keys; readers that accept items later")
struct KeyTableTests {
    static let table = KeyTable(
        app: "live",
        bindings: [
            IngestBinding(source: SourceID(uid: "1"), streamKey: "alpha"),
            IngestBinding(source: SourceID(uid: "2"), streamKey: "beta?sig=xyz"),
            IngestBinding(source: SourceID(uid: "3"), streamKey: "a/b"),
            IngestBinding(source: SourceID(uid: "4"), streamKey: ""),
        ])

    @Test(
        "only the exact stream key, with its app, finds its source",
        arguments: [
            ("live", "alpha", "1"), ("live", "alpha?anything=1", "1"), ("live/alpha", "", "1"),
            ("live", "beta?sig=xyz", "2"),
            ("live/a", "b", "3"), ("live", "beta", nil), ("live", "beta?sig=xyy", nil), ("live", "alph", nil),
            ("live", "alphaa", nil), ("live", "Alpha", nil), ("other", "alpha", nil), ("live", "", nil),
        ] as [(String, String, String?)])
    func lookup(app: String, name: String, uid: String?) throws {
        let address = try #require(StreamAddress(app: app, streamName: name))
        #expect(Self.table.source(of: address)?.uid == uid)
    }

    @Test(
        "descriptions show stream keys only shortened",
        arguments: [
            ("a_7fd1_secret_of_host", "a_7f…"), ("123456789", "123…"), ("abc", "a…"), ("ab", "…"), ("", "…"),
        ])
    func redaction(key: String, shown: String) {
        #expect(RedactedKey(key).description == shown)
    }

    @Test("a source hub allows delayed reads only if all its readers accept items later, or if it has none")
    func patient() {
        let hub = SourceHub(source: SourceID(uid: "u"))
        #expect(hub.isPatient, "it has no readers")
        let decoder = hub.subscribe(ItemRecorder())
        #expect(!hub.isPatient, "it has not allowed it")
        hub.setPatient(true, for: decoder)
        hub.setPatient(true, for: decoder)
        #expect(hub.isPatient)
        let relay = hub.subscribe(ItemRecorder())
        #expect(!hub.isPatient)
        hub.unsubscribe(relay)
        #expect(hub.isPatient)
        hub.setPatient(false, for: relay)
        hub.setPatient(true, for: relay)
        #expect(hub.isPatient, "an unsubscribed reader does not count")
        hub.setPatient(false, for: decoder)
        #expect(!hub.isPatient)
        hub.setPatient(true, for: decoder)
        hub.unsubscribe(decoder)
        #expect(hub.isPatient, "it has no readers")
    }
}
