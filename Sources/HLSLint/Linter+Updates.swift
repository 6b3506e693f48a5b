/// Checks of the changes between two versions of a media playlist. Spec: rfc8216bis §6.2.1, §6.2.2.
extension Linter {
    mutating func checkUpdate(from old: MediaList, to new: MediaList, _ index: Int) {
        self.checkFrozen(from: old, to: new, index)
        guard new.mediaSequence >= old.mediaSequence else {
            self.add(
                .mediaSequenceFell, "EXT-X-MEDIA-SEQUENCE fell from \(old.mediaSequence) to \(new.mediaSequence)",
                index)
            return
        }
        if new.discontinuitySequence < old.discontinuitySequence {
            self.add(
                .discontinuitySequenceFell,
                "EXT-X-DISCONTINUITY-SEQUENCE fell from \(old.discontinuitySequence) to \(new.discontinuitySequence)",
                index)
        }
        if new.edge < old.edge {
            self.add(
                .segmentsWithdrawn,
                "the playlist ended at \(Self.text(old.edge)) and now ends at \(Self.text(new.edge))",
                index)
        }
        if new.mediaSequence > old.mediaSequence {
            if let type = old.type {
                self.add(.typeSliding, "segments left an \(type) playlist", index)
            }
            if !new.isEnded, new.duration < 3 * new.targetDuration {
                self.add(
                    .windowShort, "only \(Self.seconds(new.duration)) are still listed", index,
                    segment: new.mediaSequence)
            }
        }
        if old.isEnded, new.segments != old.segments || new.edge != old.edge {
            self.addOnce(.changedAfterEnd, "it changed after EXT-X-ENDLIST", in: index)
        }
        self.compareSegments(old, new, index)
        self.compareOpen(old, new, index)
        self.checkHint(old, new, index)
    }

    private mutating func checkFrozen(from old: MediaList, to new: MediaList, _ index: Int) {
        if old.targetSeconds != new.targetSeconds {
            self.add(
                .targetChanged, "EXT-X-TARGETDURATION went from \(old.targetSeconds ?? 0) to \(new.targetSeconds ?? 0)",
                index)
        }
        if old.type != new.type {
            self.add(
                .typeChanged, "EXT-X-PLAYLIST-TYPE went from \(old.type ?? "none") to \(new.type ?? "none")", index)
        }
        if old.isEnded, !new.isEnded { self.add(.endlistRemoved, "EXT-X-ENDLIST was removed", index) }
        // The values below are not used any more once the playlist has ended.
        guard !new.isEnded else { return }
        if old.serverControl != new.serverControl {
            self.add(
                .serverControlChanged,
                "\"\(old.serverControl ?? "nothing")\" became \"\(new.serverControl ?? "nothing")\"", index)
        }
        if old.partTarget != new.partTarget, old.partTarget != nil {
            self.add(
                .partTargetChanged,
                "PART-TARGET went from \(Self.seconds(old.partTarget ?? 0)) to \(Self.seconds(new.partTarget ?? 0))",
                index)
        }
    }

    // MARK: Segments

    private mutating func compareSegments(_ old: MediaList, _ new: MediaList, _ index: Int) {
        let first = max(old.segments.first?.number ?? .max, new.segments.first?.number ?? .max)
        guard first != .max else { return }
        let before = old.segments.drop { $0.number < first }
        let after = new.segments.drop { $0.number < first }
        // The distance from the end of each segment to the end of the playlist.
        var distance = after.reduce(0) { $0 &+ $1.duration }
        let near = 3 * new.targetDuration
        for (one, other) in zip(before, after) {
            distance &-= other.duration
            if one.uri != other.uri || one.byteRange != other.byteRange {
                self.add(.numberReused, "it was \(one.uri) and now is \(other.uri)", index, segment: one.number)
                // The numbers are shifted, so all other segments would give the same finding.
                return
            }
            if one.discontinuityNumber != other.discontinuityNumber {
                self.add(
                    .discontinuitySequenceWrong,
                    "its discontinuity number went from \(one.discontinuityNumber) to \(other.discontinuityNumber)",
                    index, segment: one.number)
            }
            if let what = Self.difference(one, other, isFirst: other.number == new.mediaSequence) {
                self.add(.segmentChanged, what, index, segment: one.number)
            }
            if !one.parts.isEmpty {
                self.compareParts(
                    one.parts, other.parts, isNear: distance <= near && !new.isEnded, index, segment: one.number)
            }
        }
    }

