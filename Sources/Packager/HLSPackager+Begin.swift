import HLS
package import MediaTypes

extension HLSPackager {
    /// The start of a run on the timeline.
    struct Plan {
        /// First slot of the segmenters.
        var firstSlot: Int64
        var firstTick: Int64
        /// Frames that are filled with slate, from the start of `firstSlot` to `firstTick`.
        var fill: Range<Int64>?
        /// Slot boundaries. The first slot of a later worker is shorter if the previous worker ended between two
        /// segments of the grid.
        var slots: SegmentBoundaries
        /// Starts of slots that are not on the grid.
        var cuts: [Int64] = []

        /// Moves the start of the run to `frame` or later, if viewers have already seen the frames before it.
        mutating func reach(_ frame: Int64, unit: Int) {
            guard let fill = self.fill, frame > fill.upperBound else { return }
            self.firstTick = (frame + Int64(unit) - 1) / Int64(unit) * Int64(unit)
            self.fill = fill.lowerBound..<self.firstTick
        }
    }

    /// Number of previous workers of the room whose leftover files are removed.
    static let orphanedRuns: Int64 = 8
    /// Most leftover segments per worker: limits the loop for a store that reports every name as present.
    private static let mostOrphans: Int64 = 4_096
    /// Longest outage in seconds that is filled with slate, whatever the window. All of the slate is written before
    /// anything is shown (a quarter of a megabyte per second with a usual set of renditions), and no player waits
    /// longer than that.
    static let longestFill: Int64 = 300

    /// Length of a ``Slate`` for this output in frames: a part, so that slate can follow every part and players can join
    /// at each repetition, or a GOP if that is shorter. A rendition that has one frame in two has frames at its ends,
    /// since parts and GOPs are multiples of its step.
    package var slateFrames: Int { min(self.settings.grid.partFrames, self.settings.grid.gopFrames) }

    /// Whether a previous worker has published in this room.
    package var hasPublishedBefore: Bool { self.claimed.nextMediaSequence > 0 }

    /// Whether this worker can continue the playlists seamlessly: a previous worker has published in this room, and the
    /// outage is not longer than the window nor longer than five minutes, so that its viewers are still there.
    ///
    /// - Parameter now: Nanoseconds since the Unix epoch.
    package func canContinue(at now: Int64) -> Bool {
        guard let origin = self.claimed.origin, self.claimed.nextMediaSequence > 0 else { return false }
        let target = self.settings.grid.targetDuration
        let longest = min(Int64(max(3 * target, min(self.settings.windowSeconds, 7 * 86_400))), Self.longestFill)
        return self.frame(at: now, origin) - self.claimed.nextFrame <= longest * Int64(self.settings.grid.fps)
    }

    /// The last frame that has begun at a time.
    private func frame(at now: Int64, _ origin: Int64) -> Int64 {
        let elapsed = max(0, now.subtractingReportingOverflow(origin).partialValue)
        return TimeMath.scale(elapsed, by: Int64(self.settings.grid.fps), over: TimeMath.nanoseconds, rounding: .down)
    }

