/// Checks of the bytes of initialization segments, segments and parts. Spec: rfc8216bis §3.1.2, §4.4.4.
extension Linter {
    mutating func receivedMap(_ reply: LintReply, _ index: Int, _ map: MediaList.Map) -> [LintRequest] {
        self.checkMediaHeaders(reply, map.uri, index)
        guard reply.isGood else {
            self.histories[index].maps[map] = .failed
            self.add(.resourceMissing, "\(map.uri): \(reply.reason)", index)
            return []
        }
        guard let facts = InitializationFacts(reply.body) else {
            self.histories[index].maps[map] = .failed
            self.add(.mapUnreadable, "\(map.uri) has no readable moov with a track", index)
            return []
        }
        for fault in facts.faults { self.add(fault.rule, "\(map.uri): \(fault.what)", index) }
        self.histories[index].maps[map] = .known(facts)
        for track in facts.tracks {
            self.histories[index].codecs.insert(track.codec ?? track.entry)
            if let channels = track.channels { self.histories[index].channels.insert(channels) }
            if track.isPlainAAC { self.histories[index].isPlainAAC = true }
            guard track.isVideo else { continue }
            self.histories[index].hasVideo = true
            self.histories[index].width = max(self.histories[index].width, track.width)
            self.histories[index].height = max(self.histories[index].height, track.height)
        }
        let waiting = self.histories[index].waiting
        self.histories[index].waiting = []
        return waiting.flatMap { self.receivedMedia($0.reply, $0.request) }
    }

    mutating func receivedMedia(_ reply: LintReply, _ request: LintRequest) -> [LintRequest] {
        // The reply may have waited for its initialization segment or key.
        self.now = reply.receivedAt
        switch request.purpose {
        case .segment(let index, let number):
            if self.histories[index].list?.isIFramesOnly == true {
                self.receivedIFrame(reply, request, index, number)
            } else if self.histories[index].isSubtitles {
                self.receivedSubtitles(reply, request, index, number)
            } else {
                return self.receivedSegment(reply, request, index, number)
            }
        case .part(let index, let number, let place): self.receivedPart(reply, request, index, number, place)
        case .hint(let index, let uri): self.receivedHint(reply, request, index, uri)
        default: break
        }
        return []
    }

    /// Reads a segment or part; `nil` if its initialization segment or key has not arrived yet, in which case the reply
    /// is kept until then.
    private mutating func digest(
        _ reply: LintReply, _ request: LintRequest, _ segment: MediaList.Segment?, _ index: Int, isSure: Bool = true,
        keepsSamples: Bool = false
    ) -> MediaDigest? {
        guard let segment else { return MediaDigest(unread: reply.body) }
        let content: [UInt8]
        switch self.opened(reply, segment, index, isSure: isSure) {
        case .clear(let bytes): content = bytes
        case .unread: return MediaDigest(unread: reply.body)
        case .waits:
            if self.histories[index].waiting.count < Self.longestWait {
                self.histories[index].waiting.append((request, reply))
            }
            return nil
        }
        guard let map = segment.map else {
            return MediaDigest.isTransport(content) ? MediaDigest(transport: content) : MediaDigest(unread: content)
        }
        switch self.histories[index].maps[map] {
        case .known(let facts): return MediaDigest(content, facts, keepsSamples: keepsSamples)
        case .asked:
            if self.histories[index].waiting.count < Self.longestWait {
                self.histories[index].waiting.append((request, reply))
            }
            return nil
        case .failed, nil: return MediaDigest(unread: reply.body)
        }
    }

    // MARK: Segments

