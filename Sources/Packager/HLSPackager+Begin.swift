import HLS
package import MediaTypes

extension HLSPackager {
    /// Where a worker's run starts on the room's timeline.
    struct Plan {
        /// Index of the run's first segment, which may be a segment of the previous worker or slate.
        var firstSegmentIndex: Int64
        /// First live frame of the run, counted from the room's origin.
        var firstTick: Int64
        /// Frames from the start of segment `firstSegmentIndex` to `firstTick`. Slate fills those that the previous worker's
        /// media does not cover. `nil` if the run does not continue without a hole.
        var fill: Range<Int64>?
        /// Segment boundaries. A later worker's first segment is shorter if the previous worker ended between two
        /// regular boundaries.
        var boundaries: SegmentBoundaries
        /// First frames of segments that begin off the regular grid, and of the first regular segment after them.
        var cuts: [Int64] = []

        /// Moves the first live frame to `frame` or the next multiple of `unit`, if viewers have already seen frames up
        /// to there; slate fills the difference.
        mutating func reach(_ frame: Int64, unit: Int) {
            guard let fill = self.fill, frame > fill.upperBound else { return }
            self.firstTick = (frame + Int64(unit) - 1) / Int64(unit) * Int64(unit)
            self.fill = fill.lowerBound..<self.firstTick
        }
    }

    /// Number of previous workers whose leftover files are removed.
    static let orphanedRuns: Int64 = 8
    /// Maximum number of leftover segments to remove for each track of each previous worker: limits the loop for a store
    /// that reports every name as present.
    private static let mostOrphans: Int64 = 4_096
    /// Longest outage, in seconds, that is filled with slate, whatever the playlist window. All slate is written before
    /// playlists are shown again.
    static let longestFill: Int64 = 300

    /// Length in frames of the ``Slate`` clip for this output: one part, so that slate can follow every part and
    /// players can join at each repetition, or one GOP if that is shorter. It also fits renditions with a reduced frame
    /// rate, since parts and GOPs are multiples of their frame step.
    package var slateFrames: Int { min(self.settings.grid.partFrames, self.settings.grid.gopFrames) }

    /// Whether a previous worker has published in this room.
    package var hasPublishedBefore: Bool { self.claimed.nextMediaSequence > 0 }

    /// Whether this worker can continue the playlists seamlessly: a previous worker has published in this room, and the
    /// outage is no longer than the playlist window (at least three target durations) and no longer than five minutes,
    /// so that its viewers may still be playing.
    package func canContinue(at now: Int64) -> Bool {
        guard let origin = self.claimed.origin, self.claimed.nextMediaSequence > 0 else { return false }
        let target = self.settings.grid.targetDuration
        let longest = min(Int64(max(3 * target, min(self.settings.windowSeconds, 7 * 86_400))), Self.longestFill)
        return self.frame(at: now, origin) - self.claimed.nextFrame <= longest * Int64(self.settings.grid.fps)
    }

    /// Returns the newest frame that has begun at a time, counted from the room's origin.
    private func frame(at now: Int64, _ origin: Int64) -> Int64 {
        let elapsed = max(0, now.subtractingReportingOverflow(origin).partialValue)
        return TimeMath.scale(elapsed, by: Int64(self.settings.grid.fps), over: TimeMath.nanoseconds, rounding: .down)
    }