    private static func difference(
        _ old: MediaList.Segment, _ new: MediaList.Segment, isFirst: Bool
    ) -> String? {
        if old.duration != new.duration {
            return "EXTINF went from \(self.seconds(old.duration)) to \(self.seconds(new.duration))"
        }
        if let date = old.date, let other = new.date, date != other {
            return "its date moved by \(self.seconds(other - date))"
        }
        // The discontinuity tag before the first listed segment may be kept or removed.
        if old.hasDiscontinuity != new.hasDiscontinuity, !isFirst {
            return "its discontinuity tag was added or removed"
        }
        if old.map != new.map { return "its map went from \(old.map?.uri ?? "none") to \(new.map?.uri ?? "none")" }
        if old.key != new.key { return "its key changed" }
        if old.isGap != new.isGap { return new.isGap ? "it became a gap" : "it is no longer a gap" }
        return nil
    }

    private mutating func compareParts(
        _ old: [MediaList.Part], _ new: [MediaList.Part], isNear: Bool, _ index: Int, segment: Int64
    ) {
        if new.count < old.count {
            // Parts may be removed once they are far from the end, but only all of a segment at once.
            if isNear || !new.isEmpty {
                self.add(
                    .partsWithdrawn, "\(old.count) parts were listed, now there are \(new.count)", index,
                    segment: segment)
            }
            return
        }
        for (place, (one, other)) in zip(old, new).enumerated() where one != other {
            self.add(
                .partChanged,
                one.uri != other.uri
                    ? "it was \(one.uri) and now is \(other.uri)"
                    : "\(one.uri) went from \(Self.seconds(one.duration)) to \(Self.seconds(other.duration)), or its attributes changed",
                index, segment: segment, part: place)
        }
    }

    /// Compares the segment that was incomplete in the previous version.
    private mutating func compareOpen(_ old: MediaList, _ new: MediaList, _ index: Int) {
        guard let open = old.open else { return }
        let later = new.open?.number == open.number ? new.open : new.segments.first { $0.number == open.number }
        guard let later, !(later.parts.isEmpty && later.uri != "" && new.nextNumber > open.number &+ 2) else { return }
        self.compareParts(open.parts, later.parts, isNear: !new.isEnded, index, segment: open.number)
        if let date = open.date, let other = later.date, date != other {
            self.add(.segmentChanged, "its date moved by \(Self.seconds(other - date))", index, segment: open.number)
        }
        if open.hasDiscontinuity != later.hasDiscontinuity {
            self.add(.segmentChanged, "its discontinuity tag was added or removed", index, segment: open.number)
        }
    }

    /// Checks that the next part is the one that was hinted.
    private mutating func checkHint(_ old: MediaList, _ new: MediaList, _ index: Int) {
        guard let hint = old.hints.first(where: { $0.type == "PART" }), !hint.isRange else { return }
        let all = new.segments + [new.open].compactMap { $0 }
        for segment in all where segment.number >= old.edge.number {
            let skipped = segment.number == old.edge.number ? Int(clamping: old.edge.part + 1) : 0
            guard let part = segment.parts.dropFirst(skipped).first else {
                // If the segment is complete without another part, the next segment decides. If its parts are already
                // removed, nothing can be checked.
                if segment.parts.isEmpty, segment.uri != "" { return }
                continue
            }
            if part.uri != hint.uri {
                self.add(
                    .hintBroken, "\(hint.uri) was hinted but \(part.uri) followed", index, segment: segment.number,
                    part: skipped)
            }
            return
        }
    }

    // MARK: Time