    private mutating func receivedSegment(
        _ reply: LintReply, _ request: LintRequest, _ index: Int, _ number: Int64
    ) -> [LintRequest] {
        guard let record = self.histories[index].records[number] else { return [] }
        guard reply.isGood else {
            self.add(.resourceMissing, "\(record.listed.uri): \(reply.reason)", index, segment: number)
            return []
        }
        if record.listed.map == nil, Self.isFragmented(reply.body) {
            self.addOnce(
                .mapMissing, "segments are fragmented MP4 but there is no EXT-X-MAP", in: index, segment: number)
        }
        guard var digest = self.digest(reply, request, record.listed, index, keepsSamples: self.decodes) else {
            return []
        }
        let coded = digest.coded
        digest.coded = nil
        self.checkMediaHeaders(reply, record.listed.uri, index)
        self.checkSpeed(reply, record, index)
        self.histories[index].records[number]?.digest = digest
        self.histories[index].segmentCount += 1
        self.histories[index].byteCount &+= Int64(digest.bytes.count)
        for fault in digest.faults { self.add(fault.rule, fault.what, index, segment: number) }
        self.checkSpan(digest, record, index)
        self.checkEvents(digest, index, number)
        self.checkNeighbors(index, number)
        self.compareWithParts(index, number)
        self.align(index, number)
        self.measure(index)
        guard let coded, !coded.samples.isEmpty, digest.main?.startsIndependent == true,
            !digest.faults.contains(where: { $0.rule == .sliceDamaged })
        else { return [] }
        return [LintRequest(.decoding(index, number), record.listed.uri, samples: coded)]
    }

    /// Handles the result of decoding a segment.
    mutating func receivedDecoding(_ reply: LintReply, _ index: Int, _ number: Int64) {
        guard let damage = reply.failure else { return }
        self.add(.sliceDamaged, damage, index, segment: number)
    }

    private static func isFragmented(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 8
            && ["styp", "moof", "sidx", "emsg", "prft"].contains(String(decoding: bytes[4..<8], as: UTF8.self))
    }

    private mutating func checkSpan(_ digest: MediaDigest, _ record: PlaylistHistory.Record, _ index: Int) {
        guard let span = digest.main else { return }
        let number = record.listed.number
        let off = span.duration &- record.listed.duration
        if off.magnitude > UInt64(span.frame / 2 + 1_000_000) {
            self.add(
                .extinfWrong,
                "EXTINF is \(Self.seconds(record.listed.duration)), its samples last \(Self.seconds(span.duration))",
                index,
                segment: number)
        }
        let isPromised = self.multivariant?.isIndependent == true || self.histories[index].list?.isIndependent == true
        if isPromised, span.isVideo, !span.startsIndependent {
            self.add(.idrMissing, "it does not begin with an IDR frame", index, segment: number)
        }
        if span.isVideo, self.histories[index].frame == 0 || span.frame < self.histories[index].frame {
            self.histories[index].frame = span.frame
        }
        self.checkDrift(span, record, index)
    }

    /// Checks that the sum of EXTINF over every run of segments between two discontinuities is within a frame of the
    /// media's duration, and that dates advance with media time.
    private mutating func checkDrift(_ span: MediaDigest.Span, _ record: PlaylistHistory.Record, _ index: Int) {
        let number = record.listed.discontinuityNumber
        let delta = span.startTime &- record.position
        if var drift = self.histories[index].drift, drift.number == number {
            let before = drift.high &- drift.low
            drift.low = min(drift.low, delta)
            drift.high = max(drift.high, delta)
            if drift.high &- drift.low > span.frame, before <= span.frame {
                self.add(
                    .extinfDrift,
                    "sums of EXTINF are up to \(Self.seconds(drift.high &- drift.low)) off the media's timeline",
                    index, segment: record.listed.number)
            }
            self.histories[index].drift = drift
        } else if number >= self.histories[index].drift?.number ?? .min {
            self.histories[index].drift = (number, delta, delta)
        }
        guard let date = record.listed.date else { return }
        let offset = date &- span.startTime
        if let dates = self.histories[index].dates, dates.number == number {
            if (offset &- dates.offset).magnitude > UInt64(Self.dateSlack) {
                self.add(
                    .dateWrong,
                    "its date is \(Self.seconds(offset &- dates.offset)) off the media's timeline",
                    index, segment: record.listed.number)
            }
        } else if number >= self.histories[index].dates?.number ?? .min {
            self.histories[index].dates = (number, offset)
        }
    }

