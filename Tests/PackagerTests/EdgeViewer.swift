import HLS
import MediaTypes
import Packager
import Synchronization

/// A player that sees every update of the live edge and checks it against the rules.
final class EdgeViewer: Sendable {
    struct Seen {
        var objects: [String: [UInt8]] = [:]
        var removed: Set<String> = []
        /// Every version of every playlist.
        var texts: [String: [String]] = [:]
        var hints: [String: Set<String>] = [:]
        var updates = 0
        /// Media sequence number and index of each listed part and segment, by its name.
        var places: [String: String] = [:]
        /// Media sequence number of each playlist's last version.
        var sequences: [String: Int64] = [:]
        var faults: [String] = []
    }

    let seen = Mutex(Seen())

    var take: @Sendable (LiveEdgeUpdate) -> Void { { update in self.seen.withLock { Self.take(update, &$0) } } }
    var faults: [String] { self.seen.withLock(\.faults) }
    func last(_ name: String) -> String { self.seen.withLock { $0.texts[name]?.last ?? "" } }
    func texts(_ name: String) -> [String] { self.seen.withLock { $0.texts[name] ?? [] } }
    func object(_ name: String) -> [UInt8]? { self.seen.withLock { $0.objects[name] } }
    var names: Set<String> { self.seen.withLock { Set($0.objects.keys) } }
    /// Bytes of the parts; segments share them.
    var bytes: Int {
        self.seen.withLock { seen in
            seen.objects.filter { $0.key.split(separator: ".").count > 2 }.reduce(0) { $0 + $1.value.count }
        }
    }

    private static func take(_ update: LiveEdgeUpdate, _ seen: inout Seen) {
        seen.updates += 1
        for object in update.added {
            switch object.content {
            case .whole(let memory):
                // A track that returns to an earlier configuration names the same bytes again.
                if let known = seen.objects[object.name], known != memory.bytes {
                    seen.faults.append("\(object.name) has other bytes")
                }
                seen.objects[object.name] = memory.bytes
            case .parts(let names):
                seen.objects[object.name] = names.flatMap { name -> [UInt8] in
                    if seen.objects[name] == nil { seen.faults.append("\(object.name) without \(name)") }
                    return seen.objects[name] ?? []
                }
            }
        }
        for name in update.asleep { seen.texts[name] = nil }
        for (name, playlist) in update.playlists { Self.check(name, playlist, &seen) }
        for name in update.removed {
            seen.objects[name] = nil
            seen.removed.insert(name)
        }
        // Objects listed near the edge must still be there after the removals.
        for texts in seen.texts.values {
            for line in (texts.last ?? "").split(separator: "\n") where line.hasPrefix("#EXT-X-PART:") {
                let name = Self.uri(line)
                if seen.objects[name] == nil { seen.faults.append("\(name) is listed and not there") }
            }
        }
    }

    private static func uri(_ line: Substring) -> String {
        guard let start = line.firstRange(of: "URI=\"")?.upperBound else { return "" }
        return String(line[start...].prefix { $0 != "\"" })
    }

    private static func check(_ name: String, _ playlist: MediaPlaylist, _ seen: inout Seen) {
        let text = playlist.rendered()
        let before = seen.texts[name]?.last
        let first = playlist.mediaSequence
        if let known = seen.sequences.updateValue(first, forKey: name), known > first {
            seen.faults.append("\(name): EXT-X-MEDIA-SEQUENCE fell from \(known) to \(first)")
        }
        seen.texts[name, default: []].append(text)
        let lines = text.split(separator: "\n")
        var number = first
        var index = 0
        for line in lines {
            if line.hasPrefix("#EXT-X-PART:") {
                Self.place(Self.uri(line), "\(name) \(number).\(index)", &seen)
                index += 1
            } else if line.hasPrefix("#EXT-X-PRELOAD-HINT:TYPE=PART") {
                seen.hints[name, default: []].insert(Self.uri(line))
            } else if !line.hasPrefix("#") {
                Self.place(String(line), "\(name) \(number)", &seen)
                (number, index) = (number + 1, 0)
            }
        }
        guard let before else { return }
        for tag in ["#EXT-X-TARGETDURATION", "#EXT-X-SERVER-CONTROL", "#EXT-X-PART-INF"] {
            let old = before.split(separator: "\n").first { $0.hasPrefix(tag) }
            let new = lines.first { $0.hasPrefix(tag) }
            if old == nil || old != new { seen.faults.append("\(name): \(tag) changed") }
        }
        // §6.2.1: lines are added at the end or removed at the start; none changes or is inserted.
        let edges = ["#EXT-X-PRELOAD-HINT", "#EXT-X-MEDIA-SEQUENCE", "#EXT-X-DISCONTINUITY-SEQUENCE", "#EXT-X-MAP"]
        func body(_ text: String) -> [Substring] {
            text.split(separator: "\n").filter { line in !edges.contains { line.hasPrefix($0) } }
        }
        var old = body(before)[...]
        let known = Set(old.filter { $0.hasPrefix("#EXT-X-PART:") || !$0.hasPrefix("#") })
        var isNew = false
        for line in body(text) {
            if isNew, known.contains(line) { seen.faults.append("\(name): something came in before \(line)") }
            if isNew { continue }
            while let first = old.first, first != line { old = old.dropFirst() }
            if old.isEmpty { isNew = true } else { old = old.dropFirst() }
        }
        if isNew, let last = body(before).last, !body(text).contains(last) {
            seen.faults.append("\(name): \(last) is gone from the end")
        }
    }

    /// Checks that a name never gets another position, and a position never another name.
    private static func place(_ uri: String, _ place: String, _ seen: inout Seen) {
        if let known = seen.places[uri], known != place { seen.faults.append("\(uri) was \(known) and is \(place)") }
        if let known = seen.places[place], known != uri { seen.faults.append("\(place) was \(known) and is \(uri)") }
        seen.places[uri] = place
        seen.places[place] = uri
    }
}
