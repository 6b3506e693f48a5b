import Foundation
import HLS
import HLSLint
import MediaKernels
import MediaTypes
import Packager
import Testing

@Suite("Lint: plain playlists in a directory")
struct DirectoryTests {
    private struct Clock: MonotonicClock { func now() -> Int64 { 1 } }

    /// Reads local files as fast as the linter asks.
    private static func lint(_ path: String) -> Linter {
        var linter = Linter(url: path)
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

    @Test("finished lists, sliding and EVENT: nothing is found; a file that is gone is", arguments: [true, false])
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
        // Of the pictures two key frames a segment, too.
        #expect(linter.segmentCount == (isEvent ? 7 * 15 - 2 : 7 * 6 - 2))
        try FileManager.default.removeItem(atPath: "\(folder)/audio-1-13.m4s")
        #expect(Self.lint("\(folder)/index.m3u8").findings.map(\.rule) == [.resourceMissing])
        #expect(Self.lint("\(folder)/no.m3u8").isEmpty)
    }
}
