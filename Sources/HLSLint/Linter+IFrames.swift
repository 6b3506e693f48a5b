import MediaTypes

/// Checks of I-frame playlists: every entry must be a frame that can be decoded alone. Spec: rfc8216bis §4.4.3.6,
/// §4.4.6.3; Apple's authoring specification 6.
extension Linter {
    mutating func checkIFrameList(_ list: MediaList, _ index: Int) {
        let history = self.histories[index]
        if history.isIFrames, !list.isIFramesOnly {
            self.addOnce(
                .iFrameList, "EXT-X-I-FRAME-STREAM-INF names it but it has no EXT-X-I-FRAMES-ONLY", in: history.url)
        }
        if list.isIFramesOnly, list.hasParts {
            self.addOnce(.iFrameList, "it has parts", in: history.url)
        }
    }

    /// Checks the received bytes of an entry of an I-frame playlist.
    mutating func receivedIFrame(_ reply: LintReply, _ request: LintRequest, _ index: Int, _ number: Int64) {
        guard let record = self.histories[index].records[number] else { return }
        guard reply.isGood else {
            self.add(.resourceMissing, "\(record.listed.uri): \(reply.reason)", index, segment: number)
            return
        }
        guard let map = record.listed.map else {
            return self.addOnce(
                .mapMissing, "key frames are fragmented MP4 but there is no EXT-X-MAP", in: index, segment: number)
        }
        let content: [UInt8]?
        switch (self.histories[index].maps[map], self.openedRange(reply, record.listed, index)) {
        case (.asked, _), (_, .waits):
            if self.histories[index].waiting.count < Self.longestWait {
                self.histories[index].waiting.append((request, reply))
            }
            return
        case (.known(let facts), .clear(let bytes)):
            content = bytes
            self.checkIFrame(bytes, record.listed, facts, index)
        // The key is not available, or the initialization segment cannot be read.
        default: content = nil
        }
        self.checkMediaHeaders(reply, record.listed.uri, index)
        self.histories[index].records[number]?.digest = MediaDigest(unread: content ?? reply.body)
        self.histories[index].segmentCount += 1
        self.histories[index].byteCount &+= Int64(reply.body.count)
        self.checkDistance(index, number)
        self.measure(index)
    }

    private mutating func checkIFrame(
        _ bytes: [UInt8], _ segment: MediaList.Segment, _ facts: InitializationFacts, _ index: Int
    ) {
        func fault(_ what: String) {
            self.add(.iFrameRange, "\(segment.uri): \(what)", index, segment: segment.number)
        }
        if let range = segment.byteRange.flatMap({ LintRequest.range($0) }), Int64(bytes.count) != range.count {
            return fault("\(range.count) bytes from \(range.start) are listed, \(bytes.count) were received")
        }
        guard Self.beginsFragment(bytes) else {
            return fault("its bytes begin with none of the boxes moof, styp, emsg, prft and sidx")
        }
        let digest = MediaDigest(Self.closed(bytes), facts)
        guard let span = digest.main, span.isVideo, span.sampleCount > 0 else {
            return fault("its bytes are not a moof and mdat with video frames")
        }
        guard span.startsIndependent else { return fault("its first frame is not an IDR frame") }
        self.histories[index].records[segment.number]?.iFrameStart = span.startTime
        if self.histories[index].frame == 0 || span.frame < self.histories[index].frame {
            self.histories[index].frame = span.frame
        }
    }

    /// Checks that EXTINF of the previous and this I-frame entry is the distance to the next listed frame, give or take
    /// one frame.
    private mutating func checkDistance(_ index: Int, _ number: Int64) {
        for first in [number &- 1, number] {
            guard let one = self.histories[index].records[first], let start = one.iFrameStart,
                let next = self.histories[index].records[first &+ 1], let end = next.iFrameStart,
                one.listed.discontinuityNumber == next.listed.discontinuityNumber
            else { continue }
            let off = end &- start &- one.listed.duration
            guard off.magnitude > UInt64(self.histories[index].frame + 1_000_000) else { continue }
            self.add(
                .extinfWrong,
                "EXTINF is \(Self.seconds(one.listed.duration)), the next frame is \(Self.seconds(end &- start)) later",
                index, segment: first)
        }
    }

    /// Whether bytes begin with a box that can begin a fragment; the range of an I frame must contain its `moof`. Spec:
    /// §3.1.2.
    private static func beginsFragment(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 8 else { return false }
        return ["moof", "styp", "emsg", "prft", "sidx"].contains(String(decoding: bytes[4..<8], as: UTF8.self))
    }

    /// Shortens the last `mdat` to the available bytes, because the range of an I frame may end after that frame
    /// although its `mdat` is longer (§3.1.2).
    private static func closed(_ bytes: [UInt8]) -> [UInt8] {
        let reader = BoxReader(bytes: bytes)
        var position = 0
        while let size = reader.u32(position).map(Int.init), size >= 8, size <= bytes.count - position {
            position += size
        }
        guard position + 8 <= bytes.count,
            String(decoding: bytes[(position + 4)..<(position + 8)], as: UTF8.self) == "mdat"
        else { return bytes }
        var closed = bytes
        let rest = UInt32(clamping: bytes.count - position)
        for place in 0..<4 { closed[position + place] = UInt8(truncatingIfNeeded: rest >> (24 - 8 * UInt32(place))) }
        return closed
    }

    // MARK: The multivariant playlist

    /// Runs the checks of I-frame playlists that need the data of the whole run.
    mutating func finishIFrames() {
        for attributes in self.multivariant?.iFrameVariants ?? [] {
            guard let uri = attributes.quoted("URI") else { continue }
            let url = Location.resolve(uri, against: self.url)
            func fault(_ rule: Rule, _ what: String) {
                self.addOnce(rule, "\(uri): \(what)", in: self.url)
            }
            if attributes.quoted("CODECS") == nil { fault(.codecsMissing, "it has no CODECS") }
            guard let history = self.histories.first(where: { $0.url == url }), history.hasVideo else { continue }
            if let declared = attributes.resolution("RESOLUTION") {
                if declared != (history.width, history.height) {
                    fault(.resolutionWrong, "the frames are \(history.width)x\(history.height)")
                }
            } else {
                fault(.resolutionMissing, "it has no RESOLUTION")
            }
            let declared = attributes.quoted("CODECS")?.split(separator: ",").map { $0.lowercased() } ?? []
            for codec in history.codecs.sorted() where !declared.isEmpty {
                if !declared.contains(where: { Self.stands($0, for: codec.lowercased()) }) {
                    fault(.codecsWrong, "CODECS does not name \(codec)")
                }
            }
            if let rate = attributes.integer("BANDWIDTH"), Self.exceeds(history.meter.peak, rate, percent: 125) {
                fault(.bandwidthExceeded, "BANDWIDTH is \(rate), the peak bit rate is \(history.meter.peak)")
            }
        }
    }
}
