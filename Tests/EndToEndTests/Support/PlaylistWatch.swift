import Foundation
import Synchronization

/// Reads media playlists of a room repeatedly, from whichever worker answers, and remembers what no update may change.
final class PlaylistWatch: Sendable {
    private struct History: Sendable {
        var mediaSequence: [String: Int] = [:]
        /// By playlist and number.
        var names: [String: String] = [:]
        var maps: [String: Set<String>] = [:]
        /// Lines with target duration, server control, part target or version, by playlist.
        var promises: [String: Set<String>] = [:]
        var faults: [String] = []
        var reads = 0
        var failedSince: Double?
        var outages: [Double] = []
        var isStopped = false
    }

    private static let pause = 0.05
    private static let frozen = ["#EXT-X-TARGETDURATION", "#EXT-X-SERVER-CONTROL", "#EXT-X-PART-INF", "#EXT-X-VERSION"]

    private let history = Mutex(History())

    /// - Parameters:
    ///   - viewer: `http://host:port`.
    ///   - lists: Paths, such as `/360p.m3u8`.
    init(_ viewer: String, _ lists: [String]) {
        Thread.detachNewThread { [weak self] in
            while let self, !self.history.withLock({ $0.isStopped }) {
                for list in lists { self.took(try? HTTPClient.request("GET", viewer, list), list) }
                Thread.sleep(forTimeInterval: Self.pause)
            }
        }
    }

    deinit { self.stop() }

    func stop() { self.history.withLock { $0.isStopped = true } }

    var reads: Int { self.history.withLock(\.reads) }
    /// Forbidden changes, invalid playlists, discontinuities, gaps and error statuses that it has seen.
    var faults: [String] { self.history.withLock(\.faults) }
    /// Durations from a failed read to the next successful one, in seconds.
    var outages: [Double] { self.history.withLock(\.outages) }
    /// All EXT-X-MAP lines that each playlist has had.
    var maps: [String: Set<String>] { self.history.withLock(\.maps) }
    /// All lines with target duration, server control, part target or version that each playlist has had.
    var promises: [String: Set<String>] { self.history.withLock(\.promises) }

    private func took(_ reply: HTTPClient.Reply?, _ name: String) {
        let now = Date().timeIntervalSince1970
        self.history.withLock { history in
            guard let reply, reply.status == 200 else {
                if let reply { history.faults.append("\(name) is answered \(reply.status)") }
                history.failedSince = history.failedSince ?? now
                return
            }
            if let since = history.failedSince { history.outages.append(now - since) }
            history.failedSince = nil
            history.reads += 1
            let list = Playlist(reply.body)
            func fault(_ what: String) { if history.faults.count < 20 { history.faults.append("\(name): \(what)") } }
            if let before = history.mediaSequence[name], list.mediaSequence < before {
                fault("the media sequence fell from \(before) to \(list.mediaSequence)")
            }
            history.mediaSequence[name] = list.mediaSequence
            for (offset, segment) in list.segments.enumerated() {
                let key = "\(name) \(list.mediaSequence + offset)"
                if let before = history.names[key], before != segment.uri {
                    fault("\(before) became \(segment.uri)")
                }
                history.names[key] = segment.uri
            }
            for mistake in list.mistakes { fault(mistake) }
            for line in reply.body.split(separator: "\n") {
                if line == "#EXT-X-DISCONTINUITY" || line == "#EXT-X-GAP" || line.contains("GAP=YES") {
                    fault("\(line)")
                }
                if line.hasPrefix("#EXT-X-MAP") { history.maps[name, default: []].insert(String(line)) }
                if Self.frozen.contains(where: { line.hasPrefix($0) }) {
                    history.promises[name, default: []].insert(String(line))
                }
            }
        }
    }
}