    /// Checks that decoding times and fragment numbers continue from segment to segment.
    private mutating func checkNeighbors(_ index: Int, _ number: Int64) {
        for (one, other) in [(number &- 1, number), (number, number &+ 1)] {
            guard let before = self.histories[index].records[one], let after = self.histories[index].records[other],
                let first = before.digest, let second = after.digest,
                before.listed.discontinuityNumber == after.listed.discontinuityNumber
            else { continue }
            for span in second.spans {
                guard let last = first.spans.first(where: { $0.track == span.track }) else { continue }
                if last.end != span.start || last.timescale != span.timescale {
                    let gap = span.startTime &- last.nanoseconds(last.end)
                    self.add(
                        .decodeTimeBroken,
                        "it starts at \(span.start), the previous one ends at \(last.end) (\(Self.seconds(gap)) apart)",
                        index, segment: other)
                }
                self.checkPresentation(last, span, index, other)
            }
            if let low = first.lastSequence, let high = second.firstSequence, high <= low {
                self.add(
                    .sequenceBroken, "its first fragment is number \(high), the previous one is \(low)", index,
                    segment: other)
            }
        }
    }

    /// Checks that the frames of the previous segment are presented over its duration, and that the first frame of a
    /// segment is presented one frame duration after the last frame of the previous one. Only for even frame rates.
    private mutating func checkPresentation(
        _ last: MediaDigest.Span, _ span: MediaDigest.Span, _ index: Int, _ number: Int64
    ) {
        guard span.isVideo, span.isEven, last.isEven, span.timescale == last.timescale else { return }
        // Media before a discontinuity may have been cut anywhere, so it is not checked.
        if (last.shownDuration &- last.duration).magnitude > UInt64(last.frame / 2) {
            self.add(
                .frameTimesBroken,
                "its frames are presented over \(Self.seconds(last.shownDuration)) but last \(Self.seconds(last.duration))",
                index, segment: number &- 1)
        }
        let off = span.shownTime &- last.shownTime &- last.shownDuration
        guard off.magnitude > UInt64(span.frame / 2) else { return }
        self.add(
            .frameTimesBroken,
            "its first frame is presented \(Self.seconds(off &+ last.frame)) after the previous segment's last one",
            index, segment: number)
    }

    // MARK: Parts

    private mutating func receivedPart(
        _ reply: LintReply, _ request: LintRequest, _ index: Int, _ number: Int64, _ place: Int
    ) {
        let list = self.histories[index].list
        let segment =
            list?.open?.number == number ? list?.open : self.histories[index].records[number]?.listed
        guard let segment, segment.parts.indices.contains(place) else { return }
        let part = segment.parts[place]
        guard reply.isGood else {
            // After a new worker has taken over, the part has another name.
            guard Location.resolve(part.uri, against: self.histories[index].url) == request.url else { return }
            self.add(.resourceMissing, "\(part.uri): \(reply.reason)", index, segment: number, part: place)
            return
        }
        guard let digest = self.digest(reply, request, segment, index) else { return }
        self.checkMediaHeaders(reply, part.uri, index)
        if self.histories[index].records[number] != nil {
            self.placePart(digest, part, index, number, place)
        } else {
            self.histories[index].openParts[part.uri + (part.byteRange.map { "@\($0)" } ?? "")] = digest
        }
    }

