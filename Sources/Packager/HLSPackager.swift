import HLS
package import MediaTypes
import Dispatch
import Synchronization

/// An HLS output of a room: takes the coded packets of all tracks, cuts them into aligned segments and parts, and keeps
/// the output directory, the playlists and the objects for viewers consistent.
///
/// Call order: ``open(_:tracks:store:clock:keeper:report:)`` claims the directory, ``begin(now:slate:)`` fixes the
/// timeline, ``receive(track:_:)`` takes packets from the encoders, ``run()`` is the writer's thread, and
/// ``finish(endlist:)`` makes ``run()`` return. The packager never reads the wall clock: all dates follow from the
/// room's origin.
package final class HLSPackager: Sendable {
    /// How a worker's run ended.
    package enum Outcome: Sendable, Equatable {
        /// The playlists end with `EXT-X-ENDLIST`.
        case ended
        /// The room has ended, but the end could not be written to the store. Only with
        /// ``HLSOutputSettings/waitsForStore``.
        case endLost
        /// The playlists are left open for the next worker.
        case drained
        /// A newer worker serves this directory, so this one has stopped publishing.
        case superseded
    }

    /// Start of a worker's run on the room's timeline.
    package struct Beginning: Sendable, Hashable {
        /// Time zero of the room: nanoseconds since the Unix epoch.
        package let origin: Int64
        /// First live frame of this run, counted from the room's origin.
        package let firstTick: Int64

        package init(origin: Int64, firstTick: Int64) {
            self.origin = origin
            self.firstTick = firstTick
        }
    }

    /// Number of complete segments waiting for the store at which `receive` blocks, with `waitsForStore`.
    private static let queuedSegments = 4
    /// Nanoseconds without a packet after which the worker checks its claim: the process may have been stopped and
    /// another worker started meanwhile.
    static let longestPause: Int64 = 500_000_000

    let settings: HLSOutputSettings
    let tracks: [TrackDescription]
    let store: any SegmentStore
    let clock: any MonotonicClock
    let report: @Sendable (PackagerEvent) -> Void
    /// The room's state file as it was when this worker claimed the room, with this worker's incarnation.
    let claimed: StateFile
    /// Encryption keys; `nil` if segments are not encrypted.
    let keys: SegmentKeys?
    /// Receives everything that is listed, for recordings, which keep media longer than the playlists; `nil` without
    /// recording.
    let keeper: (any ListingObserver)?
    /// The cues of the subtitle renditions; `nil` if there are none.
    let subtitles: SubtitleRenditions?
    let segmenters: [LockedSegmenter]
    /// Media and changes that wait for the writer.
    let intake: Mutex<Intake>
    let writer = Mutex<PublicationWriter?>(nil)
    /// Objects that viewers can request, by name.
    let objects = Mutex<[String: PublishedObject]>([:])
    /// The publication last made available to viewers, whose playlists may not be on disk yet; `nil` before the first.
    let listing = Mutex<Publication?>(nil)
    /// Objects besides the media that viewers can request.
    let extras = Mutex<[String: PublishedObject]>([:])
    /// Other consumers of the listing; see ``watchListing(_:)``.
    let listingWatchers = Mutex<[ListingWatcher]>([])
    /// Lookup functions of other outputs whose objects this output's playback listener also serves; see ``serve(_:)``.
    let beside = Mutex<[@Sendable (String) -> PublishedObject?]>([])
    /// Whether viewers can request the playlists, and the callback for the moment from which they can.
    let firstShown = Mutex<(isShown: Bool, body: (@Sendable () -> Void)?)>((false, nil))
    let work = DispatchSemaphore(value: 0)
    /// Time of the last packet on ``clock``; 0 before the first.
    let lastPacket = Atomic<Int64>(0)
    private let space = DispatchSemaphore(value: 0)
    /// Whether the end must be written again, because the store did not accept it.
    private let isEndDue = Atomic(false)
    /// The state file has the segments below this number.
    let recordedNumber: Atomic<Int64>
    /// The live-edge playlists have listed the segments below this media sequence number; 0 without a playback
    /// listener. Only kept for encrypted rooms.
    let shownNumber = Atomic<Int64>(0)

    init(
        settings: HLSOutputSettings, tracks: [TrackDescription], store: any SegmentStore, clock: any MonotonicClock,
        claimed: StateFile, keys: SegmentKeys? = nil, keeper: (any ListingObserver)? = nil,
        report: @escaping @Sendable (PackagerEvent) -> Void
    ) {
        self.settings = settings
        self.tracks = tracks
        self.store = store
        self.clock = clock
        self.claimed = claimed
        self.keys = keys
        self.recordedNumber = Atomic(claimed.nextMediaSequence)
        self.keeper = keeper
        self.report = report
        self.subtitles = settings.subtitles.isEmpty ? nil : SubtitleRenditions(settings.subtitles.map(\.name))
        self.segmenters = tracks.map { _ in LockedSegmenter() }
        self.intake = Mutex(Intake(grid: settings.grid))
    }

    /// Number of this worker's run in the output directory, counted from 1.
    package var incarnation: Int64 { self.claimed.incarnation }

    /// Time zero of the room in nanoseconds since the Unix epoch, if a previous worker has set it; otherwise `nil`.
    package var origin: Int64? { self.claimed.origin }

    // MARK: Packets

    /// Takes the next packet of a track, in decoding order. Packet times count from the room's origin, see
    /// ``TrackSegmenter``.
    ///
    /// Each track has one calling thread; several tracks may be fed at the same time. Packets before
    /// ``begin(now:slate:)`` and after ``finish(endlist:)`` are dropped.
    package func receive(track: Int, _ packet: CodedPacket) {
        guard self.segmenters.indices.contains(track) else { return }
        if self.settings.waitsForStore { self.waitForSpace() }
        guard self.isOurs() else { return }
        let output = self.segmenters[track].state.withLock { $0?.append(packet) ?? [] }
        self.collect(output, track: track)
    }

    /// Whether this worker still owns the room. A stopped process continues where it was when it resumes, and a newer
    /// worker may have claimed the room meanwhile. So this worker checks its claim after a pause, before it shows
    /// anything.
    private func isOurs() -> Bool {
        var now = self.clock.now()
        let last = self.lastPacket.load(ordering: .acquiring)
        if last != 0, now &- last > Self.longestPause, !self.settings.waitsForStore {
            // If the check took as long as a pause, the process may have been stopped during it, so it is repeated.
            // Only once: with a store this slow, every packet would otherwise start another check.
            for _ in 0..<2 {
                guard !StateFile.isSuperseded(self.claimed.incarnation, in: self.store) else {
                    self.intake.withLock {
                        $0.isDoubtful = true
                        $0.edge = nil
                        $0.keeper = nil
                    }
                    self.work.signal()
                    return false
                }
                let asked = now
                now = self.clock.now()
                if now &- asked <= Self.longestPause { break }
            }
        }
        // Stored after the check: threads that arrive meanwhile check too.
        self.lastPacket.store(max(1, now), ordering: .releasing)
        return true
    }

    /// Changes a track's codec configuration from a segment on: with that segment the track gets a new `EXT-X-MAP` and
    /// every playlist an `EXT-X-DISCONTINUITY`. Call it on the track's thread, before the first such packet.
    ///
    /// - Parameters:
    ///   - parameters: H.264 with a global header; width and height in pixels.
    ///   - firstTick: The first frame with the configuration. It should be the first frame of a segment; otherwise
    ///     players cannot decode that segment's earlier frames.
    /// - Throws: ``MediaError/Code/invalidData`` for a configuration that cannot be read; nothing is changed then.
    package func configure(
        track: Int, _ parameters: CodecParameters, width: Int, height: Int, firstTick: Int64
    ) throws(MediaError) {
        guard self.tracks.indices.contains(track) else { return }
        let bytes = try self.initialization(of: track, parameters, width: width, height: height)
        self.intake.withLock { intake in
            intake.change(ConfigurationChange(track: track, initialization: bytes), firstTick: firstTick)
            intake.showEdge()
        }
    }

    /// Makes a track's initialization segment.
    func initialization(
        of track: Int, _ parameters: CodecParameters, width: Int, height: Int
    ) throws(MediaError) -> [UInt8] {
        try InitializationSegmentWriter.bytes(
            for: parameters, width: width, height: height, grid: self.settings.grid,
            place: "hls[\(self.tracks[track].name)]")
    }

    /// Declares that a track is encoded at other bit rates from about now on. The multivariant playlist declares higher
    /// rates at once, and lower rates once no segment with the higher rates is listed. Callable from any thread.
    package func declare(_ rates: BitRates, track: Int) {
        self.intake.withLock { $0.rates[track] = rates }
        self.work.signal()
    }

    /// Marks a change of the program at a frame: it ends the open date range of its class in every playlist and may begin
    /// a new one. A mark is in time if it arrives before its frame is encoded. Callable from any thread.
    package func mark(_ mark: ProgramMark) {
        let isNews = self.intake.withLock { intake in
            guard intake.endlist == nil, !intake.isOver else { return false }
            let changes = intake.marks.put(mark)
            guard !changes.isEmpty else { return false }
            intake.list(changes)
            intake.showEdge()
            return true
        }
        if isNews { self.work.signal() }
    }

    /// Returns the frame up to which segmenter output contains media.
    private static func reach(of output: [TrackSegmenter.Output], _ boundaries: SegmentBoundaries) -> Int64 {
        output.reduce(0) { reach, item in
            switch item {
            case .part(let part): max(reach, boundaries.firstFrame(ofPart: part.number + 1))
            case .segment(let segment): max(reach, boundaries.firstFrame(ofSegment: segment.segmentIndex + 1))
            }
        }
    }

    /// Passes a segmenter's output to the live edge and to the writer.
    ///
    /// - Parameter isLast: Whether the track has ended: then its last segment may be shorter than its parts, and parts
    ///   are listed only with it.
    func collect(_ output: [TrackSegmenter.Output], track: Int, isLast: Bool = false) {
        guard !output.isEmpty else { return }
        let (isReady, watcher, boundaries) = self.intake.withLock { intake in
            let reach = Self.reach(of: output, intake.boundaries)
            // A change is passed on before the part that shows it. In offline jobs it is passed on with its segment, so
            // that the same job always produces the same playlists.
            let changes = self.settings.waitsForStore ? [] : intake.marks.release(before: reach)
            intake.list(changes)
            if let (segments, first) = intake.edge?.receive(output, track: track, partsToo: !isLast) {
                if let first { intake.collector?.begin(at: first) }
                for segment in segments { intake.collector?.insert(segment, track: track) }
            } else {
                for case .segment(let segment) in output { intake.collector?.insert(segment, track: track) }
            }
            for gap in intake.collector?.takeGivenUp() ?? [] {
                intake.edge?.giveUp(track: gap.track, segmentIndex: gap.segmentIndex)
            }
            intake.showEdge()
            let watcher = intake.edge == nil ? nil : intake.watcher
            // Once per part is often enough: a superseded worker stops within one part.
            if track == intake.collector?.firstAwake ?? 0, !self.settings.waitsForStore { intake.isDoubtful = true }
            return (
                intake.isDoubtful || !changes.isEmpty || (intake.collector?.readyCount ?? 0) > 0, watcher,
                intake.boundaries
            )
        }
        if isReady { self.work.signal() }
        guard let watcher, !isLast else { return }
        for case .part(let part) in output {
            let first = boundaries.firstFrame(ofPart: part.number)
            watcher(track, first..<max(first, boundaries.firstFrame(ofPart: part.number + 1)))
        }
    }

    private func waitForSpace() {
        while self.intake.withLock({ intake in
            guard !intake.isOver, intake.endlist == nil, (intake.collector?.readyCount ?? 0) >= Self.queuedSegments
            else {
                return false
            }
            intake.waiting += 1
            return true
        }) {
            self.space.wait()
        }
    }

    /// Ends the input: ``run()`` publishes the rest and returns.
    ///
    /// - Parameter endlist: The room has ended: the media is published up to the end of the video, playlists get
    ///   `EXT-X-ENDLIST`, and no later worker can continue in the directory. If false, the incomplete last segment is
    ///   dropped, and the playlists stay open for the next worker.
    package func finish(endlist: Bool) {
        guard endlist else { return self.leaveOpen() }
        var pictureEnd: Int64?
        for (index, track) in self.tracks.enumerated() where track.kind == .video {
            let (output, end) = self.segmenters[index].finish(cuttingAt: nil)
            self.collect(output, track: index, isLast: true)
            if let end {
                pictureEnd = max(pictureEnd ?? 0, (end + OutputGrid.ticksPerFrame - 1) / OutputGrid.ticksPerFrame)
            }
        }
        let grid = self.settings.grid
        var audioEnd: Int64?
        for (index, track) in self.tracks.enumerated() where track.kind == .audio {
            let cut = pictureEnd.map { grid.ticks(ofFrame: $0, .audio) }
            let (output, end) = self.segmenters[index].finish(cuttingAt: cut)
            self.collect(output, track: index, isLast: true)
            if let end { audioEnd = max(audioEnd ?? 0, end) }
        }
        // Without video, the open date ranges end with the frame that contains the end of the audio.
        let end =
            pictureEnd
            ?? audioEnd.map { TimeMath.scale($0, by: Int64(grid.fps), over: Int64(grid.sampleRate), rounding: .up) }
        self.intake.withLock { intake in
            guard intake.endlist == nil else { return }
            intake.endlist = true
            intake.collector?.close(cuttingAudioAt: pictureEnd, grid: grid)
            for gap in intake.collector?.takeGivenUp() ?? [] {
                intake.edge?.giveUp(track: gap.track, segmentIndex: gap.segmentIndex)
            }
            intake.pictureEnd = end
            // In offline jobs with the last segment, as in ``collect(_:track:isLast:)``.
            if !self.settings.waitsForStore { intake.endEdge() }
        }
        self.releaseWaiters()
        self.work.signal()
    }

    /// Stops without the incomplete segment, because a shorter one would leave a hole in its interval. Date ranges stay
    /// open: the next worker closes them.
    private func leaveOpen() {
        for segmenter in self.segmenters { segmenter.state.withLock { $0 = nil } }
        self.intake.withLock { intake in
            guard intake.endlist == nil else { return }
            intake.endlist = false
            intake.collector?.abandon()
        }
        self.releaseWaiters()
        self.work.signal()
    }

    // MARK: The writer's thread

    /// Publishes until ``finish(endlist:)`` is called or a newer worker takes over. Blocks; call it on a thread of its
    /// own.
    ///
    /// If the store does not accept the end, or the last segment before the next worker, the write is retried every
    /// second, except with ``HLSOutputSettings/waitsForStore``. A caller that cannot wait that long stops the process
    /// and leaves the end to another worker.
    package func run() -> Outcome {
        while true {
            _ = self.work.wait(
                timeout: self.isEndDue.load(ordering: .relaxed)
                    ? .now() + .nanoseconds(Self.endPace) : .distantFuture)
            if let outcome = self.step() { return outcome }
        }
    }

    /// Nanoseconds between two attempts to write the end of the playlists.
    private static let endPace = 1_000_000_000

    /// Publishes everything that is ready, without waiting for more media.
    ///
    /// - Returns: How the run ended; `nil` while more media may come or the end could not be written.
    package func step() -> Outcome? {
        while true {
            if self.isToLook() {
                let (result, events) = self.withWriter { $0.look() }
                for event in events { self.report(event) }
                if result == .superseded { return self.over(.superseded) }
            }
            if self.applyLimit() == .superseded || self.applyRates() == .superseded { return self.over(.superseded) }
            let (segment, endlist, ranges) = self.intake.withLock { intake in
                let segment = intake.collector?.take()
                if let segment, self.settings.waitsForStore {
                    intake.list(
                        intake.marks.release(
                            before: intake.boundaries.firstFrame(ofSegment: segment.segmentIndex + 1)))
                    intake.showEdge()
                }
                if segment == nil, intake.endlist == true, self.settings.waitsForStore { intake.endEdge() }
                return (segment, intake.endlist, intake.takeRangeChanges())
            }
            self.releaseWaiters()
            let result: PublicationWriter.Result
            let events: [PackagerEvent]
            if let segment {
                (result, events) = self.withWriter { writer in
                    writer.list(ranges)
                    return writer.commit(segment)
                }
            } else if let endlist {
                (result, events) = self.withWriter { writer in
                    writer.list(ranges)
                    return writer.end(endlist: endlist)
                }
            } else if !ranges.isEmpty {
                (result, events) = self.withWriter { $0.record(ranges) }
            } else {
                return nil
            }
            for event in events { self.report(event) }
            if result == .superseded || self.makeSpace(after: events) == .superseded { return self.over(.superseded) }
            if segment == nil, let endlist {
                let isUnwritten = result == .unwritten
                // An offline job has no viewers at its live edge, and no deadline for its end.
                guard !isUnwritten || self.settings.waitsForStore else {
                    self.isEndDue.store(true, ordering: .relaxed)
                    return nil
                }
                return self.over(!endlist ? .drained : isUnwritten ? .endLost : .ended)
            }
        }
    }

    /// Passes new bit rates to the writer, which exists after ``begin(now:slate:)`` has returned.
    private func applyRates() -> PublicationWriter.Result {
        let rates = self.intake.withLock { intake -> [Int: BitRates] in
            guard intake.collector != nil else { return [:] }
            defer { intake.rates = [:] }
            return intake.rates
        }
        guard !rates.isEmpty else { return .done }
        let (result, events) = self.withWriter { $0.declare(rates) }
        for event in events { self.report(event) }
        return result
    }

    private func isToLook() -> Bool {
        self.intake.withLock { intake in
            defer { intake.isDoubtful = false }
            return intake.isDoubtful
        }
    }

    func withWriter(
        _ body: (inout PublicationWriter) -> PublicationWriter.Result
    ) -> (PublicationWriter.Result, [PackagerEvent]) {
        self.writer.withLock { writer in
            guard var current = writer.take() else { return (.done, []) }
            let result = body(&current)
            let events = current.takeEvents()
            writer = current
            return (result, events)
        }
    }

    private func over(_ outcome: Outcome) -> Outcome {
        let keeper = self.intake.withLock { intake in
            intake.isOver = true
            // After a takeover a newer worker assigns the media sequence numbers: this worker must not list anything
            // more.
            intake.edge = nil
            return intake.keeper.take()
        }
        if outcome == .ended { keeper?.removeAll() } else { keeper?.settle() }
        for segmenter in self.segmenters { segmenter.state.withLock { $0 = nil } }
        self.releaseWaiters()
        return outcome
    }

    private func releaseWaiters() {
        let count = self.intake.withLock { intake in
            defer { intake.waiting = 0 }
            return intake.waiting
        }
        for _ in 0..<count { self.space.signal() }
    }
}