    /// Starts this worker's run: fixes its first frame on the room's timeline. A new room begins now, with frame 0.
    ///
    /// A later worker keeps the room's origin. If it ``canContinue(at:)``, slate fills the time from the last published
    /// segment to the newest GOP that should have begun, and live media starts with that GOP. The first of those frames
    /// are already overdue, so the live edge is where it would be without the outage. The first segments and parts are
    /// published when this returns. Otherwise, or without slate, the run begins after a discontinuity with the first
    /// unpublished segment that starts now or later. If a live worker cannot continue, each track also gets a new
    /// initialization segment.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds since the Unix epoch.
    ///   - slate: The slate clip, with one entry per track; with `nil` or another number of entries nothing is filled.
    /// - Throws: ``MediaError/Code/outputLost`` or ``MediaError/Code/diskFull`` if the state cannot be written,
    ///   ``MediaError/Code/superseded``,
    ///   ``MediaError/Code/invalidData`` for a state or a codec configuration that cannot be used.
    package func begin(now: Int64, slate: Slate? = nil) throws(MediaError) -> Beginning {
        let origin = self.claimed.origin ?? now
        let grid = self.settings.grid
        var publication = try Publication.restore(
            settings: self.settings, tracks: self.tracks, state: self.claimed, origin: origin, store: self.store,
            keepsMaps: self.settings.waitsForStore || self.canContinue(at: now), keys: self.keys)
        publication.limit(to: self.intake.withLock(\.mostSegments))
        let previousEdge = self.claimed.origin == nil ? PreviousLiveEdge() : PreviousLiveEdge(self.store)
        let record = previousEdge.record
        var plan = self.plan(now, origin, slate, publication)
        var shown = publication.tracks.map {
            self.shown(of: $0, in: previousEdge, from: publication.nextMediaSequence, closes: plan.fill == nil)
        }
        var isCleared = false
        if plan.fill == nil
            || !zip(publication.tracks, shown).allSatisfy({ self.fits($1, $0.kind, plan) })
        {
            // The previous worker's media ends with the segments that viewers already know; its last segment is not
            // continued.
            if plan.fill != nil {
                shown = publication.tracks.map {
                    self.shown(of: $0, in: previousEdge, from: publication.nextMediaSequence, closes: true)
                }
            }
            if shown.contains(where: { !$0.segments.isEmpty }) {
                isCleared = true
                try self.close(shown, in: &publication, besides: record)
                plan = self.plan(now, origin, slate, publication)
                shown = shown.map { _ in ShownTrack() }
            }
        }
        var kept: [ResumedLiveEdge] = publication.tracks.map { _ in ResumedLiveEdge() }
        if plan.fill != nil, let slate {
            for (index, track) in publication.tracks.enumerated() {
                guard !isCleared else {
                    kept[index].segments = self.segments(of: track, previousEdge.track(track.names.track)?.rows ?? [])
                    continue
                }
                kept[index] = self.kept(
                    of: track, in: previousEdge, behind: shown[index], plan, number: publication.nextMediaSequence,
                    slate)
            }
            let ends = zip(kept, shown).map { kept, shown in
                max(
                    kept.end,
                    shown.segments.isEmpty
                        ? 0
                        : plan.boundaries.firstFrame(ofSegment: plan.firstSegmentIndex + Int64(shown.segments.count)))
            }
            plan.reach(ends.max() ?? 0, unit: slate.unit(grid, trackCount: self.tracks.count) ?? 1)
        }
        // Configuration changes by segment index.
        var changes: [Int64: [ConfigurationChange]] = [:]
        for index in shown.indices {
            changes.merge(
                publication.resume(shown[index], track: index, from: plan.firstSegmentIndex), uniquingKeysWith: +)
        }
        self.resumeSubtitles(&publication)
        // After a segment of another length, the previous worker may have ended between two regular segment boundaries.
        if plan.fill != nil { publication.resume(at: plan.boundaries.firstFrame(ofSegment: plan.firstSegmentIndex)) }
        let breaks = Set(
            shown.flatMap { shown in
                shown.segments.indices.filter { shown.segments[$0].discontinuity }.map {
                    plan.firstSegmentIndex + Int64($0)
                }
            } + kept.compactMap { $0.isBreak ? $0.segmentIndex : nil })
        // Frames that are slate in at least one track.
        let starts = zip(kept, shown).map { kept, shown in
            max(kept.end, plan.boundaries.firstFrame(ofSegment: plan.firstSegmentIndex + Int64(shown.segments.count)))
        }
        // A track that slept has slate from the beginning, but no viewers.
        let asleep = self.asleepBefore
        let watched = zip(publication.tracks, starts).filter { !asleep.contains($0.0.names.track) }.map(\.1)
        let filled = plan.fill.map { fill in
            min(fill.upperBound, max(fill.lowerBound, watched.min() ?? 0))..<fill.upperBound
        }
        // The previous worker's open date ranges end where its frames end.
        if !isCleared {
            publication.resumeRanges(self.claimed.dateRanges, firstTick: filled?.lowerBound ?? plan.firstTick)
        }
        // Passes known date ranges to the recording again: the previous worker may have been killed before it recorded
        // them.
        for range in publication.dateRanges.ranges {
            // Ranges that outlive a worker are still open, and a recording that begins now does not have them yet.
            let change: DateRange.Change
            if let end = range.end { change = .closed(id: range.id, end: end) } else { change = .opened(range) }
            self.keeper?.keep(change)
        }
        var writer = self.makeWriter(publication)
        try writer.begin()
        if !isCleared { self.removeOrphans(besides: record) }
        if plan.fill == nil || self.intake.withLock({ $0.viewers == nil }) { self.forget(record) }
        var segmenters = zip(self.tracks, shown).map {
            TrackSegmenter(
                kind: $0.kind, grid: grid,
                firstTick: plan.boundaries.firstFrame(ofSegment: plan.firstSegmentIndex + Int64($1.segments.count)),
                boundaries: plan.boundaries,
                frameStep: $0.frameStep, isolatesKeys: self.settings.iFramePlaylists)
        }
        let planned = plan.cuts
        var output: [[TrackSegmenter.Output]] = self.tracks.map { _ in [] }
        if let fill = plan.fill, let slate {
            for track in segmenters.indices {
                for (index, segment) in shown[track].segments.enumerated() {
                    let finished = self.finished(
                        segment, publication.tracks[track], segmentIndex: plan.firstSegmentIndex + Int64(index),
                        plan.boundaries)
                    output[track] += finished.parts.map { .part($0) } + [.segment(finished)]
                }
                for part in kept[track].parts { output[track] += segmenters[track].restore(part) }
                let rest = min(fill.upperBound, max(fill.lowerBound, starts[track]))..<fill.upperBound
                output[track] += slate.fill(rest, track: track, into: &segmenters[track])
            }
        }
        var segments = self.alignedSegments(output, plan, slateFrom: filled?.lowerBound ?? .max)
        for index in segments.indices {
            segments[index].changes = changes[segments[index].segmentIndex] ?? []
            segments[index].isBreak = breaks.contains(segments[index].segmentIndex)
        }
        var result = PublicationWriter.Result.done
        for segment in segments where result == .done { result = writer.commit(segment) }
        if let filled, !filled.isEmpty {
            let ahead = plan.boundaries.segmentIndex(ofFrame: filled.lowerBound) - plan.firstSegmentIndex
            writer.note(
                .slateFilled(
                    SlateFill(
                        frames: filled, mediaSequence: publication.nextMediaSequence + ahead,
                        wholeSegments: segments.filter { $0.isSlate }.count,
                        isSeamless: !publication.discontinuityIsDue)))
        }
        let events = writer.takeEvents()
        let (begun, recorded) = (writer, writer.recordedMediaSequence)
        self.writer.withLock { $0 = begun }
        for (segmenter, intake) in zip(segmenters, self.segmenters) { intake.state.withLock { $0 = segmenter } }
        self.intake.withLock { [publication] intake in
            intake.marks.begin(
                origin: origin, fps: grid.fps, incarnation: self.claimed.incarnation, firstTick: plan.firstTick,
                kept: publication.dateRanges.ranges.filter { $0.rangeClass.hasPrefix(ProgramMark.lastingClass) })
            intake.collector = SegmentCollector(
                kinds: self.tracks.map(\.kind), firstSegmentIndex: plan.firstSegmentIndex + Int64(segments.count),
                waits: self.settings.waitsForStore)
            if !planned.isEmpty {
                intake.boundaries.plan(cuts: planned)
                intake.collector?.boundaries = intake.boundaries
            }
            // For a segment that is not complete yet.
            let next = plan.firstSegmentIndex + Int64(segments.count)
            for segmentIndex in breaks where segmentIndex >= next { intake.collector?.breakTime(at: segmentIndex) }
            for (segmentIndex, changes) in changes where segmentIndex >= next {
                for change in changes { intake.collector?.change(change, from: segmentIndex) }
            }
            guard intake.viewers != nil, result == .done else { return }
            var edge = LiveEdgePublication(publication, firstListed: self.firstListed, subtitles: self.subtitles) {
                [weak self] name in
                self?.isStored(segment: name) ?? false
            }
            if !planned.isEmpty { edge.setBoundaries(intake.boundaries) }
            for track in kept.indices { edge.resume(kept[track], track: track, from: plan.firstSegmentIndex) }
            edge.noteRecorded(recorded)
            intake.keeper = LiveEdgeStore(
                store: self.store, clock: self.clock, patience: self.settings.storePatience,
                names: plan.fill == nil ? [] : record.names, incarnation: self.claimed.incarnation)
            intake.incarnation = self.claimed.incarnation
            for segmentIndex in breaks.sorted() { edge.breakTime(at: segmentIndex) }
            for (segmentIndex, changes) in changes.sorted(by: { $0.key < $1.key }) {
                for change in changes { _ = edge.change(change, from: segmentIndex) }
            }
            // Segments of the previous worker begin the run even if all of them are gaps, which `receive` does not
            // count as media.
            if shown.contains(where: { !$0.segments.isEmpty }) { edge.begin(at: plan.firstSegmentIndex) }
            for track in output.indices { _ = edge.receive(output[track], track: track) }
            intake.edge = edge
            if edge.hasBegun { intake.collector?.begin(at: plan.firstSegmentIndex) }
            intake.showEdge()
        }
        for event in events { self.report(event) }
        guard result == .done else {
            throw MediaError(.superseded, "a newer worker serves this room", at: "hls", fix: "stop this worker")
        }
        self.subtitles?.begin(at: TimeMath.scale(plan.firstTick, by: 1_000, over: Int64(max(1, grid.fps))))
        return Beginning(origin: origin, firstTick: plan.firstTick)
    }

