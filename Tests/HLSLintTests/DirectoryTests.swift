import Foundation
import HLS
import HLSLint
import LibAV
import MediaKernels
import MediaTypes
import Packager
import Testing

@Suite("Lint: finished rooms in a directory, encrypted ones, and MPEG-TS segments")
struct DirectoryTests {
    private struct Clock: MonotonicClock { func now() -> Int64 { 1 } }

    /// Answers the linter's requests with local files, without real time.
    private static func lint(_ path: String) -> Linter {
        var linter = Linter(
            url: path,
            cipher: {
                $3 ? BlockCipher.opened($0, key: $1, vector: $2) : BlockCipher.openedBlocks($0, key: $1, vector: $2)
            })
        var requests = linter.begin(at: 0)
        var now: Int64 = 0
        while !requests.isEmpty, now < 600_000_000_000 {
            let next = requests.indices.min { requests[$0].notBefore < requests[$1].notBefore } ?? 0
            let request = requests.remove(at: next)
            now = max(now, request.notBefore)
            var bytes = FileManager.default.contents(atPath: request.url)
            if let range = request.range { bytes = bytes?.dropFirst(Int(range.start)).prefix(Int(range.count)) }
            let reply = LintReply(
                status: bytes == nil ? 404 : 200, body: [UInt8](bytes ?? Data()), sentAt: now, receivedAt: now,
                isLocal: true)
            requests += linter.received(reply, for: request)
            if linter.isEnded { requests.removeAll { $0.isPoll } }
        }
        linter.finish(at: now)
        return linter
    }

