import LibAV
import MediaTypes

/// Sources nobody sees: their key pictures are decoded when they are due, so that a change of format is known and
/// something is there to be shown at once; the rest is kept as it came, and decoded when the source is to be seen.
extension DecodeWorker {
    /// Pictures older than this at a return are decoded for the sake of later ones alone.
    private static let reach: Int64 = 100_000_000
    /// An overloaded machine decodes no more than so many pictures for a return: half a second of them.
    private static let thriftyMost = 15

    mutating func decodeVideo(_ packet: CodedPacket, _ pts: Int64, _ arrival: Int64?) {
        self.stage.count { $0.videoPackets += 1 }
        self.tellTurn()
        self.buffer.coded.put(.picture(packet, pts: pts))
        let beginning = WithheldPackets.beginning(packet, codec: self.videoCodec)
        // A file's key picture at which nothing begins is none that can be waited for.
        if beginning != .no { self.keys.note(pts) }
        // Before its first picture nothing is known about the source.
        let isHidden = self.buffer.need.isHidden && self.format != nil
        if !isHidden, !self.hasGap {
            self.decodeWithheld()
            if !self.hasGap {
                self.decodeNow(packet, pts, arrival)
                return
            }
        }
        self.buffer.withheld(until: pts)
        var item = WithheldPackets.Waiting(packet: packet, pts: pts, arrival: arrival, beginning: beginning)
        if self.hasGap, item.beginning == .no {
            guard self.isGapEndless(at: pts) else {
                self.gapLength += 1
                self.stage.count { $0.undecoded += 1 }
                return
            }
            item.beginning = .afterFlush
        }
        self.hasGap = false
        self.withheld.append(item)
        if isHidden { self.advanceWithheld() } else { self.decodeWithheld() }
    }

    /// Whether no IDR picture may come any more, as with open GOPs: the decoder then shows nothing before a recovery point, which
    /// only that of H.264 knows.
    private func isGapEndless(at pts: Int64) -> Bool {
        self.videoCodec == .h264 && self.gapLength >= VideoTrack.keyPatience && self.keys.isOverdue(at: pts)
    }

    /// Program time now: that of the tick which waits for this source, offline.
    private var present: Int64 {
        self.buffer.isPaced ? self.buffer.wantedTime : self.clock.now() ?? self.withheld.newest ?? 0
    }

    /// Decodes the key picture that is due, and keeps what is withheld within its bounds.
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

    /// Brings the decoder to the present, or leaves that to the next key picture: on a machine that cannot keep up, to make up
    /// what was left out would take from the encoders what they need.
    mutating func decodeWithheld() {
        guard let newest = self.withheld.newest else { return }
        // Of a source that has stopped sending the last picture is the present.
        let horizon = min(self.present, newest &- Self.reach) &- Self.reach
        if let left = self.withheld.advance(to: horizon) { self.stage.count { $0.undecoded += left } }
        if self.buffer.need.isThrifty, self.withheld.count > Self.thriftyMost, self.keys.isRegular(at: newest) {
            self.skipToKey(newest)
        }
        while let item = self.withheld.popFirst() { self.decode(item, isPast: item.pts < horizon) }
    }

    /// Leaves what comes before the next key picture out, which may be here already although it is not due.
    private mutating func skipToKey(_ newest: Int64) {
        var left = self.withheld.advance(to: newest) ?? 0
        if self.withheld.count > Self.thriftyMost {
            left += self.withheld.count
            self.withheld.removeAll()
            self.hasGap = true
        }
        self.stage.count { [left] in $0.undecoded += left }
    }

    private mutating func decode(_ item: WithheldPackets.Waiting, isPast: Bool) {
        if item.beginning == .afterFlush { self.video.flush() }
        self.decodeNow(item.packet, item.pts, item.arrival, isPast: isPast)
    }

    /// A hidden source is to be seen, and its next packet may not be due for a while.
    mutating func returnIfNeeded() {
        if !self.withheld.isEmpty, !self.buffer.need.isHidden { self.decodeWithheld() }
    }
}