    private func makeWriter(_ publication: Publication) -> PublicationWriter {
        PublicationWriter(
            publication: publication, store: self.store, clock: self.clock, firstListed: self.firstListed,
            keeper: self.keeper, subtitles: self.subtitles,
            show: { [weak self, name = self.settings.multivariantName] objects in
                self?.objects.withLock { $0 = objects }
                if objects[name] != nil { self?.noteFirstShown() }
            },
            note: { [weak self] publication in self?.tellListing(publication) },
            recorded: { [weak self] number in
                self?.recordedNumber.store(number, ordering: .releasing)
                self?.intake.withLock { $0.noteRecorded(number) }
            },
            isPromised: { [weak self] track, number in
                self?.intake.withLock { $0.isPromised(track, number) } ?? false
            })
    }

    /// Publishes the segments that viewers of the previous worker know, as the end of that worker's media: stored
    /// segments unchanged, the others as gaps. This run continues after a discontinuity.
    private func close(
        _ shown: [ShownTrack], in publication: inout Publication, besides record: LiveEdgeRecord
    ) throws(MediaError) {
        let (tracks, segmentIndex) = (
            publication.tracks, publication.nextFrame / Int64(self.settings.grid.segmentFrames)
        )
        var changes: [Int64: [ConfigurationChange]] = [:]
        for index in shown.indices {
            changes.merge(publication.resume(shown[index], track: index, from: segmentIndex), uniquingKeysWith: +)
        }
        self.resumeSubtitles(&publication)
        var segments = self.alignedSegments(shown, publication, from: segmentIndex)
        for index in segments.indices { segments[index].changes = changes[segments[index].segmentIndex] ?? [] }
        publication.resumeRanges(
            self.claimed.dateRanges, firstTick: segments.last?.frames?.upperBound ?? publication.nextFrame)
        if let first = segments.first, !first.isBreak { publication.resume(at: publication.nextFrame) }
        var writer = self.makeWriter(publication)
        try writer.begin()
        self.removeOrphans(besides: record)
        for segment in segments {
            guard writer.commit(segment) == .done else {
                throw MediaError(.superseded, "a newer worker serves this room", at: "hls", fix: "stop this worker")
            }
        }
        for event in writer.takeEvents() { self.report(event) }
        publication = writer.publication
        publication.beginRun(tracks)
    }

