import HLS
import HLSTestKit
import LibAV
import MediaTypes
import Packager
import Testing

@Suite("Encrypted outputs: rfc8216bis §4.4.4.4, §5.2, §6.2.3")
struct EncryptionTests {
    private static let encryption = EncryptionSettings(
        room: "r", rotation: 2, secret: Array("a secret of the operator's".utf8))

    private static func settings(_ encryption: EncryptionSettings? = Self.encryption) throws -> HLSOutputSettings {
        try Output.settings { $0.encryption = encryption }
    }

    private struct Lock {
        var uri: String
        var vector: [UInt8]
    }

    /// The key in force at each URI of a playlist, including parts.
    private static func locks(_ text: String) -> [String: Lock] {
        var locks: [String: Lock] = [:]
        var lock: Lock?
        for line in text.split(separator: "\n").map(String.init) {
            if let match = line.firstMatch(of: /#EXT-X-KEY:METHOD=AES-128,URI="([^"]*)",IV=0x([0-9a-f]{32})$/) {
                lock = Lock(uri: String(match.output.1), vector: Output.hex(String(match.output.2)))
            } else if line == "#EXT-X-KEY:METHOD=NONE" {
                lock = nil
            } else if let match = line.firstMatch(of: /#EXT-X-PART:.*URI="([^"]*)"/) {
                locks[String(match.output.1)] = lock
            } else if !line.hasPrefix("#") {
                locks[line] = lock
            }
        }
        return locks
    }

    private static func key(_ output: Output, _ uri: String) -> [UInt8]? {
        guard case .bytes(let bytes)? = output.packager.object(named: uri)?.body else { return nil }
        return bytes
    }

    private static func opened(_ bytes: [UInt8]?, _ lock: Lock?, _ output: Output) -> [UInt8]? {
        guard let bytes, let lock, let key = self.key(output, lock.uri) else { return nil }
        return BlockCipher.opened(bytes, key: key, vector: lock.vector)
    }

    @Test("the key of room 88231, 720p, period 0 equals the example in the documentation")
    func documentedKey() throws {
        let encryption = EncryptionSettings(room: "88231", rotation: 30, secret: Array("s3cret".utf8))
        let (output, _, _) = try EdgeTests.begun(MemoryStore(), settings: try Self.settings(encryption))
        output.feed(0..<330)
        #expect(output.packager.step() == nil)
        #expect(Self.key(output, "720p-0.key") == Output.hex("e4567bbfc175dd5713e6ec08b0f7045a"))
    }

