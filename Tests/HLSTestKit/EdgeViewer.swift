package import HLS
package import Synchronization

/// A player that sees every update of the live edge and checks it against the rules.
package final class EdgeViewer: Sendable {
    package struct Seen {
        package var objects: [String: [UInt8]] = [:]
        package var removed: Set<String> = []
        /// Every version of every playlist.
        package var texts: [String: [String]] = [:]
        package var hints: [String: Set<String>] = [:]
        package var updates = 0
        /// Media sequence number and index of each listed part and segment, by its name.
        package var places: [String: String] = [:]
        /// Media sequence number of each playlist's last version.
        package var sequences: [String: Int64] = [:]
        package var faults: [String] = []
        /// Lines of each playlist's last version, and the names of its parts.
        var lines: [String: [Substring]] = [:]
        var parts: [String: [String]] = [:]
    }

    package let seen = Mutex(Seen())

    package init() {}

    package var take: @Sendable (LiveEdgeUpdate) -> Void { { update in self.seen.withLock { Self.take(update, &$0) } } }
    package var faults: [String] { self.seen.withLock(\.faults) }
    package func last(_ name: String) -> String { self.seen.withLock { $0.texts[name]?.last ?? "" } }
    package func texts(_ name: String) -> [String] { self.seen.withLock { $0.texts[name] ?? [] } }
    package func object(_ name: String) -> [UInt8]? { self.seen.withLock { $0.objects[name] } }
    package var names: Set<String> { self.seen.withLock { Set($0.objects.keys) } }
    /// Bytes of the parts; segments share them.
    package var bytes: Int {
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
        for name in update.asleep {
            seen.texts[name] = nil
            seen.lines[name] = nil
            seen.parts[name] = nil
        }
        for (name, playlist) in update.playlists { Self.check(name, playlist, &seen) }
        for name in update.removed {
            seen.objects[name] = nil
            seen.removed.insert(name)
        }
        // Objects listed near the edge must still be there after the removals.
        for name in seen.parts.values.joined() where seen.objects[name] == nil {
            seen.faults.append("\(name) is listed and not there")
        }
    }

    private static func uri(_ line: Substring) -> String {
        guard let start = line.utf8.firstRange(of: "URI=\"".utf8)?.upperBound else { return "" }
        return String(Substring(line.utf8[start...].prefix { $0 != UInt8(ascii: "\"") }))
    }

    private static func check(_ name: String, _ playlist: MediaPlaylist, _ seen: inout Seen) {
        let text = playlist.rendered()
        let first = playlist.mediaSequence
        if let known = seen.sequences.updateValue(first, forKey: name), known > first {
            seen.faults.append("\(name): EXT-X-MEDIA-SEQUENCE fell from \(known) to \(first)")
        }
        seen.texts[name, default: []].append(text)
        let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { Substring($0) }
        let before = seen.lines.updateValue(lines, forKey: name)
        var parts: [String] = []
        var number = first
        var index = 0
        for line in lines {
            if line.hasPrefix("#EXT-X-PART:") {
                parts.append(Self.uri(line))
                Self.place(parts[parts.count - 1], "\(name) \(number).\(index)", &seen)
                index += 1
            } else if line.hasPrefix("#EXT-X-PRELOAD-HINT:TYPE=PART") {
                seen.hints[name, default: []].insert(Self.uri(line))
            } else if !line.hasPrefix("#") {
                Self.place(String(line), "\(name) \(number)", &seen)
                (number, index) = (number + 1, 0)
            }
        }
        seen.parts[name] = parts
        guard let before else { return }
        for tag in ["#EXT-X-TARGETDURATION", "#EXT-X-SERVER-CONTROL", "#EXT-X-PART-INF"] {
            let old = before.first { $0.hasPrefix(tag) }
            let new = lines.first { $0.hasPrefix(tag) }
            if old == nil || old != new { seen.faults.append("\(name): \(tag) changed") }
        }
        // §6.2.1: lines are added at the end or removed at the start; none changes or is inserted.
        let (earlier, later) = (Self.body(before), Self.body(lines))
        var old = earlier[...]
        let known = Set(earlier.filter { $0.hasPrefix("#EXT-X-PART:") || !$0.hasPrefix("#") })
        var isNew = false
        for line in later {
            if isNew, known.contains(line) { seen.faults.append("\(name): something came in before \(line)") }
            if isNew { continue }
            while let first = old.first, first != line { old = old.dropFirst() }
            if old.isEmpty { isNew = true } else { old = old.dropFirst() }
        }
        if isNew, let last = earlier.last, !later.contains(last) {
            seen.faults.append("\(name): \(last) is gone from the end")
        }
    }

    /// The lines that may only be added at the end and removed at the start.
    private static func body(_ lines: [Substring]) -> [Substring] {
        let edges = ["#EXT-X-PRELOAD-HINT", "#EXT-X-MEDIA-SEQUENCE", "#EXT-X-DISCONTINUITY-SEQUENCE", "#EXT-X-MAP"]
        return lines.filter { line in !edges.contains { line.hasPrefix($0) } }
    }

    /// Checks that a name never gets another position, and a position never another name.
    private static func place(_ uri: String, _ place: String, _ seen: inout Seen) {
        if let known = seen.places[uri], known != place { seen.faults.append("\(uri) was \(known) and is \(place)") }
        if let known = seen.places[place], known != uri { seen.faults.append("\(place) was \(known) and is \(uri)") }
        seen.places[uri] = place
        seen.places[place] = uri
    }
}
