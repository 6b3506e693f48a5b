import MediaTypes

extension DecodeWorker {
    /// Time before its due time at which a packet is decoded, in nanoseconds: longer than usual reorder delays and
    /// stalls of this thread, and at 60 fps still fewer frames than ``SourceBuffer/pictureLimit``. Packets of a longer
    /// jitter buffer stay coded.
    private static let decodeLead: Int64 = 300_000_000
    /// Time before its due time at which a packet is decoded while the timeline is settling, in nanoseconds. It is
    /// shorter, because corrections of the timeline are invisible only until the first packets are decoded.
    private static let settlingLead: Int64 = 100_000_000
    /// The longest sleep of this thread, in nanoseconds: the time within which it notices packets that do not wake it.
    private static let longestSleep = WakeCoalescer.longestSleep

    /// Runs a live source until the stage stops: takes items as they arrive and decodes them when they are due. A burst
    /// is not decoded when it arrives, because frames take a hundred times as much memory as packets.
    mutating func runLive() {
        while !self.stage.isStopped {
            self.takeItems()
            guard let now = self.clock.now() else {
                self.stage.wait(for: 2_000_000)
                continue
            }
            self.stage.relieve()
            self.returnIfNeeded()
            let sleep = self.decodeDue(at: now)
            if self.schedule.isEnding, self.schedule.isEmpty {
                self.schedule.ended()
                self.end()
                continue
            }
            if let sleep { self.stage.wait(for: min(sleep, Self.longestSleep)) }
        }
    }

    private mutating func takeItems() {
        // No packet is mapped before the program runs; the room starts the program with the first packet.
        guard self.clock.zero != nil else { return }
        if self.isCut { self.leaveOut() }
        if self.timeline.offset != self.stage.wantedOffset { self.timeline.setOffset(self.stage.wantedOffset) }
        self.timeline.filterLead = self.stage.processingLateness
        let limit = self.settings.isFile ? DecodeStage.queueLimit : .max
        while !self.schedule.isEnding, self.schedule.count < limit, let item = self.stage.queue.poll() {
            switch item {
            case .configuration where self.isCut: self.stage.release(item)
            case .packet where self.isCut:
                self.stage.release(item)
                self.stage.count { $0.dropped += 1 }
            case .configuration(let parameters): self.schedule.append(parameters)
            case .packet(let packet): self.take(packet)
            case .end:
                self.stage.release(item)
                self.schedule.appendEnd()
            }
        }
    }

    /// Whether the waiting packets, and all further ones up to the end of the publication, must be discarded.
    private var isCut: Bool { self.stage.isCut(behind: self.ended) }

    /// Discards all waiting packets of the current publication.
    private mutating func leaveOut() {
        // Repeat this: the cut may arrive while the first packet, which sets the publication to live, was on its
        // way.
        self.buffer.banish()
        var packets = 0
        for item in self.schedule.removeAll() {
            self.stage.release(item)
            if case .packet = item { packets += 1 }
        }
        packets += self.withheld.count
        self.withheld.removeAll()
        if packets > 0 { self.stage.count { [packets] in $0.dropped += packets } }
    }

    private mutating func take(_ packet: CodedPacket) {
        let (pts, dts) = Self.times(of: packet)
        guard let arrival = self.clock.program(of: packet.arrival) else { return self.stage.release(.packet(packet)) }
        if self.settings.isFile, !self.timeline.isAnchored {
            self.timeline.anchor(timestamp: dts, at: arrival &+ self.settings.jitterBuffer)
        }
        let before = self.timeline.reanchors
        let came = self.settings.isFile ? nil : arrival
        let leads = packet.kind == .video || self.leads(packet.track, at: arrival)
        let noted =
            leads
            ? self.timeline.note(kind: packet.kind, pts: pts, dts: dts, arrival: came)
            : self.timeline.noted(kind: packet.kind, pts: pts, dts: dts)
        self.align(packet.wallClock, noted, came)
        self.schedule.append(PacketSchedule.ScheduledPacket(packet: packet, noted: noted, arrival: came))
        self.stage.note(
            DecodeStage.Timing(
                driftPpm: self.timeline.driftPpm, buffered: self.timeline.buffered, depth: self.timeline.depth,
                reanchors: self.timeline.reanchors, lastReason: self.timeline.lastReason,
                isWallAligned: self.timeline.isWallAligned,
                wallExtra: self.timeline.wallExtra),
            waiting: self.schedule.count)
        if self.timeline.reanchors != before { self.stage.report(.reanchored) }
    }

    private mutating func align(_ stamp: WallClockTime?, _ noted: SourceTimeline.SourceTimes, _ arrival: Int64?) {
        guard let aligner = self.settings.aligner, let arrival, let origin = self.clock.origin else { return }
        if let stamp { self.timeline.note(stamp, of: noted.pts, server: origin &+ arrival) }
        guard let delay = self.timeline.wallDelay else {
            aligner.remove(self.settings.source)
            self.timeline.follow(nil, at: arrival)
            return
        }
        let extra = aligner.note(
            self.settings.source, delay: delay, held: self.timeline.wallHeld, reach: self.timeline.wallReach,
            at: arrival)
        self.timeline.follow(extra, at: arrival)
    }

    /// Decodes the packet that is due first, or applies the configuration, if one is due.
    ///
    /// - Returns: Nanoseconds until the next packet is due, ``longestSleep`` if none is waiting; `nil` if something was
    ///   due.
    private mutating func decodeDue(at now: Int64) -> Int64? {
        self.placing.note(
            isSettling: self.timeline.isSettling, reanchors: self.timeline.reanchors, offset: self.timeline.offset,
            at: now)
        guard let first = self.schedule.first({ self.due($0) }) else {
            // However late the last packet was, the thread is not behind if it has nothing to decode.
            self.placing.caughtUp()
            self.stage.note(lateness: 0)
            return Self.longestSleep
        }
        guard first.due <= now else {
            self.placing.caughtUp()
            self.stage.note(lateness: 0)
            return first.due &- now
        }
        switch self.schedule.popFirst(first.line) {
        case .configuration(let parameters)?:
            self.stage.release(.configuration(parameters))
            self.configure(parameters)
        case .packet(let waiting)?:
            self.stage.release(.packet(waiting.packet))
            self.stage.note(lateness: self.placing.lateness(due: first.due, arrival: waiting.arrival, now: now))
            self.timeline.begin()
            self.buffer.setStatus(.live, at: waiting.arrival ?? now)
            self.decode(waiting.packet, pts: self.timeline.program(of: waiting.noted.pts), arrival: waiting.arrival)
        case nil: break
        }
        return nil
    }

    /// When to decode a packet. However wrong its timestamp, a publisher's packet waits no longer than the largest jitter
    /// buffer plus the offset.
    private func due(_ waiting: PacketSchedule.ScheduledPacket) -> Int64 {
        let lead =
            self.timeline.isSettling && !self.settings.isFile
            ? Self.settlingLead &+ self.stage.processingLateness : Self.decodeLead
        let due = self.timeline.program(of: waiting.noted.dts) &- lead
        guard let arrival = waiting.arrival else { return due }
        return min(due, arrival &+ self.settings.maxJitterBuffer &+ max(0, self.timeline.offset))
    }
}