    @Test(
        "each segment and part decrypts separately, with the key in its playlist, to the bytes of an unencrypted room")
    func opens() throws {
        let (clearStore, store) = (MemoryStore(), MemoryStore())
        let (clear, plain, _) = try EdgeTests.begun(clearStore)
        let (output, viewer, _) = try EdgeTests.begun(store, settings: try Self.settings())
        for each in [clear, output] {
            each.feed(0..<330)
            #expect(each.packager.step() == nil)
        }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
        var uris: Set<String> = []
        var vectors: Set<[UInt8]> = []
        for list in EdgeTests.lists {
            let edge = Self.locks(viewer.last(list))
            #expect(edge.count > 10)
            for (name, lock) in edge {
                #expect(Self.opened(viewer.object(name), lock, output) == plain.object(name), "\(name)")
                uris.insert(lock.uri)
                vectors.insert(lock.vector)
            }
            let listed = Self.locks(store.text(list))
            #expect(listed.count == 5)
            for (name, lock) in listed {
                #expect(Self.opened(store.read(name), lock, output) == clearStore.read(name), "\(name)")
                #expect(edge[name]?.uri == lock.uri && edge[name]?.vector == lock.vector)
            }
            // Two segments per key, the same in every playlist.
            let text = ListText(store.text(list))
            #expect(text.lines.filter { $0.hasPrefix("#EXT-X-KEY") }.count == 3)
            #expect(text.tags(before: text.uris[2]).contains { $0.contains("-1.key\"") })
            // Initialization segments stay in the clear: they precede every key.
            #expect(
                text.lines.firstIndex { $0.hasPrefix("#EXT-X-MAP") }! < text.lines.firstIndex {
                    $0.hasPrefix("#EXT-X-KEY")
                }!)
        }
        #expect(store.read("720p-1.mp4") == clearStore.read("720p-1.mp4"))
        #expect(uris.count == 9 && uris.isSuperset(of: ["720p-0.key", "audio-2.key"]) && vectors.count == 9)
        guard case .file(_, let size)? = output.packager.object(named: "720p-1-0.m4s")?.body else {
            return #expect(Bool(false), "no file")
        }
        #expect(size == store.read("720p-1-0.m4s")?.count)
    }

    @Test("the EXT-X-KEY is already listed before the hint for the first part of its first segment")
    func announced() throws {
        let (output, viewer, _) = try EdgeTests.begun(MemoryStore(), settings: try Self.settings())
        output.feed(0..<128)
        #expect(output.packager.step() == nil)
        let lines = ListText(viewer.last("720p.m3u8")).lines
        let hint = try #require(
            lines.firstIndex { $0.hasPrefix("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"720p-1-2.0.m4s\"") })
        #expect(lines[..<hint].last { $0.hasPrefix("#EXT-X-KEY") }?.contains("URI=\"720p-1.key\"") == true)
    }

    @Test("a delta update repeats the EXT-X-KEY of its first segment")
    func delta() throws {
        let window = try PlaylistWindow(
            style: .live(windowSeconds: 60), targetDuration: 2, slackSeconds: 2,
            segments: (0..<20).map { number in
                Segment(
                    mediaSequence: number, uri: "\(number).m4s", start: number * 64,
                    duration: MediaDuration(ticks: 64, timescale: 30), programDate: number,
                    map: InitializationSegment(uri: "m.mp4"),
                    key: SegmentKey(method: .aes128, uri: "k", initializationVector: [UInt8](repeating: 1, count: 16)),
                    byteCount: 1)
            }, nextMediaSequence: 0, discontinuitySequence: 0, retired: [], longestDuration: 0)
        let control = ServerControl(grid: try OutputGrid(fps: 30))
        let list = MediaPlaylist(window, edge: LiveEdge(control: control, open: nil, hint: "x"))
        let text = list.rendered(skipping: true)
        #expect(text.contains("#EXT-X-SKIP") && text.split(separator: "\n").count { $0.hasPrefix("#EXT-X-KEY") } == 1)
        #expect(!text.contains("#EXT-X-MAP"))
        #expect(list.rendered().split(separator: "\n").count { $0.hasPrefix("#EXT-X-KEY") } == 1)
    }

    @Test("a new EXT-X-MAP comes after METHOD=NONE, as it is not encrypted, and the EXT-X-KEY is repeated after it")
    func maps() throws {
        var segments: [Segment] = []
        for number in 0..<4 as Range<Int64> {
            segments.append(
                Segment(
                    mediaSequence: number, uri: "\(number).m4s", start: number * 64,
                    duration: MediaDuration(ticks: 64, timescale: 30), programDate: number,
                    map: InitializationSegment(uri: number < 2 ? "a.mp4" : "b.mp4"), discontinuity: number == 2,
                    key: SegmentKey(method: .aes128, uri: "k"), byteCount: 1))
        }
        let window = try PlaylistWindow(
            style: .event, targetDuration: 2, slackSeconds: 2, segments: segments, nextMediaSequence: 0,
            discontinuitySequence: 0, retired: [], longestDuration: 0)
        let tags = ListText(MediaPlaylist(window).rendered()).lines.filter {
            $0.hasPrefix("#EXT-X-KEY") || $0.hasPrefix("#EXT-X-MAP")
        }
        #expect(
            tags == [
                "#EXT-X-MAP:URI=\"a.mp4\"", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "#EXT-X-KEY:METHOD=NONE",
                "#EXT-X-MAP:URI=\"b.mp4\"", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"",
            ])
    }

    @Test(
        "a successor continues the encryption keys: listed segments decrypt, and parts that viewers know keep their bytes"
    )
    func successor() throws {
        let store = MemoryStore()
        let secretless = EncryptionSettings(room: "r", rotation: 2)
        let (first, before, _) = try EdgeTests.begun(store, settings: try Self.settings(secretless))
        first.feed(0..<176)
        #expect(first.packager.step() == nil)
        // Killed here: segments 0 and 1 are complete, three parts of the third are out.
        let known = Self.locks(before.last("720p.m3u8"))
        let bytes = known.keys.map { ($0, before.object($0)) }
        let slate = Slate(
            frames: 16,
            tracks: first.tracks.map { track in
                track.kind == .audio
                    ? [Output.audioPacket(0)]
                    : (0..<16).map { Output.picture($0) }
            })
        let second = try Output(store, settings: try Self.settings(secretless))
        let after = EdgeViewer()
        second.packager.attach(after.take)
        _ = try second.packager.begin(now: Output.origin + 7_000_000_000, slate: slate)
        second.feed(224..<384)
        #expect(second.packager.step() == nil)
        #expect(after.faults.isEmpty, "\(after.faults)")
        let now = Self.locks(after.last("720p.m3u8"))
        for (name, lock) in known {
            guard let other = now[name] else { continue }
            #expect(other.uri == lock.uri && other.vector == lock.vector, "\(name)")
        }
        var same = 0
        for (name, old) in bytes {
            guard let new = after.object(name) else { continue }
            #expect(new == old, "\(name)")
            same += 1
        }
        #expect(same >= 3)
        for (name, lock) in now {
            let sealed = after.object(name) ?? store.read(name)
            #expect(Self.opened(sealed, lock, second) != nil, "\(name)")
        }
    }

    @Test("encryption keys are stored in only one file, and not served for invalid names or later periods")
    func kept() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try EdgeTests.begun(store, settings: try Self.settings())
        output.feed(0..<192)
        #expect(output.packager.step() == nil)
        let key = try #require(Self.key(output, "720p-0.key"))
        #expect(key.count == 16)
        #expect(Self.key(output, "720p-1.key") != key && Self.key(output, "360p-0.key") != key)
        for name in [
            "720p-9.key", "720p-00.key", "720p--1.key", "720p-x.key", ".keys.json", "720p-9223372036854775807.key",
            "../720p-0.key", "other-0.key", "-0.key",
        ] {
            #expect(output.packager.object(named: name) == nil, "\(name)")
        }
        let hex = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for (name, bytes) in store.files where name != ".keys.json" {
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(!text.contains(hex) && !text.contains("operator"), "\(name)")
            #expect(bytes.firstRange(of: key) == nil, "\(name)")
        }
        #expect(!viewer.last("720p.m3u8").contains(hex))
        var shown = ""
        dump(output.packager, to: &shown)
        dump(try Self.settings(), to: &shown)
        #expect(!shown.contains(hex) && !shown.contains("operator"))
    }

    @Test("while the store fails, all listed segments decrypt; keys of later periods are not served")
    func storeAway() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try EdgeTests.begun(store, settings: try Self.settings())
        output.feed(0..<64)
        #expect(output.packager.step() == nil)
        store.refuse { _ in true }
        for segmentIndex in Int64(1)..<20 {
            output.feed(segmentIndex * 64..<(segmentIndex + 1) * 64)
            #expect(output.packager.step() == nil)
        }
        #expect(!output.events.failures.isEmpty && viewer.faults.isEmpty, "\(viewer.faults)")
        for list in EdgeTests.lists {
            let locks = Self.locks(viewer.last(list))
            #expect(locks["\(list.dropLast(5))-1-18.m4s"] != nil)
            for (name, lock) in locks {
                #expect(Self.opened(viewer.object(name) ?? store.read(name), lock, output) != nil, "\(name)")
            }
        }
        #expect(Self.key(output, "720p-13.key") == nil)
    }

    @Test("a successor with another secret or rotation, a lost key file, or encryption switched on or off is refused")
    func refused() throws {
        let store = MemoryStore()
        let first = try Output(store, settings: try Self.settings())
        _ = try first.packager.begin(now: Output.origin)
        first.feed(0..<192)
        #expect(first.packager.step() == nil)
        first.packager.finish(endlist: false)
        _ = first.packager.step()
        var other = Self.encryption
        other.secret = Array("another secret".utf8)
        var longer = Self.encryption
        longer.rotation = 3
        for settings in [nil, other, longer] {
            #expect(throws: MediaError.self) { try Output(store, settings: try Self.settings(settings)) }
        }
        _ = try Output(store, settings: try Self.settings())
        try store.remove(".keys.json")
        #expect(throws: MediaError.self) { try Output(store, settings: try Self.settings()) }
        #expect(throws: MediaError.self) {
            let clear = MemoryStore()
            let before = try Output(clear)
            _ = try before.packager.begin(now: Output.origin)
            before.feed(0..<192)
            _ = before.packager.step()
            _ = try Output(clear, settings: try Self.settings())
        }
    }

    @Test("with an external key server, playlists name it, and the room serves no key")
    func outside() throws {
        let store = MemoryStore()
        var encryption = Self.encryption
        encryption.keyURI = "https://keys.example/{track}/{period}?room=r"
        let (output, _, _) = try EdgeTests.begun(store, settings: try Self.settings(encryption))
        output.feed(0..<192)
        #expect(output.packager.step() == nil)
        #expect(store.text("720p.m3u8").contains("URI=\"https://keys.example/720p/1?room=r\",IV=0x"))
        #expect(output.packager.object(named: "720p-0.key") == nil)
    }
}
