import DequeModule
import MediaTypes

/// The packets of a source of a live room between arrival and decoding, in one queue per track, so that a track whose
/// packets are not due yet does not delay another one.
struct PacketSchedule {
    /// Kind and number of a track, which identify the track's queue.
    struct Line: Hashable {
        var kind: TrackKind
        var track: UInt8
    }

    /// A packet with its position on the source's timeline.
    struct ScheduledPacket {
        var packet: CodedPacket
        var noted: SourceTimeline.SourceTimes
        /// Program time at which it arrived; `nil` for files.
        var arrival: Int64?
    }

    enum Entry {
        case configuration(CodecParameters)
        case packet(ScheduledPacket)
    }

    /// Video, main audio, then further audio tracks in order of appearance; this is also the order for equal times.
    private var lines: [(line: Line, entries: Deque<Entry>)] = [
        (Line(kind: .video, track: 0), []), (Line(kind: .audio, track: 0), []),
    ]
    private(set) var count = 0
    /// Whether the publication ends when all waiting entries are decoded; until then, no later item may be appended.
    private(set) var isEnding = false

    var isEmpty: Bool { self.count == 0 }

    mutating func append(_ parameters: CodecParameters) {
        self.append(.configuration(parameters), to: Line(kind: parameters.kind, track: parameters.track))
    }

    mutating func append(_ waiting: ScheduledPacket) {
        self.append(.packet(waiting), to: Line(kind: waiting.packet.kind, track: waiting.packet.track))
    }

    private mutating func append(_ entry: Entry, to line: Line) {
        self.count += 1
        if let index = self.lines.firstIndex(where: { $0.line == line }) {
            self.lines[index].entries.append(entry)
        } else {
            self.lines.append((line, [entry]))
        }
    }

    mutating func appendEnd() { self.isEnding = true }

    /// Discards the waiting entries, but not the end of the publication.
    ///
    /// - Returns: The discarded items, track by track.
    mutating func removeAll() -> [SourceItem] {
        var items: [SourceItem] = []
        for index in self.lines.indices {
            for entry in self.lines[index].entries {
                switch entry {
                case .configuration(let parameters): items.append(.configuration(parameters))
                case .packet(let waiting): items.append(.packet(waiting.packet))
                }
            }
            self.lines[index].entries.removeAll()
        }
        self.count = 0
        return items
    }

    /// Ends the publication; the next one may have other tracks.
    mutating func ended() {
        self.isEnding = false
        self.lines.removeSubrange(2...)
    }

    /// The entry that is due first according to `due`; a configuration is due immediately.
    func first(_ due: (ScheduledPacket) -> Int64) -> (line: Line, due: Int64)? {
        var best: (line: Line, due: Int64)?
        for (line, entries) in self.lines {
            guard let entry = entries.first else { continue }
            let time = Self.due(entry, due)
            if best.map({ time < $0.due }) ?? true { best = (line, time) }
        }
        return best
    }

    private static func due(_ entry: Entry, _ due: (ScheduledPacket) -> Int64) -> Int64 {
        switch entry {
        case .configuration: .min
        case .packet(let waiting): due(waiting)
        }
    }

    mutating func popFirst(_ line: Line) -> Entry? {
        guard let index = self.lines.firstIndex(where: { $0.line == line }),
            let entry = self.lines[index].entries.popFirst()
        else { return nil }
        self.count -= 1
        return entry
    }
}
