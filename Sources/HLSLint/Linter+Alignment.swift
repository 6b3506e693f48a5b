/// Checks that compare the renditions of a presentation with each other. Spec: rfc8216bis §6.2.4.
extension Linter {
    /// Index of the playlist with which all others are compared: the first one.
    private var reference: Int { 0 }

    mutating func checkAgainstOthers(_ list: MediaList, _ index: Int) {
        for other in self.histories where other.index != index && !other.isEnded {
            guard let known = other.list, !list.isEnded else { continue }
            // Each pair is reported once, for the later playlist.
            let url = self.histories[max(index, other.index)].url
            if known.targetSeconds != list.targetSeconds {
                self.addOnce(.targetDiffers, "another playlist has another target duration", in: url)
            }
            if known.type != list.type {
                self.addOnce(.typeDiffers, "another playlist has another EXT-X-PLAYLIST-TYPE", in: url)
            }
            if known.serverControl != list.serverControl {
                self.addOnce(.serverControlDiffers, "another playlist has another EXT-X-SERVER-CONTROL", in: url)
            }
            if !other.isIFrames, !self.histories[index].isIFrames {
                self.compareDateRanges(list, index, other)
            }
            self.compareEdges(list, index, other)
        }
    }

    /// Checks that a date range that another playlist has listed for a target duration is in this playlist, too. One that
    /// ended before this playlist's first segment may be absent: the other playlist was read before it was removed.
    private mutating func compareDateRanges(_ list: MediaList, _ index: Int, _ other: PlaylistHistory) {
        let ids = Set(list.dateRanges.map(\.id))
        for range in other.list?.dateRanges ?? [] where !ids.contains(range.id) {
            guard let seen = other.dateRanges[range.id]?.seenAt, seen &+ list.targetDuration < self.now,
                self.histories[index].list != nil
            else { continue }
            if let first = list.segments.first?.date, let end = Self.end(of: range.attributes), end <= first {
                continue
            }
            self.addOnce(.dateRangesDiffer, "\(range.id) is listed in \(other.name) but not here", in: index)
        }
    }

    /// Checks, by dates, that another playlist does not end earlier than this one by more than two target durations plus
    /// the time since it was last read and a tolerance.
    private mutating func compareEdges(_ list: MediaList, _ index: Int, _ other: PlaylistHistory) {
        guard let known = other.list, let mine = Self.end(list), let theirs = Self.end(known), !known.isEnded,
            let at = other.known?.at
        else { return }
        let stale = max(0, self.now - at)
        if mine &- theirs > 2 * list.targetDuration + stale + Self.timingSlack {
            self.addOnce(
                .renditionBehind, "it ends \(Self.seconds(mine &- theirs)) before \(self.histories[index].name)",
                in: other.url)
        }
    }

    /// Returns the date at which the last complete segment ends; `nil` if it has no date.
    private static func end(_ list: MediaList) -> Int64? {
        guard let last = list.segments.last, let date = last.date else { return nil }
        return date &+ last.duration
    }

    // MARK: Segments

    /// Compares a received segment with the matching segment of the reference playlist. A segment of the reference
    /// playlist is compared with the matching segments of all others.
    mutating func align(_ index: Int, _ number: Int64) {
        self.checkMixedUp(index, number)
        if index == self.reference {
            for other in self.histories where other.index != index {
                guard let match = self.nearest(to: index, number, in: other.index) else { continue }
                self.compare(other.index, match, with: index, number)
            }
        } else if let match = self.nearest(to: index, number, in: self.reference) {
            self.compare(index, number, with: self.reference, match)
        }
    }

    /// Returns the number of the segment in playlist `other` that matches segment `number` of playlist `index`; `nil` if
    /// there is none.
    ///
    /// The segment with the same number matches if its start is less than half a target duration away. Otherwise the one
    /// whose start is nearest matches, if it is also less than half its own duration away, and no other segment of
    /// playlist `index` is nearer to it.
    private func nearest(to index: Int, _ number: Int64, in other: Int) -> Int64? {
        guard let start = self.histories[index].records[number]?.digest?.main?.startTime else { return nil }
        let half = UInt64(max(0, self.histories[index].list?.targetDuration ?? 0) / 2)
        func distance(_ record: PlaylistHistory.Record) -> UInt64? {
            record.digest?.main.map { ($0.startTime &- start).magnitude }
        }
        let records = self.histories[other].records
        if let same = records[number], let off = distance(same), off < half { return number }
        let best = records.compactMap { entry in distance(entry.value).map { (off: $0, number: entry.key) } }
            .min { $0.off < $1.off }
        // A segment that starts half its own duration away or more does not match; the matching segment has not arrived
        // yet.
        guard let best, best.off < half, let record = records[best.number], let found = record.digest?.main,
            best.off < UInt64(max(0, record.listed.duration) / 2)
        else { return nil }
        // With short segments, the nearest one may match the previous segment; the matching one has not arrived yet.
        let hasNearer = self.histories[index].records.contains { entry in
            entry.key != number
                && entry.value.digest?.main.map { ($0.startTime &- found.startTime).magnitude < best.off } ?? false
        }
        return hasNearer ? nil : best.number
    }

