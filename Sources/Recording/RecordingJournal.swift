package import HLS
import MediaTypes
package import Packager

/// The journal of a recording on disk: a first line with the room's id, then a line for each segment (over all tracks),
/// the key frames of each track, each change of a date range, each stop of the recording and the end, in order. An
/// incomplete last line, left by a worker that was killed, is ignored.
///
/// Fields are separated by tabs; names and texts contain no control characters.
package struct RecordingJournal: Sendable, Hashable {
    package static let name = "recording.journal"
    static let version = "1"

    /// An error with the number of an invalid journal line.
    package struct Damage: Error, Hashable { package let line: Int }

    package private(set) var roomID: String
    /// The recorded segments, in the order of their media sequence numbers.
    package private(set) var segmentSets: [ListedSegmentSet] = []
    package private(set) var ranges: [DateRange] = []
    /// Index into ``ranges`` by ID.
    private var places: [String: Int] = [:]
    package private(set) var isEnded = false
    /// Reason of the last stop of the recording; `nil` if recording was never stopped.
    package private(set) var stopReason: String?
    /// Media sequence number after the last segment that the room listed; `nil` until the room has ended.
    package private(set) var endMediaSequence: Int64?
    /// Names of segment files that are not part of the recording, because a newer worker has listed segments in their
    /// place.
    package private(set) var replaced: Set<String> = []
    /// Incarnation (run number) of the newest worker that has written a segment.
    private var incarnation: Int64 = 0

    init(roomID: String) { self.roomID = roomID }

    // MARK: Writing

    package static func head(roomID: String) -> String {
        "recording\t\(self.version)\t\(roomID)\n"
    }

    package static func line(_ segmentSet: ListedSegmentSet) -> String {
        var fields = [
            segmentSet.mediaSequence, segmentSet.incarnation, segmentSet.frames.lowerBound,
            segmentSet.frames.upperBound,
        ].map {
            "\($0)"
        }
        fields.insert("slot", at: 0)
        for track in segmentSet.tracks {
            let segment = track.segment
            let flags = (segment.discontinuity ? 1 : 0) + (segment.gap ? 2 : 0) + (segment.independent ? 4 : 0)
            fields += [
                track.name, track.kind.rawValue, segment.uri, segment.map.uri, "\(segment.start)",
                "\(segment.duration.ticks)", "\(segment.duration.timescale)", "\(segment.programDate)",
                "\(segment.byteCount)", "\(flags)",
            ]
        }
        return fields.joined(separator: "\t") + "\n"
            + segmentSet.tracks.compactMap { self.keysLine($0, of: segmentSet) }.joined()
    }

    package static func line(_ change: DateRange.Change) -> String {
        switch change {
        case .opened(let range):
            var fields = ["open", range.id, range.rangeClass, "\(range.start)"]
            fields += range.attributes.flatMap { [$0.name, $0.value] }
            return fields.joined(separator: "\t") + "\n"
        case .closed(let id, let end): return "close\t\(id)\t\(end)\n"
        }
    }

    package static func end(nextMediaSequence: Int64) -> String { "end\t\(nextMediaSequence)\n" }

    /// Returns the line that a worker writes when it stops recording.
    package static func stop(_ reason: String) -> String {
        "stop\t\(String(reason.map { $0.isNewline || $0 == "\t" ? " " : $0 }))\n"
    }

    // MARK: Reading

    /// Returns the id of the room, which is in the first line of a journal.
    ///
    /// - Parameter bytes: The beginning of the file; 512 bytes are enough.
    /// - Returns: `nil` if the line is not that of a journal.
    package static func roomID(atHeadOf bytes: [UInt8]) -> String? {
        let line = String(decoding: bytes, as: UTF8.self).prefix { $0 != "\n" }
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        return fields.count == 3 && fields[0] == "recording" ? String(fields[2]) : nil
    }

    /// Parses the text of a journal.
    ///
    /// - Throws: ``Damage`` for an invalid line.
    package init(text: String) throws(Damage) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // The text after the last line break is empty or an incomplete line.
        lines.removeLast()
        guard let head = lines.first?.split(separator: "\t", omittingEmptySubsequences: false), head.count == 3,
            head[0] == "recording", head[1] == Self.version
        else { throw Damage(line: 1) }
        self.init(roomID: String(head[2]))
        for (index, line) in lines.enumerated().dropFirst() {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard self.take(fields) else { throw Damage(line: index + 1) }
        }
    }

    private mutating func take(_ fields: [String]) -> Bool {
        switch fields.first {
        case "slot":
            guard let segmentSet = Self.segmentSet(fields) else { return false }
            self.add(segmentSet)
        case "keys": return self.takeKeys(fields)
        case "open":
            guard fields.count >= 4, fields.count.isMultiple(of: 2), let start = Self.number(fields[3]) else {
                return false
            }
            let attributes = stride(from: 4, to: fields.count, by: 2).map {
                // The stored name already has its X- prefix.
                DateRange.Attribute(String(fields[$0].dropFirst(2)), fields[$0 + 1])
            }
            let range = DateRange(id: fields[1], rangeClass: fields[2], start: start, attributes: attributes)
            if self.places[range.id] == nil {
                self.places[range.id] = self.ranges.count
                self.ranges.append(range)
            }
        case "close":
            guard fields.count == 3, let end = Self.number(fields[2]) else { return false }
            if let index = self.places[fields[1]], self.ranges[index].end == nil {
                let range = self.ranges[index]
                self.ranges[index] = DateRange(
                    id: range.id, rangeClass: range.rangeClass, start: range.start, end: end,
                    attributes: range.attributes)
            }
        case "stop":
            guard fields.count == 2 else { return false }
            self.stopReason = fields[1]
        case "end":
            guard fields.count <= 2 else { return false }
            self.isEnded = true
            if fields.count == 2 {
                guard let number = Self.number(fields[1]) else { return false }
                self.endMediaSequence = number
            }
        default: return false
        }
        return true
    }

    private mutating func add(_ segmentSet: ListedSegmentSet) {
        // A worker that was stopped (SIGSTOP) or got no CPU time wrote this line after a newer worker had started.
        guard segmentSet.incarnation >= self.incarnation else {
            self.replaced.formUnion(segmentSet.tracks.map(\.segment.uri))
            return
        }
        self.incarnation = segmentSet.incarnation
        while let last = self.segmentSets.last, last.mediaSequence >= segmentSet.mediaSequence {
            self.replaced.formUnion(last.tracks.map(\.segment.uri))
            self.segmentSets.removeLast()
        }
        self.segmentSets.append(segmentSet)
        self.replaced.subtract(segmentSet.tracks.map(\.segment.uri))
    }

    /// Replaces the last segment by one with more detail.
    mutating func replaceLast(_ segmentSet: ListedSegmentSet) {
        self.segmentSets.removeLast()
        self.segmentSets.append(segmentSet)
    }

    /// Times in ticks and sizes in bytes are less than this, so that the sum of a few stays far inside 64 bits. A larger
    /// one means a damaged line.
    private static let largest: Int64 = 1 << 56

    private static func segmentSet(_ fields: [String]) -> ListedSegmentSet? {
        let head = fields.prefix(5).dropFirst().compactMap { Self.number($0) }
        guard head.count == 4, head[2] <= head[3], (fields.count - 5).isMultiple(of: 10), fields.count > 5 else {
            return nil
        }
        var tracks: [ListedSegmentSet.Track] = []
        for first in stride(from: 5, to: fields.count, by: 10) {
            let numbers = fields[(first + 4)..<(first + 10)].compactMap { Self.number($0) }
            let names = [fields[first], fields[first + 2], fields[first + 3]]
            guard numbers.count == 6, names.allSatisfy(RecordedNames.isValid),
                let kind = TrackKind(rawValue: fields[first + 1]), numbers[1] > 0, (1...1_000_000).contains(numbers[2]),
                let timescale = Int32(exactly: numbers[2]), (0...7).contains(numbers[5]),
                [numbers[0], numbers[1], numbers[4]].allSatisfy({ $0 < Self.largest }),
                let bytes = Int(exactly: numbers[4])
            else { return nil }
            let segment = Segment(
                mediaSequence: head[0], uri: names[1], start: numbers[0],
                duration: MediaDuration(ticks: numbers[1], timescale: timescale), programDate: numbers[3],
                map: InitializationSegment(uri: names[2]), discontinuity: numbers[5] & 1 != 0,
                gap: numbers[5] & 2 != 0, byteCount: bytes, independent: numbers[5] & 4 != 0)
            tracks.append(ListedSegmentSet.Track(name: names[0], kind: kind, segment: segment))
        }
        return ListedSegmentSet(
            mediaSequence: head[0], incarnation: head[1], frames: head[2]..<head[3], tracks: tracks)
    }

    /// Parses a number; `nil` if it is negative or so large that the sum of two would not fit in 64 bits.
    private static func number(_ text: String) -> Int64? {
        guard let value = Int64(text), (0..<Int64.max / 2).contains(value) else { return nil }
        return value
    }
}