    private func plan(_ now: Int64, _ origin: Int64, _ slate: Slate?, _ publication: Publication) -> Plan {
        let grid = self.settings.grid
        let frames = Int64(grid.segmentFrames)
        // A later worker numbers its segments as if it had made the short opening segments itself, so that no number
        // decreases.
        var boundaries = SegmentBoundaries(grid: grid)
        var cuts = self.settings.opening?.cuts ?? []
        boundaries.plan(cuts: cuts)
        // Never an interval that is already published, even if the clock was set back.
        let next = (publication.nextFrame + frames - 1) / frames * frames
        guard let slate, let unit = slate.unit(grid, trackCount: self.tracks.count).map(Int64.init),
            self.canContinue(at: now)
        else {
            let segmentIndex = grid.firstSegmentIndex(atOrAfter: now.subtractingReportingOverflow(origin).partialValue)
            let first = max(grid.firstFrame(ofSegment: segmentIndex), next)
            return Plan(
                firstSegmentIndex: boundaries.segmentIndex(ofFrame: first), firstTick: first, boundaries: boundaries,
                cuts: cuts)
        }
        let end = max(next, self.frame(at: now, origin) / unit * unit)
        var first = publication.nextFrame
        if !first.isMultiple(of: Int64(slate.frames)) {
            // Slate cannot begin at this frame.
            first = next
        } else if boundaries.firstFrame(ofSegment: boundaries.segmentIndex(ofFrame: first)) != first {
            // The previous worker ended at an irregular boundary: one shorter segment follows, then the regular grid.
            cuts += [first, next]
            boundaries.plan(cuts: [first, next])
        }
        return Plan(
            firstSegmentIndex: boundaries.segmentIndex(ofFrame: first), firstTick: end, fill: first..<end,
            boundaries: boundaries,
            cuts: cuts)
    }