    /// Checks that no other rendition has the same bytes in a video segment, unless the two renditions are identical
    /// throughout.
    private mutating func checkMixedUp(_ index: Int, _ number: Int64) {
        guard self.histories[index].records[number]?.digest?.main?.isVideo == true else { return }
        for other in self.histories where other.index != index && !other.isIFrames && !other.isSubtitles {
            guard let match = self.nearest(to: index, number, in: other.index) else { continue }
            let shift = match &- number
            // The segment and its neighbors, whose check may have waited for a segment that differs.
            for place in [number, number &- 1, number &+ 1] {
                guard self.isSame(index, place, other.index, place &+ shift) == true,
                    [place &- 1, place &+ 1].contains(where: {
                        self.isSame(index, $0, other.index, $0 &+ shift) == false
                    })
                else { continue }
                let (later, earlier) = index > other.index ? (index, other.index) : (other.index, index)
                let (own, theirs) = index > other.index ? (place, place &+ shift) : (place &+ shift, place)
                self.addOnce(
                    .segmentMixedUp,
                    "segment \(own) has the bytes of segment \(theirs) of \(self.histories[earlier].name): one of them is "
                        + "served under the other's name", in: self.histories[later].url, segment: own)
            }
        }
    }

    /// Whether two segments have the same bytes; `nil` if one is unknown, the first is not video, or both have the same
    /// URL.
    private func isSame(_ index: Int, _ number: Int64, _ other: Int, _ match: Int64) -> Bool? {
        guard let mine = self.histories[index].records[number], let theirs = self.histories[other].records[match],
            let first = mine.digest, let second = theirs.digest, first.main?.isVideo == true,
            Location.resolve(mine.listed.uri, against: self.histories[index].url)
                != Location.resolve(theirs.listed.uri, against: self.histories[other].url)
        else { return nil }
        return first.bytes == second.bytes
    }

    /// Checks that the first frames of matching segments are presented at the same time.
    private mutating func compareFrameTimes(
        _ index: Int, _ number: Int64, _ span: MediaDigest.Span, with other: Int, _ reference: MediaDigest.Span
    ) {
        guard span.isVideo, reference.isVideo else { return }
        let off = span.shownTime &- reference.shownTime
        guard off.magnitude > UInt64(min(span.frame, reference.frame) / 2) else { return }
        self.add(
            .frameTimesDiffer,
            "it presents its first frame \(Self.seconds(off)) after \(self.histories[other].name) does (tfdt plus cts)",
            index, segment: number)
    }

    private mutating func compare(_ index: Int, _ number: Int64, with other: Int, _ match: Int64) {
        guard let mine = self.histories[index].records[number], let theirs = self.histories[other].records[match],
            let span = mine.digest?.main, let reference = theirs.digest?.main
        else { return }
        let name = self.histories[other].name
        let off = span.startTime &- reference.startTime
        // Audio is cut at the frame that starts at or after the video boundary.
        let slack =
            span.isVideo && reference.isVideo
            ? min(span.frame, reference.frame) / 2 : max(50_000_000, max(span.frame, reference.frame))
        if off.magnitude > UInt64(slack) {
            self.add(
                .boundariesDiffer, "it starts \(Self.seconds(off)) after segment \(match) of \(name)", index,
                segment: number)
            return
        }
        self.compareFrameTimes(index, number, span, with: other, reference)
        if mine.listed.discontinuityNumber != theirs.listed.discontinuityNumber {
            self.add(
                .discontinuityDiffers,
                "its discontinuity number is \(mine.listed.discontinuityNumber), in \(name) it is \(theirs.listed.discontinuityNumber)",
                index, segment: number)
        }
        if let first = mine.digest, let second = theirs.digest {
            self.compareEvents(index, number, first, with: other, second)
        }
        guard let date = mine.listed.date, let known = theirs.listed.date else { return }
        let shift = (date &- span.startTime) &- (known &- reference.startTime)
        if shift.magnitude > UInt64(Self.dateSlack) {
            self.add(
                .datesDiffer, "the same media time has a date \(Self.seconds(shift)) later than in \(name)", index,
                segment: number)
        }
    }
}