    /// Handles a hinted part, which may arrive before or after the playlist version that lists it.
    private mutating func receivedHint(_ reply: LintReply, _ request: LintRequest, _ index: Int, _ uri: String) {
        guard reply.isGood else {
            self.histories[index].hintFailures[uri] = reply.reason
            self.histories[index].hintsAsked.remove(uri)
            return
        }
        self.noteHint(uri, index)
        let list = self.histories[index].list
        // The part is assumed to use the initialization segment of the newest listed segment, unless another one is
        // hinted, too.
        var segment = list?.open ?? list?.segments.last
        if let hint = list?.hints.first(where: { $0.type == "MAP" }),
            list?.hints.contains(where: { $0.uri == uri }) == true
        {
            segment?.map = MediaList.Map(uri: hint.uri, byteRange: nil)
        }
        guard let digest = self.digest(reply, request, segment, index, isSure: false) else { return }
        // If the part is encrypted with a key that is not listed yet, it is fetched again when it is listed.
        if segment?.key.isEmpty == false, digest.spans.isEmpty {
            self.histories[index].hintsAsked.remove(uri)
            return
        }
        self.checkMediaHeaders(reply, uri, index)
        self.histories[index].openParts[uri] = digest
        if self.histories[index].openParts.count > 256 { self.histories[index].openParts.removeAll() }
        // The part's segment may already be complete.
        for segment in (list?.segments ?? []).suffix(2) {
            guard let place = segment.parts.firstIndex(where: { $0.uri == uri }),
                self.histories[index].records[segment.number] != nil
            else { continue }
            self.histories[index].openParts[uri] = nil
            self.placePart(digest, segment.parts[place], index, segment.number, place)
        }
    }

    /// Stores and checks a part of a complete segment.
    mutating func placePart(
        _ digest: MediaDigest, _ part: MediaList.Part, _ index: Int, _ number: Int64, _ place: Int
    ) {
        guard self.histories[index].records[number]?.parts[place] == nil else { return }
        self.histories[index].records[number]?.parts[place] = digest
        self.histories[index].partCount += 1
        for fault in digest.faults { self.add(fault.rule, fault.what, index, segment: number, part: place) }
        if let span = digest.main {
            if (span.duration &- part.duration).magnitude > UInt64(span.frame / 2 + 1_000_000) {
                self.add(
                    .partDurationWrong,
                    "DURATION is \(Self.seconds(part.duration)), its samples last \(Self.seconds(span.duration))",
                    index,
                    segment: number, part: place)
            }
            if part.isIndependent, !span.hasIndependent {
                self.add(
                    .independentUntrue, "it has INDEPENDENT=YES but no IDR frame", index, segment: number, part: place)
            }
            if !part.isIndependent, span.isVideo, span.hasIndependent {
                self.add(
                    .independentUnmarked, "it has an IDR frame but no INDEPENDENT=YES", index,
                    segment: number, part: place)
            }
        }
        self.compareWithParts(index, number)
    }

    /// Checks that the bytes of a segment are those of its parts.
    private mutating func compareWithParts(_ index: Int, _ number: Int64) {
        guard let record = self.histories[index].records[number], let whole = record.digest,
            !record.listed.parts.isEmpty, !record.isComparedWithParts,
            record.listed.key.isEmpty
                || (!whole.spans.isEmpty && record.parts.values.allSatisfy({ !$0.spans.isEmpty })),
            record.parts.count == record.listed.parts.count
        else { return }
        self.histories[index].records[number]?.isComparedWithParts = true
        var bytes = ByteDigest()
        for place in record.listed.parts.indices {
            guard let part = record.parts[place] else { return }
            bytes.append(part.bytes)
        }
        if bytes != whole.bytes {
            self.add(
                .partsNotSegment,
                "the segment has \(whole.bytes.count) bytes, its parts \(bytes.count), and they differ",
                index, segment: number)
        }
    }

    // MARK: Bandwidth

    /// Adds the received segments to the bit rate measurement, in playlist order.
    mutating func measure(_ index: Int) {
        let target = self.histories[index].list?.targetDuration ?? 1
        guard var next = self.histories[index].meteredNext ?? self.histories[index].records.keys.min() else { return }
        while let record = self.histories[index].records[next] {
            if record.listed.isGap {
                self.histories[index].meter.interrupt()
            } else if let digest = record.digest {
                self.histories[index].meter.append(
                    duration: record.listed.duration, bytes: Int64(digest.bytes.count), target: target)
            } else if self.histories[index].records[next &+ 8]?.digest == nil {
                break
            } else {
                // The segment never arrived.
                self.histories[index].meter.interrupt()
            }
            next &+= 1
        }
        self.histories[index].meteredNext = next
    }
}
