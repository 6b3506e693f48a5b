/// Edits of playlist texts that introduce faults.
extension String {
    var playlistLines: [String] { self.split(separator: "\n").map(String.init) }

    func mapLines(_ change: (String) -> String?) -> String {
        self.playlistLines.compactMap(change).map { $0 + "\n" }.joined()
    }

    func without(_ prefix: String) -> String { self.mapLines { $0.hasPrefix(prefix) ? nil : $0 } }

    /// Adds lines after the first line.
    func adding(_ lines: String) -> String {
        self.replacing("#EXTM3U\n", with: "#EXTM3U\n\(lines)\n", maxReplacements: 1)
    }

    /// Changes the lines that begin with `prefix`.
    func editing(_ prefix: String, _ change: (String) -> String) -> String {
        self.mapLines { $0.hasPrefix(prefix) ? change($0) : $0 }
    }

    func setting(_ tag: String, _ value: String) -> String { self.editing("#\(tag):") { _ in "#\(tag):\(value)" } }

    /// Each line with the number of its segment.
    private var numbered: [(number: Int, line: String)] {
        var number = 0
        var result: [(Int, String)] = []
        for line in self.playlistLines {
            if line.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") { number = Int(line.dropFirst(22)) ?? 0 }
            if line.hasPrefix("#EXT-X-SKIP:") { number += Int(line.split(separator: "=").last ?? "") ?? 0 }
            result.append((number, line))
            if !line.hasPrefix("#") { number += 1 }
        }
        return result
    }

    /// Changes the lines of segments with numbers from `first` on.
    func fromSegment(_ first: Int, _ change: (String) -> String) -> String {
        self.numbered.map { ($0.number >= first ? change($0.line) : $0.line) + "\n" }.joined()
    }

    func atSegment(_ number: Int, _ change: (String) -> String?) -> String {
        self.numbered.compactMap { $0.number == number ? change($0.line) : $0.line }.map { $0 + "\n" }.joined()
    }

    /// Moves dates of segments from `first` on by so many milliseconds (below 1,000), except into the next minute.
    func movingDates(from first: Int, by milliseconds: Int) -> String {
        self.fromSegment(first) { line in
            guard line.hasPrefix("#EXT-X-PROGRAM-DATE-TIME:"), let ms = Int(line.suffix(4).dropLast()) else {
                return line
            }
            let moved = ms + milliseconds
            let seconds = (Int(line.dropLast(5).suffix(2)) ?? 0) + moved / 1_000
            guard seconds < 60 else { return line }
            func pad(_ value: Int, _ width: Int) -> String {
                String(repeating: "0", count: width - String(value).count) + String(value)
            }
            return "\(line.dropLast(7))\(pad(seconds, 2)).\(pad(moved % 1_000, 3))Z"
        }
    }

    /// Keeps only the newest `count` segments and what follows them.
    func keepingSegments(_ count: Int) -> String {
        let total = self.playlistLines.count { !$0.hasPrefix("#") }
        let drop = max(0, total - count)
        guard drop > 0 else { return self }
        let first = self.numbered.first { !$0.line.hasPrefix("#") }?.number ?? 0
        let head = [
            "#EXTM3U", "#EXT-X-VERSION", "#EXT-X-TARGET", "#EXT-X-SERVER", "#EXT-X-PART-INF", "#EXT-X-DISCONTINUITY-S",
        ]
        let map = self.playlistLines.first { $0.hasPrefix("#EXT-X-MAP") } ?? ""
        return self.numbered.compactMap { entry -> String? in
            if entry.line.hasPrefix("#EXT-X-MEDIA-SEQUENCE") { return "#EXT-X-MEDIA-SEQUENCE:\(first + drop)\n" }
            if head.contains(where: { entry.line.hasPrefix($0) }) {
                return entry.line + "\n" + (entry.line.hasPrefix("#EXT-X-DISCONTINUITY-S") ? map + "\n" : "")
            }
            return entry.number >= first + drop ? entry.line + "\n" : nil
        }.joined()
    }
}

/// Edits of boxes.
extension [UInt8] {
    /// Offsets after each occurrence of a box type.
    func behind(_ type: String) -> [Int] {
        let code = [UInt8](type.utf8)
        guard self.count >= 4 else { return [] }
        return (0...(self.count - 4)).filter { self[$0] == code[0] && Array(self[$0..<($0 + 4)]) == code }.map {
            $0 + 4
        }
    }

    func patching(_ type: String, _ offset: Int, _ bytes: [UInt8]) -> [UInt8] {
        var result = self
        for place in self.behind(type) where place + offset + bytes.count <= self.count {
            result.replaceSubrange((place + offset)..<(place + offset + bytes.count), with: bytes)
        }
        return result
    }

    func renaming(_ type: String, _ other: String) -> [UInt8] { self.patching(type, -4, [UInt8](other.utf8)) }

    /// Overwrites bytes of the media data from `offset` on.
    func overwriting(_ offset: Int, with bytes: [UInt8]) -> [UInt8] { self.patching("mdat", offset, bytes) }

    /// Moves composition offsets of video samples by ticks: of all rows of a `trun`, or of the last one.
    func movingOffsets(_ ticks: Int32, onlyLast: Bool = false) -> [UInt8] {
        var result = self
        for place in self.behind("trun") where place + 12 <= self.count {
            let rows = Int(self[(place + 4)..<(place + 8)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            for row in (onlyLast ? rows - 1 : 0)..<rows {
                let start = place + 12 + row * 16 + 12
                guard start + 4 <= self.count else { continue }
                let value = result[start..<(start + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                let moved = UInt32(bitPattern: Int32(bitPattern: value) &+ ticks)
                for index in 0..<4 {
                    result[start + index] = UInt8(truncatingIfNeeded: moved >> UInt32(24 - 8 * index))
                }
            }
        }
        return result
    }

    /// Moves decode times by ticks.
    func movingDecodeTimes(_ ticks: Int64) -> [UInt8] {
        var result = self
        for place in self.behind("tfdt") where place + 12 <= self.count {
            let time = result[(place + 4)..<(place + 12)].reduce(Int64(0)) { $0 << 8 | Int64($1) } + ticks
            for index in 0..<8 { result[place + 4 + index] = UInt8(truncatingIfNeeded: time >> Int64(56 - 8 * index)) }
        }
        return result
    }
}

/// The media sequence number in a file name such as `720p-1-12.3.m4s`; nil for maps.
func sequence(_ name: String) -> Int? {
    guard name.hasSuffix(".m4s") else { return nil }
    return name.split(separator: "-").last?.split(separator: ".").first.flatMap { Int($0) }
}

func isPart(_ name: String) -> Bool { name.split(separator: ".").count == 3 }
