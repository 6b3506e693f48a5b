import Foundation
import HLSLint
import Testing

extension RoomDirectory {
    /// Runs the checks of `tandem lint-hls` on the directory of an ended room, except those that need a decoder.
    func lint(_ name: String = "index.m3u8", sourceLocation: SourceLocation = #_sourceLocation) {
        var linter = Linter(url: "\(self.path)/\(name)")
        var requests = linter.begin(at: 0)
        var now: Int64 = 0
        while !requests.isEmpty, now < 600 * RoomHarness.second {
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
        #expect(linter.isEnded && linter.segmentCount > 0, "\(name) is incomplete", sourceLocation: sourceLocation)
        for finding in linter.findings {
            Issue.record("\(finding.text(since: 0))", sourceLocation: sourceLocation)
        }
    }
}
