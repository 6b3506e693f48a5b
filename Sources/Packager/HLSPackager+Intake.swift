import HLS
import MediaTypes

extension HLSPackager {
    /// What comes from the ladder until the writer takes it.
    struct Intake {
        /// Where slots begin.
        var slots: SlotTable
        var collector: SlotCollector?
        /// Set by ``finish(endlist:)``.
        var endlist: Bool?
        /// Frame after the last picture, until the ranges have been told of it.
        var pictureEnd: Int64?
        /// The writer has stopped.
        var isOver = false
        /// Somebody else may serve the room: the writer is to look.
        var isDoubtful = false
        /// Threads blocked in ``receive(track:_:)``.
        var waiting = 0
        /// Takes what happens at the live edge; `nil`: nobody.
        var viewers: (@Sendable (LiveUpdate) -> Void)?
        var edge: EdgePublication?
        /// Keeps the parts at the edge for a successor.
        var keeper: EdgeKeeper?
        private var kept: EdgeRecord?
        /// This worker's; set with the keeper.
        var incarnation: Int64 = 0
        /// Is told of every part that is out; `nil`: nobody.
        var watcher: (@Sendable (_ track: Int, _ frames: Range<Int64>) -> Void)?
        var marks = MarkBoard()
        /// What the directory has not listed yet.
        var rangeChanges: [DateRange.Change] = []
        /// Bit rates, by track, that the writer has yet to be told.
        var rates: [Int: BitRates] = [:]
        /// Segments that are listed at most, and whether the writer has yet to be told.
        var mostSegments: Int?
        var isLimitNew = false

        init(grid: OutputGrid) { self.slots = SlotTable(grid: grid) }

        /// Lists ranges at the live edge, and with the next segment in the directory.
        mutating func list(_ changes: [DateRange.Change]) {
            self.rangeChanges += changes
            self.edge?.list(changes)
        }

        /// A track's configuration changes with the slot of a picture, in the directory and at the live edge alike.
        mutating func change(_ change: ConfigurationChange, firstTick: Int64) {
            let slot = self.slots.slot(ofFrame: firstTick)
            let (named, from) = self.edge?.change(change, from: slot) ?? (change, slot)
            self.collector?.change(named, from: from)
        }

        /// Nothing follows: what is open ends with the last picture.
        mutating func endEdge() {
            if let end = self.pictureEnd.take() { self.list(self.marks.end(at: end)) }
            self.edge?.end()
            self.showEdge()
        }

        mutating func takeRangeChanges() -> [DateRange.Change] {
            defer { self.rangeChanges = [] }
            return self.rangeChanges
        }

        /// The directory's state knows the segments below a number.
        mutating func noteRecorded(_ mediaSequence: Int64) {
            self.edge?.noteRecorded(mediaSequence)
            self.showEdge()
        }

        /// Under the lock, so that updates go out in the order they were made.
        mutating func showEdge() {
            guard let viewers = self.viewers, let update = self.edge?.takeUpdate(), !update.isEmpty else { return }
            if let keeper = self.keeper, let edge = self.edge, case let record = edge.record, record != self.kept {
                keeper.keep(record, update.added, edge.mark(self.incarnation))
                self.kept = record
            }
            viewers(update)
        }

        /// Viewers may know the track's segment of that number by its name.
        func isPromised(_ track: Int, _ mediaSequence: Int64) -> Bool {
            guard let promised = self.kept?.promised, promised.indices.contains(track) else { return false }
            return mediaSequence < promised[track]
        }
    }
}
