import MediaTypes

/// Checks of one version of a media playlist. Segments, parts and dates of earlier versions are not checked again.
extension Linter {
    mutating func checkStatic(_ list: MediaList, _ index: Int) {
        let known = self.histories[index].list
        for segment in list.segments where segment.number >= known?.nextNumber ?? .min {
            self.checkSegment(segment, list, index)
        }
        self.checkDates(list, index)
        self.checkServerControl(list, index)
        let firstNew = known?.edge ?? MediaList.Edge(number: .min, part: 0)
        if let limit = list.partTarget {
            for segment in list.segments + [list.open].compactMap({ $0 }) {
                for (place, part) in segment.parts.enumerated()
                where MediaList.Edge(number: segment.number, part: Int64(place)) > firstNew && part.duration > limit {
                    self.add(
                        .partLong, "DURATION \(Self.seconds(part.duration)) is more than \(Self.seconds(limit))", index,
                        segment: segment.number, part: place)
                }
            }
        }
        if list.isEnded, !list.hints.isEmpty {
            self.addOnce(.hintAfterEnd, "the playlist has ended but has a hint", in: index)
        }
        if !list.isEnded, list.hasParts, !list.hints.contains(where: { $0.type == "PART" }) {
            self.addOnce(.hintMissing, "there is no hint for the next part", in: index)
        }
        for name in list.dateRanges where name.attributes["START-DATE"] == nil {
            self.addOnce(.dateRangeIncomplete, "\(name.id) has no START-DATE", in: index)
        }
    }

    static func seconds(_ nanoseconds: Int64) -> String {
        "\((nanoseconds / 1_000).decimal(6)) s"
    }

    private mutating func checkSegment(_ segment: MediaList.Segment, _ list: MediaList, _ index: Int) {
        let number = segment.number
        // Durations are rounded, halves up: AAS 7.7 allows less than half a second more than the target.
        if let target = list.targetSeconds, (segment.duration + 500_000_000) / 1_000_000_000 > target {
            self.add(
                .targetExceeded, "EXTINF \(Self.seconds(segment.duration)) rounds to more than \(target) s", index,
                segment: number)
        }
        guard !segment.parts.isEmpty else { return }
        let sum = segment.parts.reduce(0) { $0 &+ $1.duration }
        // The tolerance covers that each duration is rounded separately.
        if !segment.isGap, (sum &- segment.duration).magnitude > UInt64(segment.parts.count + 1) * 1_000_000 {
            self.add(
                .partSum, "the parts last \(Self.seconds(sum)), EXTINF is \(Self.seconds(segment.duration))", index,
                segment: number)
        }
        guard let target = list.partTarget, !segment.isGap else { return }
        for (place, part) in segment.parts.dropLast().enumerated() {
            let isExempt = part.isGap || segment.parts[place + 1].isGap || part.isIndependent && !self.isAudio(index)
            // The parts of a gap segment end where the segment was interrupted.
            if !isExempt, part.duration * 100 < target * 85 {
                self.add(
                    .partShort, "DURATION \(Self.seconds(part.duration)) is less than 85 % of \(Self.seconds(target))",
                    index, segment: number, part: place)
            }
        }
        if self.histories[index].hasVideo, !segment.parts.contains(where: \.isIndependent) {
            self.add(.independentMissing, "no part is INDEPENDENT", index, segment: number)
        }
    }

    /// Whether the playlist is audio-only: every audio frame is independent, which does not excuse a short part.
    private func isAudio(_ index: Int) -> Bool {
        !self.histories[index].hasVideo && !self.histories[index].codecs.isEmpty
    }

    mutating func checkVersion(_ list: MediaList, isDelta: Bool, _ index: Int) {
        if list.version < list.neededVersion {
            self.addOnce(
                .versionLow, "EXT-X-VERSION is \(list.version), its tags need \(list.neededVersion)", in: index)
        }
        if !isDelta, !list.segments.isEmpty, list.version > max(3, list.neededVersion) {
            self.addOnce(
                .versionHigh, "EXT-X-VERSION is \(list.version), its tags need \(list.neededVersion)", in: index)
        }
    }

    // MARK: Low latency

    private mutating func checkServerControl(_ list: MediaList, _ index: Int) {
        let target = list.targetDuration
        if let back = list.control.nanoseconds("HOLD-BACK"), back < 3 * target {
            self.addOnce(
                .holdBackShort, "HOLD-BACK \(Self.seconds(back)) is less than \(Self.seconds(3 * target))", in: index)
        }
        if let skip = list.skipBoundary, skip < 6 * target {
            self.addOnce(
                .skipUntilShort, "CAN-SKIP-UNTIL \(Self.seconds(skip)) is less than \(Self.seconds(6 * target))",
                in: index)
        }
        guard list.hasParts else { return }
        guard let partTarget = list.partTarget else {
            return self.addOnce(.partTargetMissing, "there are parts but no EXT-X-PART-INF", in: index)
        }
        guard let back = list.control.nanoseconds("PART-HOLD-BACK") else {
            return self.addOnce(.partHoldBackMissing, "there are parts but no PART-HOLD-BACK", in: index)
        }
        if back < 3 * partTarget {
            self.addOnce(
                .partHoldBackShort,
                "PART-HOLD-BACK \(Self.seconds(back)) is less than \(Self.seconds(3 * partTarget))", in: index)
        }
    }

    // MARK: Dates

    /// Checks that a live playlist has a date, and that dates advance by EXTINF, except at a discontinuity, where they
    /// must not go back.
    private mutating func checkDates(_ list: MediaList, _ index: Int) {
        let all = list.segments + [list.open].compactMap { $0 }
        if !list.isEnded, !all.isEmpty, !all.contains(where: { $0.date != nil }) {
            self.addOnce(.dateMissing, "no segment has a date", in: index)
        }
        let known = self.histories[index].list?.edge.number ?? .min
        for (before, after) in zip(all, all.dropFirst()) where after.number >= known {
            guard let first = before.date, let second = after.date else { continue }
            let step = second &- first
            let isWrong =
                after.hasDiscontinuity
                ? step < 0 : (step &- before.duration).magnitude > UInt64(Self.dateSlack)
            if isWrong {
                self.addOnce(
                    .dateWrong,
                    "the date is \(Self.seconds(step)) after the previous, EXTINF is \(Self.seconds(before.duration))",
                    in: index, segment: after.number)
            }
        }
    }
}
