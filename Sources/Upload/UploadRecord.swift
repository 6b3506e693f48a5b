import HLS

/// The state of an upload to a store, which a worker records for the next worker of the room. The format is text with
/// one item per line.
package struct UploadRecord: Sendable, Hashable {
    /// First part of the name of a store's record in the directory of the HLS output; the output's id follows. The file
    /// is removed when the room has ended and the store has received everything.
    package static let notePrefix = ".upload-"

    /// Segments that the store lists as slate or a gap, unlike the output, by track and media sequence number.
    package struct Restamped: Sendable, Hashable {
        /// The name of the slate by track name and media sequence number; empty for a gap.
        private(set) var uris: [String: [Int64: String]] = [:]

        mutating func note(track: String, _ mediaSequence: Int64, uri: String?) {
            self.uris[track, default: [:]][mediaSequence] = uri ?? ""
        }

        mutating func forget(before mediaSequence: Int64) {
            for track in self.uris.keys {
                self.uris[track] = self.uris[track]?.filter { $0.key >= mediaSequence }
            }
        }

        func applied(to segment: Segment, track: String) -> Segment {
            guard let uri = self.uris[track]?[segment.mediaSequence] else { return segment }
            return uri.isEmpty ? segment.asGap : segment.renamed(uri)
        }
    }

    package let origin: Int64
    /// Media sequence number after the last segment that the store lists.
    package let next: Int64
    /// Segments that the store lists as slate or a gap.
    package let restamped: Restamped
    /// Names of objects that the store may still have although no playlist lists them: deletions that are pending or
    /// were planned. Some may already be gone.
    package let leftovers: [String]

    package init(origin: Int64, next: Int64, restamped: Restamped = Restamped(), leftovers: [String] = []) {
        self.origin = origin
        self.next = next
        self.restamped = restamped
        self.leftovers = leftovers
    }

    private static let head = "tandem-upload 1"
    /// First word of a line with a leftover object; no track has this name. An older version of the worker reads such a
    /// line as a segment that is no longer listed.
    private static let leftover = "/"
    /// Maximum number of leftover objects in a record; further ones are not recorded.
    static let mostLeftovers = 1_024

    /// Whether this record must be written after `other` was. Completed deletions alone do not count: deleting an
    /// object again is harmless.
    func isNews(after other: UploadRecord?) -> Bool {
        guard let other, other.origin == self.origin, other.next == self.next, other.restamped == self.restamped else {
            return true
        }
        return other.leftovers != self.leftovers && !Set(other.leftovers).isSuperset(of: self.leftovers)
    }

    package var text: String {
        var lines = [Self.head, "\(self.origin) \(self.next)"]
        for (track, rows) in self.restamped.uris.sorted(by: { $0.key < $1.key }) {
            for (number, uri) in rows.sorted(by: { $0.key < $1.key }) {
                lines.append(uri.isEmpty ? "\(track) \(number)" : "\(track) \(number) \(uri)")
            }
        }
        for name in self.leftovers { lines.append("\(Self.leftover) 0 \(name)") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Parses the text of a record.
    ///
    /// - Returns: `nil` for a damaged text.
    package init?(text: String) {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        guard text.hasPrefix(Self.head + "\n"), lines.count >= 2, lines[1].count == 2,
            let origin = Int64(lines[1][0]), let next = Int64(lines[1][1]), next >= 0
        else { return nil }
        var restamped = Restamped()
        var leftovers: [String] = []
        for words in lines.dropFirst(2) {
            guard (2...3).contains(words.count), let number = Int64(words[1]) else { return nil }
            if words[0] == Self.leftover {
                guard words.count == 3 else { return nil }
                // Only names without a path are accepted.
                if !words[2].contains("/"), leftovers.count < Self.mostLeftovers { leftovers.append(String(words[2])) }
                continue
            }
            restamped.note(track: String(words[0]), number, uri: words.count == 3 ? String(words[2]) : nil)
        }
        self.init(origin: origin, next: next, restamped: restamped, leftovers: leftovers)
    }
}

extension Segment {
    /// The same segment, listed as a gap.
    var asGap: Segment { self.with(uri: self.uri, gap: true, keyFrames: self.keyFrames) }

    /// Returns the segment under the name of other media that replaces it. Its key frames are marked as unavailable.
    func renamed(_ uri: String) -> Segment {
        self.with(uri: uri, gap: false, keyFrames: self.keyFrames.map(\.absent))
    }

    /// Name of the slate that replaces the segment. It differs from the segment's name, because the store may have the
    /// segment, and the bytes of a name must never change.
    var slateName: String {
        self.uri.hasSuffix(".m4s") ? "\(self.uri.dropLast(4))-slate.m4s" : "\(self.uri)-slate"
    }

    private func with(uri: String, gap: Bool, keyFrames: [KeyFrame]) -> Segment {
        Segment(
            mediaSequence: self.mediaSequence, uri: uri, start: self.start, duration: self.duration,
            programDate: self.programDate, map: self.map, discontinuity: self.discontinuity, key: self.key, gap: gap,
            byteCount: gap ? 0 : self.byteCount, independent: self.independent, publishedAt: self.publishedAt,
            keyFrames: keyFrames)
    }
}
