import HLS
import MediaTypes

/// Program changes that wait for their frame, and the date ranges that are open.
///
/// A date range is passed on for listing with the first part (in offline jobs: segment) that reaches its first frame.
/// Until then a command may still cancel it; after that its start and attributes never change.
struct PendingDateRanges: Sendable {
    private struct Open: Sendable {
        let id: String
        let tick: Int64
        let attributes: [DateRange.Attribute]
    }

    private var origin: Int64 = 0
    private var fps: Int64 = 1
    private var incarnation: Int64 = 1
    private var pending: [ProgramMark] = []
    private var open: [String: Open] = [:]
    private var count: Int64 = 0
    /// All frames before this one are listed in at least one playlist.
    private var reached: Int64 = .min

    /// Starts the timeline. Marks that were set for an earlier frame apply from the first frame on.
    ///
    /// - Parameters:
    ///   - origin: Time zero of the room: nanoseconds since the Unix epoch.
    ///   - firstTick: First frame of this run, counted from the origin.
    ///   - kept: Date ranges of a previous worker that are still open.
    mutating func begin(origin: Int64, fps: Int, incarnation: Int64, firstTick: Int64, kept: [DateRange] = []) {
        for range in kept where range.end == nil {
            let tick = TimeMath.scale(range.start &- origin, by: Int64(fps), over: TimeMath.nanoseconds)
            self.open[range.rangeClass] = Open(id: range.id, tick: tick, attributes: range.attributes)
        }
        self.origin = origin
        self.fps = Int64(fps)
        self.incarnation = incarnation
        self.reached = firstTick
        for index in self.pending.indices { self.pending[index].tick = max(self.pending[index].tick, firstTick) }
    }

    /// Adds a program change. It replaces a waiting change of the same class at the same frame. If it is not scheduled,
    /// it also replaces unscheduled changes of its class that wait for later frames.
    ///
    /// - Returns: Date range changes to list at once, because their frame is already published.
    mutating func put(_ mark: ProgramMark) -> [DateRange.Change] {
        self.pending.removeAll { other in
            other.rangeClass == mark.rangeClass
                && (other.tick == mark.tick || (!mark.isScheduled && !other.isScheduled && other.tick > mark.tick))
        }
        let place = self.pending.firstIndex { $0.tick > mark.tick } ?? self.pending.endIndex
        self.pending.insert(mark, at: place)
        return self.release()
    }

    /// Returns the date range changes to list with a part or a segment that reaches up to a frame.
    mutating func release(before frame: Int64) -> [DateRange.Change] {
        guard frame > self.reached else { return [] }
        self.reached = frame
        return self.release()
    }

    private mutating func release() -> [DateRange.Change] {
        var changes: [DateRange.Change] = []
        while let mark = self.pending.first, mark.tick < self.reached {
            self.pending.removeFirst()
            let before = self.open[mark.rangeClass]
            // Repeating the same attributes is no change.
            if let before, before.attributes == mark.attributes { continue }
            let tick = max(mark.tick, before?.tick ?? mark.tick)
            if let before { changes.append(.closed(id: before.id, end: self.date(of: tick))) }
            self.open[mark.rangeClass] = nil
            guard let attributes = mark.attributes else { continue }
            self.count += 1
            let name = mark.rangeClass.split(separator: ".").last.map(String.init) ?? "range"
            // The incarnation makes the IDs of the room's workers distinct.
            let id = "\(name)-\(self.incarnation)-\(self.count)"
            self.open[mark.rangeClass] = Open(id: id, tick: tick, attributes: attributes)
            changes.append(
                .opened(
                    DateRange(
                        id: id, rangeClass: mark.rangeClass, start: self.date(of: tick),
                        plannedDuration: mark.plannedDuration, attributes: attributes)))
        }
        return changes
    }

    /// Ends the program with the frame before `tick`: open date ranges end there, and waiting marks are dropped.
    mutating func end(at tick: Int64) -> [DateRange.Change] {
        let changes = self.release(before: tick)
        self.pending = []
        let ends = self.open.values.sorted { $0.id < $1.id }.map { range in
            DateRange.Change.closed(id: range.id, end: self.date(of: max(tick, range.tick)))
        }
        self.open = [:]
        return changes + ends
    }

    private func date(of tick: Int64) -> Int64 {
        self.origin &+ TimeMath.scale(tick, by: TimeMath.nanoseconds, over: self.fps)
    }
}
