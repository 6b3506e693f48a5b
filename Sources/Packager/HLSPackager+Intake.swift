import HLS
import MediaTypes

extension HLSPackager {
    /// Media and changes that the encoders have delivered and the writer has not taken yet; protected by a lock.
    struct Intake {
        /// The segment boundaries, which forced cuts change.
        var boundaries: SegmentBoundaries
        var collector: SegmentCollector?
        /// Whether the playlists get `EXT-X-ENDLIST`; `nil` until ``finish(endlist:)`` is called.
        var endlist: Bool?
        /// The frame after the last video frame, or after the end of the audio if there is no video; `nil` again once the
        /// open date ranges have been ended there.
        var pictureEnd: Int64?
        /// Whether the writer has stopped.
        var isOver = false
        /// Whether the writer must check if a newer worker has claimed the room.
        var isDoubtful = false
        /// Number of threads blocked in ``receive(track:_:)``.
        var waiting = 0
        /// Callback for changes of the live-edge playlists; `nil` without a playback listener.
        var viewers: (@Sendable (LiveEdgeUpdate) -> Void)?
        var edge: LiveEdgePublication?
        /// Stores the parts at the live edge for the next worker.
        var keeper: LiveEdgeStore?
        private var kept: LiveEdgeRecord?
        /// By track, the newest initialization segment that was passed on.
        private var newest: [Int: [UInt8]] = [:]
        /// Incarnation (run number) of this worker; set together with ``keeper``.
        var incarnation: Int64 = 0
        /// Callback for new parts that viewers can request; see ``HLSPackager/watchParts(_:)``.
        var watcher: (@Sendable (_ track: Int, _ frames: Range<Int64>) -> Void)?
        var marks = PendingDateRanges()
        /// Date range changes that the playlists in the directory do not contain yet.
        var rangeChanges: [DateRange.Change] = []
        /// New declared bit rates by track index, to be passed to the writer.
        var rates: [Int: BitRates] = [:]
        /// Maximum number of segments to list, set when disk space is short; `nil`: no limit.
        var mostSegments: Int?
        /// Whether ``mostSegments`` still has to be passed to the writer.
        var isLimitNew = false

        init(grid: OutputGrid) { self.boundaries = SegmentBoundaries(grid: grid) }

        /// Lists date range changes at the live edge now, and in the directory's playlists with the next segment.
        mutating func list(_ changes: [DateRange.Change]) {
            self.rangeChanges += changes
            self.edge?.list(changes)
        }

        /// Changes a track's configuration from the segment of a frame on, in the directory and at the live edge.
        mutating func change(_ change: ConfigurationChange, firstTick: Int64) {
            // The live edge may have put the change off; the same again must not take effect earlier in the directory.
            guard self.newest[change.track] != change.initialization else { return }
            if self.collector != nil { self.newest[change.track] = change.initialization }
            let segmentIndex = self.boundaries.segmentIndex(ofFrame: firstTick)
            let (named, from) = self.edge?.change(change, from: segmentIndex) ?? (change, segmentIndex)
            self.collector?.change(named, from: from)
        }

        /// Ends the live-edge playlists; open date ranges end with the last frame.
        mutating func endEdge() {
            if let end = self.pictureEnd.take() { self.list(self.marks.end(at: end)) }
            self.edge?.end()
            self.showEdge()
        }

        /// Returns and clears the date range changes for the writer.
        mutating func takeRangeChanges() -> [DateRange.Change] {
            defer { self.rangeChanges = [] }
            return self.rangeChanges
        }

        /// Notes that the directory's state file now has the segments below a media sequence number.
        mutating func noteRecorded(_ mediaSequence: Int64) {
            self.edge?.noteRecorded(mediaSequence)
            self.showEdge()
        }

        /// Stores changes of the live edge for the next worker, then sends them to the playback listener. Called with
        /// the lock held, so that updates are sent in the order they were made.
        mutating func showEdge() {
            guard let viewers = self.viewers, let update = self.edge?.takeUpdate(), !update.isEmpty else { return }
            if let keeper = self.keeper, let edge = self.edge, case let record = edge.record, record != self.kept {
                keeper.keep(record, update.added, edge.mark(self.incarnation))
                self.kept = record
            }
            viewers(update)
        }

        /// Whether viewers may know the URI of the track's segment with that media sequence number.
        func isPromised(_ track: Int, _ mediaSequence: Int64) -> Bool {
            guard let promised = self.kept?.promised, promised.indices.contains(track) else { return false }
            return mediaSequence < promised[track]
        }
    }
}