    /// Fixes the start of the run on the room's timeline. A new room begins now, with frame 0.
    ///
    /// A later worker keeps the origin. If it ``canContinue(at:)``, slate fills the slots from the last published one
    /// to the last GOP that has begun, and the run begins with that GOP. Its first frames are overdue, so the live edge
    /// is where it would be without the outage. The first segments and parts are published when this returns.
    /// Otherwise, or without slate, the run begins after a discontinuity, with the first unpublished segment slot that
    /// starts now or later. If it cannot continue, it also gets a new initialization segment.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds since the Unix epoch.
    ///   - slate: Must have one entry per track to be used; `nil` fills nothing.
    /// - Throws: ``MediaError/Code/outputLost`` if the state cannot be written, ``MediaError/Code/superseded``,
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
            // The previous worker's media ends with what viewers know; nothing of it is continued.
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
                        ? 0 : plan.slots.firstFrame(ofSlot: plan.firstSlot + Int64(shown.segments.count)))
            }
            plan.reach(ends.max() ?? 0, unit: slate.unit(grid, trackCount: self.tracks.count) ?? 1)
        }
        // By slot.
        var changes: [Int64: [ConfigurationChange]] = [:]
        for index in shown.indices {
            changes.merge(publication.resume(shown[index], track: index, from: plan.firstSlot), uniquingKeysWith: +)
        }
        // After a cut the previous worker may have ended between two segments of the grid.
        if plan.fill != nil { publication.resume(at: plan.slots.firstFrame(ofSlot: plan.firstSlot)) }
        let breaks = Set(
            shown.flatMap { shown in
                shown.segments.indices.filter { shown.segments[$0].discontinuity }.map { plan.firstSlot + Int64($0) }
            } + kept.compactMap { $0.isBreak ? $0.slot : nil })
        // Frames that are slate in at least one track.
        let starts = zip(kept, shown).map { kept, shown in
            max(kept.end, plan.slots.firstFrame(ofSlot: plan.firstSlot + Int64(shown.segments.count)))
        }
        let filled = plan.fill.map { fill in
            min(fill.upperBound, max(fill.lowerBound, starts.min() ?? 0))..<fill.upperBound
        }
        // Ranges of the previous worker end where its frames end.
        if !isCleared {
            publication.resumeRanges(self.claimed.dateRanges, firstTick: filled?.lowerBound ?? plan.firstTick)
        }
        // Keeps known ranges again: the previous worker may have been killed before it kept them.
        for range in publication.dateRanges.ranges {
            // Lasting ranges are still open, and a recording that begins now does not know them yet.
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
                firstTick: plan.slots.firstFrame(ofSlot: plan.firstSlot + Int64($1.segments.count)), slots: plan.slots,
                frameStep: $0.frameStep, isolatesKeys: self.settings.iFramePlaylists)
        }
        let planned = plan.cuts
        var output: [[TrackSegmenter.Output]] = self.tracks.map { _ in [] }
        if let fill = plan.fill, let slate {
            for track in segmenters.indices {
                for (index, segment) in shown[track].segments.enumerated() {
                    let finished = self.finished(
                        segment, publication.tracks[track], slot: plan.firstSlot + Int64(index), plan.slots)
                    output[track] += finished.parts.map { .part($0) } + [.segment(finished)]
                }
                for part in kept[track].parts { output[track] += segmenters[track].restore(part) }
                let rest = min(fill.upperBound, max(fill.lowerBound, starts[track]))..<fill.upperBound
                output[track] += slate.fill(rest, track: track, into: &segmenters[track])
            }
        }
        var slots = self.slots(output, plan, slateFrom: filled?.lowerBound ?? .max)
        for index in slots.indices {
            slots[index].changes = changes[slots[index].slot] ?? []
            slots[index].isBreak = breaks.contains(slots[index].slot)
        }
        var result = PublicationWriter.Result.done
        for slot in slots where result == .done { result = writer.commit(slot) }
        if let filled, !filled.isEmpty {
            let ahead = plan.slots.slot(ofFrame: filled.lowerBound) - plan.firstSlot
            writer.note(
                .slateFilled(
                    SlateFill(
                        frames: filled, mediaSequence: publication.nextMediaSequence + ahead,
                        wholeSegments: slots.filter { $0.isSlate }.count,
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
                kinds: self.tracks.map(\.kind), firstSlot: plan.firstSlot + Int64(slots.count),
                waits: self.settings.waitsForStore)
            if !planned.isEmpty {
                intake.slots.plan(cuts: planned)
                intake.collector?.slots = intake.slots
            }
            // For a slot that is not complete yet.
            let next = plan.firstSlot + Int64(slots.count)
            for slot in breaks where slot >= next { intake.collector?.breakTime(at: slot) }
            for (slot, changes) in changes where slot >= next {
                for change in changes { intake.collector?.change(change, from: slot) }
            }
            guard intake.viewers != nil, result == .done else { return }
            var edge = LiveEdgePublication(publication, firstListed: self.firstListed) { [weak self] name in
                self?.objects.withLock { $0[name] != nil } ?? false
            }
            if !planned.isEmpty { edge.setSlots(intake.slots) }
            for track in kept.indices { edge.resume(kept[track], track: track, from: plan.firstSlot) }
            edge.noteRecorded(recorded)
            intake.keeper = LiveEdgeStore(
                store: self.store, clock: self.clock, patience: self.settings.storePatience,
                names: plan.fill == nil ? [] : record.names, incarnation: self.claimed.incarnation)
            intake.incarnation = self.claimed.incarnation
            for slot in breaks.sorted() { edge.breakTime(at: slot) }
            for (slot, changes) in changes.sorted(by: { $0.key < $1.key }) {
                for change in changes { _ = edge.change(change, from: slot) }
            }
            // A gap alone does not begin the run.
            if shown.contains(where: { !$0.segments.isEmpty }) { edge.begin(at: plan.firstSlot) }
            for track in output.indices { _ = edge.receive(output[track], track: track) }
            intake.edge = edge
            if edge.hasBegun { intake.collector?.begin(at: plan.firstSlot) }
            intake.showEdge()
        }
        for event in events { self.report(event) }
        guard result == .done else {
            throw MediaError(.superseded, "a newer worker serves this room", at: "hls", fix: "stop this worker")
        }
        return Beginning(origin: origin, firstTick: plan.firstTick)
    }

    private func makeWriter(_ publication: Publication) -> PublicationWriter {
        PublicationWriter(
            publication: publication, store: self.store, clock: self.clock, firstListed: self.firstListed,
            keeper: self.keeper,
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

    /// Publishes unchanged what viewers of the previous worker know; this run continues after a discontinuity.
    private func close(
        _ shown: [ShownTrack], in publication: inout Publication, besides record: LiveEdgeRecord
    ) throws(MediaError) {
        let (tracks, slot) = (publication.tracks, publication.nextFrame / Int64(self.settings.grid.segmentFrames))
        var changes: [Int64: [ConfigurationChange]] = [:]
        for index in shown.indices {
            changes.merge(publication.resume(shown[index], track: index, from: slot), uniquingKeysWith: +)
        }
        var slots = self.slots(shown, publication, from: slot)
        for index in slots.indices { slots[index].changes = changes[slots[index].slot] ?? [] }
        publication.resumeRanges(
            self.claimed.dateRanges, firstTick: slots.last?.frames?.upperBound ?? publication.nextFrame)
        if let first = slots.first, !first.isBreak { publication.resume(at: publication.nextFrame) }
        var writer = self.makeWriter(publication)
        try writer.begin()
        self.removeOrphans(besides: record)
        for slot in slots {
            guard writer.commit(slot) == .done else {
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
        // A later worker numbers its slots as if it had made the opening cuts itself, so that no number decreases.
        var slots = SegmentBoundaries(grid: grid)
        var cuts = self.settings.opening?.cuts ?? []
        slots.plan(cuts: cuts)
        // Never a slot that is already published, even if the clock was set back.
        let next = (publication.nextFrame + frames - 1) / frames * frames
        guard let slate, let unit = slate.unit(grid, trackCount: self.tracks.count).map(Int64.init),
            self.canContinue(at: now)
        else {
            let slot = grid.firstSlot(atOrAfter: now.subtractingReportingOverflow(origin).partialValue)
            let first = max(grid.firstFrame(ofSlot: slot), next)
            return Plan(firstSlot: slots.slot(ofFrame: first), firstTick: first, slots: slots, cuts: cuts)
        }
        let end = max(next, self.frame(at: now, origin) / unit * unit)
        var first = publication.nextFrame
        if !first.isMultiple(of: Int64(slate.frames)) {
            // Slate cannot begin at this frame.
            first = next
        } else if slots.firstFrame(ofSlot: slots.slot(ofFrame: first)) != first {
            // The previous worker ended after a cut: one shorter slot, then the grid.
            cuts += [first, next]
            slots.plan(cuts: [first, next])
        }
        return Plan(
            firstSlot: slots.slot(ofFrame: first), firstTick: end, fill: first..<end, slots: slots, cuts: cuts)
    }

    /// The slots that all tracks have filled; published together.
    private func slots(_ output: [[TrackSegmenter.Output]], _ plan: Plan, slateFrom frame: Int64)
        -> [AlignedSegment]
    {
        let segments = output.map { items in
            items.compactMap { item -> FinishedSegment? in if case .segment(let segment) = item { segment } else { nil }
            }
        }
        let count = segments.map(\.count).min() ?? 0
        return (0..<count).map { index in
            var slot = AlignedSegment(slot: plan.firstSlot + Int64(index), segments: segments.map { $0[index] })
            let frames = plan.slots.frames(ofSlot: slot.slot)
            slot.frames = frames
            slot.isSlate = frames.upperBound > frame
            slot.isFollowed = index + 1 < count
            return slot
        }
    }

    /// Removes files that previous workers wrote and were killed before listing.
    private func removeOrphans(besides record: LiveEdgeRecord) {
        let before = self.claimed.incarnation - 1
        guard before >= 1 else { return }
        let next = self.claimed.nextMediaSequence
        let maps = Set(record.tracks.flatMap { track in [track.map] + track.whole.map(\.map) })
        for name in self.unlistedParts(besides: record.names) { try? self.store.remove(name) }
        for track in self.claimed.tracks {
            let names = TrackNames(track: track.name)
            for incarnation in max(1, before - Self.orphanedRuns)...before {
                // At least two slots: the one being published and the one that was held back. A worker that was killed
                // while it filled slots has left more.
                var number = next
                while number < next + 2 || self.store.contains(names.segment(number, incarnation: incarnation)) {
                    try? self.store.remove(names.segment(number, incarnation: incarnation))
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
            if track.iFrameSequence != nil, isGone || !self.settings.iFramePlaylists {
                try? self.store.remove(names.iFramePlaylist)
            }
        }
    }
}
