/// Decides when which media is fetched, and checks how long media stays available. Spec: rfc8216bis §6.2.1, §6.2.2.
extension Linter {
    /// Stores a new version of a playlist and decides which media to fetch.
    ///
    /// - Returns: Requests for all new media, and for media that has left the playlist, shortly before the end of its
    ///   retention time.
    mutating func adopt(_ list: MediaList, _ index: Int, _ reply: LintReply) -> [LintRequest] {
        let old = self.histories[index].list
        if old == nil { self.histories[index].joinedNext = list.nextNumber }
        self.histories[index].list = list
        self.histories[index].known = (list.edge, self.now)
        // Media that this version no longer lists may have been removed at any time since the previous version.
        let before = self.histories[index].adoptedAt ?? self.now
        self.histories[index].adoptedAt = self.now
        self.histories[index].longest = max(self.histories[index].longest, list.duration)
        var requests: [LintRequest] = []
        let previous = old?.nextNumber ?? .min
        var position = list.segments.first.flatMap { self.histories[index].records[$0.number]?.position } ?? 0
        var distance = list.duration
        for segment in list.segments {
            distance &-= segment.duration
            if self.histories[index].records[segment.number] == nil {
                let last = self.histories[index].records[segment.number &- 1]
                position = last.map { $0.position &+ $0.listed.duration } ?? position
                self.histories[index].records[segment.number] = PlaylistHistory.Record(
                    listed: segment, seenAt: old == nil ? self.now &- distance : self.now, position: position)
                requests += self.fetchSegment(segment, index)
            }
            position &+= segment.duration
            if !segment.parts.isEmpty {
                if segment.number < previous {
                    // This complete segment is already stored, with its parts.
                } else {
                    self.histories[index].records[segment.number]?.listed = segment
                }
                requests += self.fetchParts(segment, index, isOpen: false)
            }
        }
        if let open = list.open { requests += self.fetchParts(open, index, isOpen: true) }
        requests += self.follow(list, index, reply)
        requests += self.retain(from: old, seen: before, to: list, index)
        return requests
    }

    private func address(_ uri: String, _ index: Int) -> String {
        Location.resolve(uri, against: self.histories[index].url)
    }

    private mutating func fetchMap(_ map: MediaList.Map?, _ index: Int) -> [LintRequest] {
        guard let map, self.histories[index].maps[map] == nil else { return [] }
        self.histories[index].maps[map] = .asked
        return [LintRequest(.map(index, map), self.address(map.uri, index), byteRange: map.byteRange)]
    }

    private mutating func fetchSegment(_ segment: MediaList.Segment, _ index: Int) -> [LintRequest] {
        guard !segment.isGap else { return [] }
        return self.fetchMap(segment.map, index) + self.fetchKey(segment.key, index) + [
            LintRequest(
                .segment(index, segment.number), self.address(segment.uri, index),
                byteRange: self.wideRange(segment, index))
        ]
    }

    /// Returns requests for the listed parts that were not requested yet, as parts or as hints.
    private mutating func fetchParts(_ segment: MediaList.Segment, _ index: Int, isOpen: Bool) -> [LintRequest] {
        var requests = isOpen ? self.fetchMap(segment.map, index) + self.fetchKey(segment.key, index) : []
        for (place, part) in segment.parts.enumerated() where !part.isGap {
            let key = part.uri + (part.byteRange.map { "@\($0)" } ?? "")
            if let digest = self.histories[index].openParts[key] {
                if !isOpen {
                    self.histories[index].openParts[key] = nil
                    self.placePart(digest, part, index, segment.number, place)
                }
                continue
            }
            if let reason = self.histories[index].hintFailures.removeValue(forKey: part.uri) {
                self.add(
                    .hintUnanswered, "\(part.uri) was hinted: \(reason)", index, segment: segment.number, part: place)
                self.histories[index].hintsAsked.remove(part.uri)
            }
            let isKnown = self.histories[index].records[segment.number]?.parts[place] != nil
            // The part was requested as a hint, and the reply has not arrived yet.
            if isKnown || self.histories[index].hintsAsked.contains(key) { continue }
            self.histories[index].hintsAsked.insert(key)
            requests.append(
                LintRequest(
                    .part(index, segment.number, place), self.address(part.uri, index), byteRange: part.byteRange))
        }
        return requests
    }

    /// Returns requests for hinted parts and initialization segments, which are fetched at once, as a player does.
    private mutating func follow(_ list: MediaList, _ index: Int, _ reply: LintReply) -> [LintRequest] {
        guard list.blocksReload, !list.isEnded, !reply.isLocal else { return [] }
        var requests: [LintRequest] = []
        for hint in list.hints where !hint.isRange {
            if hint.type == "MAP" {
                requests += self.fetchMap(MediaList.Map(uri: hint.uri, byteRange: nil), index)
            } else if hint.type == "PART", self.histories[index].hintsAsked.insert(hint.uri).inserted {
                requests.append(LintRequest(.hint(index, hint.uri), self.address(hint.uri, index)))
            }
        }
        return requests
    }

    // MARK: Media that has left the playlist

    private mutating func retain(
        from old: MediaList?, seen before: Int64, to new: MediaList, _ index: Int
    ) -> [LintRequest] {
        guard let old else { return [] }
        var requests: [LintRequest] = []
        let margin: Int64 = 500_000_000
        for segment in old.segments {
            let later = segment.number < new.mediaSequence ? nil : new.segments.first { $0.number == segment.number }
            if !segment.parts.isEmpty, later?.parts.isEmpty ?? true {
                for (place, part) in segment.parts.enumerated() where !part.isGap {
                    let key = part.uri + (part.byteRange.map { "@\($0)" } ?? "")
                    self.histories[index].hintsAsked.remove(key)
                    var request = LintRequest(
                        .retainedPart(index, part.uri, segment.number, place), self.address(part.uri, index),
                        notBefore: before &+ 3 &* new.targetDuration &- margin)
                    request.isHead = true
                    requests.append(request)
                }
            }
            guard segment.number < new.mediaSequence, let record = self.histories[index].records[segment.number] else {
                continue
            }
            self.histories[index].records[segment.number]?.isGone = true
            guard !segment.isGap else {
                self.histories[index].records[segment.number] = nil
                continue
            }
            let until = record.seenAt &+ segment.duration &+ self.histories[index].longest
            var request = LintRequest(
                .retainedSegment(index, segment.number), self.address(segment.uri, index),
                notBefore: max(self.now, until &- margin))
            request.isHead = true
            requests.append(request)
        }
        return requests
    }
}
