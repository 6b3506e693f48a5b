/// Checks of the WebVTT segments of subtitle renditions. Spec: rfc8216bis §3.1.4.
extension Linter {
    mutating func receivedSubtitles(_ reply: LintReply, _ request: LintRequest, _ index: Int, _ number: Int64) {
        guard let record = self.histories[index].records[number] else { return }
        guard reply.isGood else {
            self.add(.resourceMissing, "\(record.listed.uri): \(reply.reason)", index, segment: number)
            return
        }
        switch self.opened(reply, record.listed, index, isSure: true) {
        case .clear(let bytes):
            // fMP4 with subtitles is not checked.
            if record.listed.map == nil { self.checkWebVTT(bytes, record.listed, index) }
        case .unread: break
        case .waits:
            if self.histories[index].waiting.count < Self.longestWait {
                self.histories[index].waiting.append((request, reply))
            }
            return
        }
        self.checkMediaHeaders(reply, record.listed.uri, index)
        self.checkSpeed(reply, record, index)
        self.histories[index].records[number]?.digest = MediaDigest(unread: reply.body)
        self.histories[index].segmentCount += 1
        self.histories[index].byteCount &+= Int64(reply.body.count)
        self.measure(index)
    }

    private mutating func checkWebVTT(_ bytes: [UInt8], _ segment: MediaList.Segment, _ index: Int) {
        let facts = WebVTTFacts(bytes)
        if let fault = facts.fault {
            return self.add(.webVTTBroken, "\(segment.uri): \(fault)", index, segment: segment.number)
        }
        // The media of the segment, if another rendition with the same numbers has received it.
        let media = self.histories.lazy.filter { !$0.isSubtitles && !$0.isIFrames }
            .compactMap { $0.records[segment.number] }
            .first { $0.digest?.main != nil && $0.listed.date == segment.date }
        guard let media, let span = media.digest?.main else { return }
        let isApart = facts.cues.contains { cue in
            !WebVTTFacts.isShown(
                cue, from: span.startTime, duration: segment.duration, slack: Self.timingSlack)
        }
        if isApart {
            self.add(
                .webVTTBroken, "\(segment.uri): it has a cue that is not shown during the segment", index,
                segment: segment.number)
        }
    }
}