    /// Returns the segments that all tracks have completed; they are published together.
    private func alignedSegments(_ output: [[TrackSegmenter.Output]], _ plan: Plan, slateFrom frame: Int64)
        -> [AlignedSegment]
    {
        let segments = output.map { items in
            items.compactMap { item -> FinishedSegment? in if case .segment(let segment) = item { segment } else { nil }
            }
        }
        let count = segments.map(\.count).min() ?? 0
        return (0..<count).map { index in
            var segment = AlignedSegment(
                segmentIndex: plan.firstSegmentIndex + Int64(index), segments: segments.map { $0[index] })
            let frames = plan.boundaries.frames(ofSegment: segment.segmentIndex)
            segment.frames = frames
            segment.isSlate = frames.upperBound > frame
            segment.isFollowed = index + 1 < count
            return segment
        }
    }

    /// Removes files that previous workers wrote but never listed, because they were killed before, their journals, and
    /// playlists that this worker no longer writes.
    private func removeOrphans(besides record: LiveEdgeRecord) {
        let before = self.claimed.incarnation - 1
        guard before >= 1 else { return }
        let next = self.claimed.nextMediaSequence
        let maps = Set(record.tracks.flatMap { track in [track.map] + track.whole.map(\.map) })
        for name in self.unlistedParts(besides: record.names) { try? self.store.remove(name) }
        self.removeFormerSubtitlePlaylists()
        // This run has a journal of its own, which is complete.
        let journals = (max(1, before - Self.orphanedRuns)...before).map { ArchiveJournal.name(incarnation: $0) }
        for name in Set(journals + [self.claimed.archive?.journal].compactMap { $0 }) { try? self.store.remove(name) }
        if self.claimed.archive != nil, !self.settings.hasWholeWindowPlaylists {
            try? self.store.remove(Publication.wholeWindowName(ofMultivariant: self.claimed.multivariantName))
        }
        for track in self.claimed.tracks {
            let names = TrackNames(track: track.name)
            for incarnation in max(1, before - Self.orphanedRuns)...before {
                // At least two segments: the one being published and the one whose writes were to be retried. A worker
                // that was killed while it wrote slate has left more.
                var number = next
                while number < next + 2 || self.store.contains(names.segment(number, incarnation: incarnation)) {
                    let name = names.segment(number, incarnation: incarnation)
                    for rendition in self.claimed.subtitles {
                        let own = SubtitlePublication.segmentName(rendition.name, like: name, of: track.name)
                        if let own { try? self.store.remove(own) }
                    }
                    try? self.store.remove(name)
                    guard number < next + Self.mostOrphans else { break }
                    number += 1
                }
            }
            let initialization = names.initialization(incarnation: before)
            if !track.maps.contains(initialization), !maps.contains(initialization) {
                try? self.store.remove(initialization)
            }
            let isGone = !self.tracks.contains { $0.name == track.name }
            if isGone { try? self.store.remove(names.playlist) }
            if self.claimed.archive != nil, isGone || !self.settings.hasWholeWindowPlaylists {
                let whole = Publication.wholeWindowNames(of: track.name)
                for name in [whole.playlist, whole.iFramePlaylist] { try? self.store.remove(name) }
            }
            if track.iFrameSequence != nil, isGone || !self.settings.iFramePlaylists {
                try? self.store.remove(names.iFramePlaylist)
            }
        }
    }
}