    @Test(
        "the directory of a finished live or EVENT stream has no finding; after one segment is deleted, one: a missing resource",
        arguments: [true, false])
    func finished(isEvent: Bool) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lint-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var settings = HLSOutputSettings(
            directory: folder, grid: try OutputGrid(fps: 30), windowSeconds: 10, playlistType: isEvent ? .event : .live)
        settings.iFramePlaylists = true
        let packager = try HLSPackager.open(settings, tracks: Script.tracks, clock: Clock()) { _ in }
        _ = try packager.begin(now: Script.origin)
        for frame in 0..<Int64(30 * 30) {
            Script.feed(packager, frame)
            _ = packager.step()
        }
        packager.finish(endlist: true)
        #expect(packager.step() == .ended)
        let linter = Self.lint("\(folder)/index.m3u8")
        for finding in linter.findings { Issue.record("\(finding.text(since: 0))") }
        #expect(linter.isEnded && linter.playlistCount == 5)
        // Video also has two key frames per segment.
        #expect(linter.segmentCount == (isEvent ? 7 * 15 - 2 : 7 * 6 - 2))
        try FileManager.default.removeItem(atPath: "\(folder)/audio-1-13.m4s")
        #expect(Self.lint("\(folder)/index.m3u8").findings.map(\.rule) == [.resourceMissing])
        #expect(Self.lint("\(folder)/no.m3u8").isEmpty)
    }

    @Test(
        "key frames and MPEG-TS segments of an encrypted room are decrypted and checked, and faults are found"
    )
    func encrypted() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lint-\(UUID().uuidString)").path
        defer { for path in [folder, "\(folder)-ts"] { try? FileManager.default.removeItem(atPath: path) } }
        var settings = HLSOutputSettings(directory: folder, grid: try OutputGrid(fps: 30), playlistType: .event)
        settings.iFramePlaylists = true
        settings.encryption = EncryptionSettings(room: "r", rotation: 4)
        let packager = try HLSPackager.open(settings, tracks: Script.tracks, clock: Clock()) { _ in }
        let streams = MPEGTSOutput(
            outputID: "ts", packager: packager, store: DirectoryStore(directory: "\(folder)-ts"),
            multivariantName: "index.m3u8", waits: true
        ) { error in if let error { Issue.record("\(error)") } }
        try streams.begin()
        _ = try packager.begin(now: Script.origin)
        for frame in 0..<Int64(30 * 30) {
            Script.feed(packager, frame)
            _ = packager.step()
        }
        packager.finish(endlist: true)
        #expect(packager.step() == .ended)
        // Like a key server.
        for track in ["720p", "360p", "audio"] {
            for period in 0..<4 {
                let name = "\(track)-\(period).key"
                guard case .bytes(let key)? = streams.object(named: name)?.body else { continue }
                for place in [folder, "\(folder)-ts"] {
                    try Data(key).write(to: URL(fileURLWithPath: "\(place)/\(name)"))
                }
            }
        }
        for place in [folder, "\(folder)-ts"] {
            let linter = Self.lint("\(place)/index.m3u8")
            for finding in linter.findings { Issue.record("\(finding.text(since: 0))") }
            #expect(linter.isEnded && linter.playlistCount == (place == folder ? 5 : 2))
        }
        func expect(_ rule: Rule, in list: String, _ change: (String) -> String) throws {
            let text = try String(contentsOfFile: list, encoding: .utf8)
            try change(text).write(toFile: list, atomically: true, encoding: .utf8)
            let linter = Self.lint(list)
            #expect(Set(linter.findings.map(\.rule)) == [rule], "\(linter.findings.map { $0.text(since: 0) })")
            try text.write(toFile: list, atomically: true, encoding: .utf8)
        }
        // An I-frame with a wrong offset, and segments listed with the key of another period.
        try expect(.iFrameRange, in: "\(folder)/720p-iframes.m3u8") { text in
            let place = text.firstRange(of: "@")?.upperBound ?? text.startIndex
            return text.replacingCharacters(in: place...place, with: text[place] == "1" ? "2" : "1")
        }
        try expect(.keyWrong, in: "\(folder)-ts/720p.m3u8") { $0.replacing("720p-1.key", with: "720p-2.key") }
        let name = "\(folder)-ts/360p-1-2.ts"
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: name)))
        bytes.removeSubrange((bytes.count / 32 * 16)..<(bytes.count / 32 * 16 + 16))
        try Data(bytes).write(to: URL(fileURLWithPath: name))
        #expect(Set(Self.lint("\(folder)-ts/360p.m3u8").findings.map(\.rule)) == [.segmentUnreadable])
    }

    @Test("a missing MPEG-TS packet, missing tables and a truncated packet are found; random damage does not trap")
    func transport() {
        func linted(_ segment: [UInt8]) -> [Rule] {
            var linter = Linter(url: "/l.m3u8")
            let list =
                "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n"
                + "#EXTINF:2,\na.ts\n#EXT-X-ENDLIST\n"
            var requests = linter.begin(at: 0)
            while !requests.isEmpty {
                let request = requests.removeFirst()
                let bytes = request.url.hasSuffix(".ts") ? segment : Array(list.utf8)
                requests += linter.received(
                    LintReply(status: 200, body: bytes, sentAt: 0, receivedAt: 0, isLocal: true), for: request)
                if linter.isEnded { requests.removeAll { $0.isPoll } }
            }
            linter.finish(at: 0)
            return linter.findings.map(\.rule)
        }
        var muxer = MPEGTSMuxer()
        let units = (0..<40).map { StreamUnit(.audio, [UInt8](repeating: 7, count: 300), pts: Int64($0) * 1_920) }
        let good = muxer.segment(
            units,
            parameters: MPEGTSMuxer.Parameters(
                video: nil, audio: AudioSpecificConfig(record: [0x11, 0x90]), hasMetadata: false))
        let plain = linted(good)
        #expect(!plain.contains(.segmentUnreadable), "\(plain)")
        var hole = good
        hole.removeSubrange((188 * 5)..<(188 * 6))
        for broken in [hole, Array(good.dropLast(100)), Array(good.dropFirst(188)), Array(good[376...])] {
            #expect(linted(broken).contains(.segmentUnreadable))
        }
        var state: UInt64 = 8
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<300 {
            var damaged = good
            for _ in 0..<20 { damaged[random(damaged.count)] = UInt8(random(256)) }
            _ = linted(damaged)
        }
    }
}
