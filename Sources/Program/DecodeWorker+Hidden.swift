import LibAV
import MediaTypes

/// Hidden sources: their key frames are decoded when they are due, so that a change of format is known and a frame is
/// available at once. The packets after the last due key frame are kept undecoded, until the source becomes visible or
/// the next key frame is due.
extension DecodeWorker {
    /// When a source becomes visible again, frames older than this, in nanoseconds, are decoded only as references of
    /// later ones.
    private static let reach: Int64 = 100_000_000
    /// Maximum number of withheld frames that an overloaded machine decodes when a source with regular key frames
    /// becomes visible again: half a second at 30 fps.
    private static let thriftyMost = 15

    mutating func decodeVideo(_ packet: CodedPacket, _ pts: Int64, _ arrival: Int64?) {
        self.stage.count { $0.videoPackets += 1 }
        self.tellTurn()
        self.tell(.picture(packet, pts: pts))
        let beginning = HiddenSourceQueue.beginning(packet, codec: self.videoCodec)
        // A file may mark frames as key frames at which decoding cannot begin; do not wait for those.
        if beginning != .no { self.keys.note(pts) }
        // Before its first frame, nothing is known about the source, so it is decoded.
        let isHidden = self.buffer.need.isHidden && self.format != nil
        if !isHidden, !self.hasGap {
            self.decodeWithheld()
            if !self.hasGap {
                self.decodeNow(packet, pts, arrival)
                return
            }
        }
        self.buffer.withheld(until: pts)
        var item = HiddenSourceQueue.QueuedPacket(packet: packet, pts: pts, arrival: arrival, beginning: beginning)
        if self.hasGap, item.beginning == .no {
            guard self.isGapEndless(at: pts) else {
                self.gapLength += 1
                if !isHidden { self.stage.wantKeyFrame() }
                self.stage.count { $0.undecoded += 1 }
                return
            }
            item.beginning = .afterFlush
        }
        self.hasGap = false
        self.withheld.append(item)
        if isHidden { self.advanceWithheld() } else { self.decodeWithheld() }
    }

    /// Whether to stop waiting for an IDR frame, because none may come any more, as with open GOPs. The packet is then
    /// decoded after a flush: the H.264 decoder itself resumes at a recovery point. `false` for other codecs.
    private func isGapEndless(at pts: Int64) -> Bool {
        self.videoCodec == .h264 && self.gapLength >= VideoTrack.keyPatience && self.keys.isOverdue(at: pts)
    }

    /// Current program time; offline, the time of the tick that waits for this source.
    private var present: Int64 {
        self.buffer.isPaced ? self.buffer.wantedTime : self.clock.now() ?? self.withheld.newest ?? 0
    }

    /// Decodes the key frame that is due, and keeps the withheld packets within their limits.
    private mutating func advanceWithheld() {
        if let left = self.withheld.advance(to: self.present) {
            self.stage.count { $0.undecoded += left }
            if let key = self.withheld.popFirst() { self.decode(key, isPast: false) }
        }
        let pixels = self.format.map { $0.width * $0.height } ?? 0
        while let excess = self.withheld.popExcess(pixels: pixels) {
            if self.buffer.need.isThrifty {
                let left = self.withheld.count + 1
                self.stage.count { $0.undecoded += left }
                self.withheld.removeAll()
                self.hasGap = true
            } else {
                self.decode(excess, isPast: true)
            }
        }
    }

    /// Decodes the withheld packets up to the current time, or skips to the next key frame if the machine is
    /// overloaded: decoding the skipped frames would take time that the encoders need.
    mutating func decodeWithheld() {
        guard let newest = self.withheld.newest else { return }
        // If a source has stopped sending, its last frame is the current one.
        let horizon = min(self.present, newest &- Self.reach) &- Self.reach
        if let left = self.withheld.advance(to: horizon) { self.stage.count { $0.undecoded += left } }
        if self.buffer.need.isThrifty, self.withheld.count > Self.thriftyMost, self.keys.isRegular(at: newest) {
            self.skipToKey(newest)
        }
        while let item = self.withheld.popFirst() { self.decode(item, isPast: item.pts < horizon) }
    }

    /// Skips the frames before the next key frame, which may have been received although it is not due yet.
    private mutating func skipToKey(_ newest: Int64) {
        var left = self.withheld.advance(to: newest) ?? 0
        if self.withheld.count > Self.thriftyMost {
            left += self.withheld.count
            self.withheld.removeAll()
            self.hasGap = true
        }
        self.stage.count { [left] in $0.undecoded += left }
    }

    private mutating func decode(_ item: HiddenSourceQueue.QueuedPacket, isPast: Bool) {
        if item.beginning == .afterFlush { self.video.flush() }
        self.decodeNow(item.packet, item.pts, item.arrival, isPast: isPast)
    }

    /// Decodes the withheld packets of a source that became visible; its next packet may not be due for a while.
    mutating func returnIfNeeded() {
        if !self.withheld.isEmpty, !self.buffer.need.isHidden { self.decodeWithheld() }
    }
}