    mutating func checkTiming(
        from old: MediaList?, to new: MediaList, _ index: Int, _ request: LintRequest, _ reply: LintReply
    ) {
        guard let old else {
            self.histories[index].firstAt = self.now
            self.histories[index].segmentAt = self.now
            self.histories[index].edgeAt = self.now
            return
        }
        guard !old.isEnded, !new.isEnded else { return }
        let history = self.histories[index]
        let limit = new.targetDuration / 2 * 3 + Self.timingSlack + (request.asked == nil ? new.targetDuration / 2 : 0)
        let pause = self.now - history.segmentAt
        if pause > limit, !history.isStalled {
            self.add(
                .updateLate,
                "no new segment for \(Self.seconds(pause)), the target duration is \(Self.seconds(new.targetDuration))",
                index, segment: old.nextNumber)
            self.histories[index].isStalled = true
        }
        if new.nextNumber > old.nextNumber {
            self.histories[index].segmentAt = self.now
            self.histories[index].isStalled = false
            self.checkPace(new, index)
        }
        if new.edge > old.edge {
            // A playlist is read again only after the previous reply was checked, which may take long after an outage.
            // The server has only the time since the request.
            let pause = self.now - max(history.edgeAt, reply.sentAt)
            // The first wait began somewhere within a part.
            if let target = new.partTarget, new.hasParts, request.asked != nil, pause > 2 * target + Self.timingSlack {
                self.add(
                    .partLate, "no new part for \(Self.seconds(pause)), the part target is \(Self.seconds(target))",
                    index,
                    segment: new.edge.number)
            }
            self.histories[index].edgeAt = self.now
        }
    }

    // MARK: Delta updates

    /// Merges a delta update with the skipped segments. Spec: §6.2.5.1.
    ///
    /// - Returns: `false` if the skipped segments are unknown; then the playlist cannot be used.
    mutating func merge(_ list: inout MediaList, _ index: Int) -> Bool {
        guard let old = self.histories[index].list else {
            self.addOnce(.deltaUnmergeable, "the first reply is a delta update", in: index)
            return false
        }
        let end = list.mediaSequence &+ list.skipped
        let kept = old.segments.filter { $0.number >= list.mediaSequence && $0.number < end }
        guard Int64(kept.count) == list.skipped else {
            self.add(
                .deltaUnmergeable,
                "it skips \(list.skipped) segments from \(list.mediaSequence) on, \(kept.count) are known",
                index)
            return false
        }
        // The tags of skipped segments still apply after them.
        var map = kept.last?.map
        let shift = (kept.last?.discontinuityNumber ?? list.discontinuitySequence) &- list.discontinuitySequence
        for place in list.segments.indices {
            map = list.segments[place].map ?? map
            list.segments[place].map = map
            list.segments[place].discontinuityNumber &+= shift
        }
        if var open = list.open {
            open.map = open.map ?? map
            open.discontinuityNumber &+= shift
            list.open = open
        }
        list.segments.insert(contentsOf: kept, at: 0)
        list.skipped = Int64(kept.count)
        let known = Set(list.dateRanges.map(\.id)).union(list.removedDateRanges)
        if list.version >= 10 { list.dateRanges += old.dateRanges.filter { !known.contains($0.id) } }
        return true
    }

    mutating func checkDelta(_ list: MediaList, wasDelta: Bool, _ index: Int) {
        guard let boundary = list.skipBoundary, !list.isEnded else { return }
        var distance: Int64 = 0
        var skippable: Int64 = 0
        for (place, segment) in list.segments.enumerated().reversed() {
            if distance > boundary {
                skippable = Int64(place) + 1
                break
            }
            distance &+= segment.duration
        }
        if wasDelta, list.skipped > skippable {
            self.add(.deltaWrong, "it skips \(list.skipped) segments, \(skippable) end before the skip boundary", index)
        } else if !wasDelta, skippable > 0 {
            self.add(
                .deltaWrong,
                "a full playlist answers _HLS_skip=YES although \(skippable) segments end before the skip boundary",
                index)
        }
    }
}
