import HLS
import MediaTypes

extension HLSPackager {
    /// Media and changes on their way from the encoders to the writer.
    struct Intake {
        /// Slot boundaries.
        var slots: SegmentBoundaries
        var collector: SegmentCollector?
        /// Set by ``finish(endlist:)``.
        var endlist: Bool?
        /// Frame after the last video frame, until the date ranges have been ended there.
        var pictureEnd: Int64?
        /// The writer has stopped.
        var isOver = false
        /// Another worker may serve the room: the writer must check.
        var isDoubtful = false
        /// Threads blocked in ``receive(track:_:)``.
        var waiting = 0
        /// Receives the changes at the live edge; `nil` without listeners.
        var viewers: (@Sendable (LiveEdgeUpdate) -> Void)?
        var edge: LiveEdgePublication?
        /// Stores the parts at the live edge for the next worker.
        var keeper: LiveEdgeStore?
        private var kept: LiveEdgeRecord?
        /// Incarnation of this worker; set with the keeper.
        var incarnation: Int64 = 0
        /// Called for every part that viewers can request.
        var watcher: (@Sendable (_ track: Int, _ frames: Range<Int64>) -> Void)?
        var marks = MarkBoard()
        /// Changes of date ranges that the directory has not listed yet.
        var rangeChanges: [DateRange.Change] = []
        /// New bit rates by track, to be passed to the writer.
        var rates: [Int: BitRates] = [:]
        /// Most segments to list, and whether this limit still has to be passed to the writer.
        var mostSegments: Int?
        var isLimitNew = false

        init(grid: OutputGrid) { self.slots = SegmentBoundaries(grid: grid) }

        /// Lists ranges at the live edge, and with the next segment in the directory.
        mutating func list(_ changes: [DateRange.Change]) {
            self.rangeChanges += changes
            self.edge?.list(changes)
        }

        /// Changes a track's configuration from the slot of a frame on, in the directory and at the live edge.
        mutating func change(_ change: ConfigurationChange, firstTick: Int64) {
            let slot = self.slots.slot(ofFrame: firstTick)
            let (named, from) = self.edge?.change(change, from: slot) ?? (change, slot)
            self.collector?.change(named, from: from)
        }

        /// Ends the live edge: open ranges end with the last frame.
        mutating func endEdge() {
            if let end = self.pictureEnd.take() { self.list(self.marks.end(at: end)) }
            self.edge?.end()
            self.showEdge()
        }

        mutating func takeRangeChanges() -> [DateRange.Change] {
            defer { self.rangeChanges = [] }
            return self.rangeChanges
        }

        /// The directory's state file now has the segments below a number.
        mutating func noteRecorded(_ mediaSequence: Int64) {
            self.edge?.noteRecorded(mediaSequence)
            self.showEdge()
        }

        /// Called with the lock held, so that updates are sent in the order they were made.
        mutating func showEdge() {
            guard let viewers = self.viewers, let update = self.edge?.takeUpdate(), !update.isEmpty else { return }
            if let keeper = self.keeper, let edge = self.edge, case let record = edge.record, record != self.kept {
                keeper.keep(record, update.added, edge.mark(self.incarnation))
                self.kept = record
            }
            viewers(update)
        }

        /// Whether viewers may know the name of the track's segment with that number.
        func isPromised(_ track: Int, _ mediaSequence: Int64) -> Bool {
            guard let promised = self.kept?.promised, promised.indices.contains(track) else { return false }
            return mediaSequence < promised[track]
        }
    }
}
