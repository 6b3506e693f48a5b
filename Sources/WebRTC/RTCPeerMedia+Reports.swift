extension RTCPeerMedia {
    /// Abandons what has been missing for too long and makes the RTCP packets that are due.
    ///
    /// - Parameter output: Packets that no longer wait are appended.
    /// - Returns: Datagrams to encrypt and send, at most 1,150 bytes each.
    package mutating func advance(to now: Int64, into output: inout [TrackPacket]) -> [[UInt8]] {
        for index in self.streams.indices where self.streams[index].isInUse && self.streams[index].ordering.isWaiting {
            self.streams[index].ordering.advance(to: now, into: &self.ordered)
            self.deliver(index, at: now, into: &output)
        }
        for track in self.layers.indices where self.layers[track]?.decide(at: now) == true {
            self.chooseLayer(track: track, at: now)
        }
        guard let deadline = self.deadline, now >= deadline else { return [] }
        var messages: [[UInt8]] = []
        var report: [UInt8] = []
        if let due = self.nextReport, now >= due {
            // Without catching up after a pause.
            self.nextReport = max(due + Self.reportInterval, now + Self.reportInterval / 2)
            report = self.report(at: now, messages: &messages)
        }
        for index in self.streams.indices {
            self.addNACK(index, at: now, to: &messages)
            self.addKeyFrameRequest(index, at: now, to: &messages)
        }
        let feedback = self.feedback.take(
            at: now, sender: self.settings.localSSRC, media: self.table.firstSSRC ?? 0)
        self.counters.feedbackMessages += UInt64(feedback.count)
        messages += feedback
        return self.datagrams(report: report, messages: messages)
    }

    /// Makes a report with RR, SDES and XR, and appends a REMB to `messages` if the peer expects REMB.
    private mutating func report(at now: Int64, messages: inout [[UInt8]]) -> [UInt8] {
        var blocks: [RTCPReportBlock] = []
        for index in self.streams.indices {
            if let block = self.streams[index].reports?.block(at: now) { blocks.append(block) }
        }
        var writer = RTCPWriter()
        writer.receiverReport(ssrc: self.settings.localSSRC, blocks: blocks)
        writer.sourceDescription(ssrc: self.settings.localSSRC, name: self.settings.canonicalName)
        writer.referenceTime(ssrc: self.settings.localSSRC, ntp: Self.ntp(now))
        if self.estimate != nil { messages.append(self.remb(at: now)) }
        return writer.bytes
    }

    private mutating func remb(at now: Int64) -> [UInt8] {
        var rate = 0
        var loss = 0.0
        for index in self.streams.indices {
            rate += self.streams[index].meter.rate(at: now)
            loss = max(loss, self.streams[index].reports?.fractionLost ?? 0)
        }
        self.estimate?.update(fractionLost: loss, received: rate)
        var writer = RTCPWriter()
        writer.remb(
            sender: self.settings.localSSRC, bitRate: UInt64(max(0, self.estimate?.bitRate ?? 0)),
            ssrcs: self.streams.indices.compactMap { self.table.ssrc(of: $0) })
        return writer.bytes
    }

    private mutating func addNACK(_ index: Int, at now: Int64, to messages: inout [[UInt8]]) {
        guard self.streams[index].isInUse, self.streams[index].ordering.isWaiting else { return }
        self.numbers.removeAll(keepingCapacity: true)
        self.streams[index].ordering.requests(
            at: now, roundTrip: self.assumedRoundTrip, limit: RTCPWriter.mostNACKEntries, into: &self.numbers)
        // After a BYE, there is no one to ask.
        guard !self.numbers.isEmpty, let ssrc = self.table.ssrc(of: index) else { return }
        var writer = RTCPWriter()
        writer.nack(sender: self.settings.localSSRC, media: ssrc, lost: self.numbers)
        messages.append(writer.bytes)
        self.streams[index].nacks += 1
    }

    private mutating func addKeyFrameRequest(_ index: Int, at now: Int64, to messages: inout [[UInt8]]) {
        guard let ssrc = self.table.ssrc(of: index),
            self.streams[index].keyFrames.take(at: now, roundTrip: self.assumedRoundTrip)
        else { return }
        var writer = RTCPWriter()
        if self.tracks[self.streams[index].track].hasPLI {
            writer.pictureLoss(sender: self.settings.localSSRC, media: ssrc)
        } else {
            writer.fullIntraRequest(
                sender: self.settings.localSSRC, media: ssrc, number: self.streams[index].intraNumber)
        }
        messages.append(writer.bytes)
    }

    /// Puts messages into as few datagrams as possible.
    private func datagrams(report: [UInt8], messages: [[UInt8]]) -> [[UInt8]] {
        var head: [UInt8] = []
        if !self.settings.hasReducedSize {
            // RFC 4585 §3.1: the least that a compound packet begins with.
            var writer = RTCPWriter()
            writer.receiverReport(ssrc: self.settings.localSSRC, blocks: [])
            writer.sourceDescription(ssrc: self.settings.localSSRC, name: self.settings.canonicalName)
            head = writer.bytes
        }
        var datagrams: [[UInt8]] = []
        var current = report
        for message in messages {
            if !current.isEmpty, current.count + message.count > Self.largestDatagram {
                datagrams.append(current)
                current = []
            }
            if current.isEmpty { current = head }
            current += message
        }
        if !current.isEmpty { datagrams.append(current) }
        return datagrams
    }
}
