import HLS
import LibAV
import MediaTypes
import Packager
import Synchronization
import Testing

@Suite("I-frame playlists of an output")
struct IFrameTests {
    private static func settings(_ type: HLSOutputSettings.PlaylistType = .live) throws -> HLSOutputSettings {
        try Output.settings {
            $0.iFramePlaylists = true
            $0.playlistType = type
            $0.windowSeconds = 8
        }
    }

    /// Number, URI and range of each entry.
    private static func entries(_ text: String) -> [Int64: String] {
        let list = ListText(text)
        var number = list.mediaSequence ?? 0
        var entries: [Int64: String] = [:]
        for uri in list.uris.indices {
            let ranges = list.lines.filter { $0.hasPrefix("#EXT-X-BYTERANGE") }
            entries[number] = "\(list.uris[uri]) \(ranges.indices.contains(uri) ? ranges[uri] : "")"
            number += 1
        }
        return entries
    }

    @Test("the multivariant playlist lists an I-frame playlist per rendition, whose ranges start with a moof")
    func listed() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings())
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<640)
        _ = output.packager.step()
        let multivariant = store.text("index.m3u8")
        for name in ["720p", "360p"] {
            #expect(multivariant.contains("CODECS=\"avc1.64001f\",RESOLUTION=1280x720,URI=\"\(name)-iframes.m3u8\"\n"))
            let text = store.text("\(name)-iframes.m3u8")
            #expect(output.packager.object(named: "\(name)-iframes.m3u8")?.body == .bytes(Array(text.utf8)))
            let list = ListText(text)
            #expect(list.value("EXT-X-VERSION") == "5" && list.count("#EXT-X-I-FRAMES-ONLY") == 1)
            #expect(list.mediaSequence == 2 * (ListText(store.text("\(name).m3u8")).mediaSequence ?? -1))
            #expect(list.value("EXT-X-TARGETDURATION") == "2")
            let ranges = list.lines.filter { $0.hasPrefix("#EXT-X-BYTERANGE:") }.map { $0.dropFirst(17) }
            #expect(
                ranges.count == list.uris.count
                    && list.uris.count == 2 * ListText(store.text("\(name).m3u8")).uris.count)
            for (range, uri) in zip(ranges, list.uris) {
                let numbers = range.split(separator: "@").compactMap { Int($0) }
                let bytes = try #require(store.read(uri))
                #expect(String(decoding: bytes[(numbers[1] + 4)..<(numbers[1] + 8)], as: UTF8.self) == "moof")
                #expect(numbers[0] > 100 && numbers[0] + numbers[1] < bytes.count)
            }
        }
        #expect(!multivariant.contains("audio-iframes") && store.read("audio-iframes.m3u8") == nil)
        #expect(output.packager.mediaPlaylistNames.count == 5)
    }

    @Test(
        "after a restart, I-frame playlists continue their numbers and ranges, and those that the room no longer has are deleted"
    )
    func continued() throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings())
        _ = try first.packager.begin(now: Output.origin)
        first.feed(0..<640)
        _ = first.packager.step()
        let before = Self.entries(store.text("720p-iframes.m3u8"))
        let second = try Output(store, settings: Self.settings(), tracks: [Output.video("720p"), Output.audio])
        _ = try second.packager.begin(now: Output.origin + 22_000_000_000)
        let frame: Int64 = 11 * 64
        second.feed(frame..<(frame + 128))
        _ = second.packager.step()
        let after = Self.entries(store.text("720p-iframes.m3u8"))
        let common = Set(before.keys).intersection(after.keys)
        #expect(common.count >= 4)
        for number in common { #expect(before[number] == after[number]) }
        #expect(after.values.contains { $0.contains("720p-2-") })
        #expect(store.read("360p-iframes.m3u8") == nil)
        // Not listed any more by a worker without I-frame playlists.
        let third = try Output(store, tracks: [Output.video("720p"), Output.audio])
        _ = try third.packager.begin(now: Output.origin + 60_000_000_000)
        #expect(store.read("720p-iframes.m3u8") == nil)
    }

    @Test(
        "a live I-frame playlist grows by whole segments, has CAN-BLOCK-RELOAD=YES, and answers a blocked reload when it grows"
    )
    func edge() throws {
        let output = try Output(MemoryStore(), settings: Self.settings())
        let seen = Mutex<[MediaPlaylist]>([])
        output.packager.attach { update in
            let lists = update.playlists.filter { $0.name == "720p-iframes.m3u8" }.map(\.playlist)
            seen.withLock { $0 += lists }
        }
        _ = try output.packager.begin(now: Output.origin)
        for start in stride(from: Int64(0), to: 640, by: 16) {
            output.feed(start..<(start + 16))
            _ = output.packager.step()
        }
        output.packager.finish(endlist: true)
        _ = output.packager.step()
        let lists = seen.withLock { $0 }
        #expect(lists.count >= 10 && lists.count <= 13, "once per segment, not once per part")
        var answers = 0
        for (one, next) in zip(lists, lists.dropFirst()) {
            let hasGrown = next.position.nextMediaSequence > one.position.nextMediaSequence
            #expect(hasGrown || next.position.nextMediaSequence == one.position.nextMediaSequence)
            let reload = ReloadDirectives(query: [("_HLS_msn", "\(one.position.nextMediaSequence)")])
            #expect(one.position.decide(reload, advancePartLimit: 0) == .hold)
            let isAnswered = next.position.decide(reload, advancePartLimit: 0) == .serve
            #expect(isAnswered == (hasGrown || next.isEnded))
            if hasGrown { answers += 1 }
        }
        #expect(answers >= 9, "once per segment")
        #expect(lists.last?.isEnded == true && lists.allSatisfy { $0.rendered().contains("CAN-BLOCK-RELOAD=YES") })
    }

    @Test("an EVENT output's I-frame playlist keeps all entries")
    func event() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings(.event))
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<640)
        output.packager.finish(endlist: true)
        _ = output.packager.step()
        let list = ListText(store.text("720p-iframes.m3u8"))
        #expect(
            list.uris.count == 20 && list.count("#EXT-X-ENDLIST") == 1 && list.value("EXT-X-PLAYLIST-TYPE") == "EVENT")
    }

    /// Like a player by rfc8216bis §6.3.6: the range is widened to whole blocks plus the one before, and decrypted with
    /// any initialization vector.
    private static func opened(_ file: [UInt8], _ range: Range<Int>, key: [UInt8]) -> [UInt8]? {
        let start = range.lowerBound / 16 * 16 - 16
        let end = (range.upperBound + 15) / 16 * 16
        guard start >= 0, end <= file.count,
            let clear = BlockCipher.openedBlocks(
                Array(file[start..<end]), key: key, vector: [UInt8](repeating: 0x5A, count: 16))
        else { return nil }
        return Array(clear[(range.lowerBound - start)..<(range.upperBound - start)])
    }

    @Test("an I-frame byte range of an encrypted segment, extended to whole blocks, decrypts to exactly the key frame")
    func encrypted() throws {
        let (store, clearStore) = (MemoryStore(), MemoryStore())
        var settings = try Self.settings(.event)
        let clear = try Output(clearStore, settings: settings)
        settings.encryption = EncryptionSettings(room: "r", rotation: 3)
        let output = try Output(store, settings: settings)
        for each in [clear, output] {
            _ = try each.packager.begin(now: Output.origin)
            each.feed(0..<640)
            each.packager.finish(endlist: true)
            _ = each.packager.step()
        }
        for name in ["720p", "360p"] {
            let list = ListText(store.text("\(name)-iframes.m3u8"))
            var key: [UInt8]?
            var range: Range<Int>?
            var keys = 0
            var opened = 0
            for line in list.lines {
                if let match = line.firstMatch(of: /#EXT-X-KEY:METHOD=AES-128,URI="([^"]*)",IV=0x[0-9a-f]{32}$/) {
                    keys += 1
                    if case .bytes(let bytes)? = output.packager.object(named: String(match.output.1))?.body {
                        key = bytes
                    }
                } else if line.hasPrefix("#EXT-X-BYTERANGE:") {
                    let numbers = line.dropFirst(17).split(separator: "@").compactMap { Int($0) }
                    range = numbers[1]..<(numbers[1] + numbers[0])
                } else if !line.hasPrefix("#") {
                    let (file, whole) = try (#require(store.read(line)), #require(clearStore.read(line)))
                    let (place, key) = try (#require(range), #require(key))
                    #expect(Self.opened(file, place, key: key) == Array(whole[place]), "\(line)")
                    opened += 1
                }
            }
            #expect(keys == 4 && opened == 20, "ten segments, three per key, two key frames each")
            let plain = ListText(clearStore.text("\(name)-iframes.m3u8")).lines
            #expect(list.lines.filter { !$0.hasPrefix("#EXT-X-KEY") } == plain)
        }
    }
}
