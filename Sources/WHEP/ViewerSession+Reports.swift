import MediaTypes
import OpenSSLCrypto
import WebRTC

/// Reports to the viewer, and its reports and requests.
extension ViewerSession {
    private static let reportInterval: Int64 = 1_000_000_000
    /// How long an estimate of the viewer is used, in nanoseconds. Browsers send one each second.
    private static let estimateTime: Int64 = 3_000_000_000

    /// Sends the sender reports: which RTP times of audio and video belong to the same instant of the program.
    ///
    /// Spec: RFC 3550 §6.4.1.
    func report(_ stream: RenditionStream, _ now: Int64, into output: inout ViewerOutput) {
        // Without catching up after a pause.
        self.nextReport = max(self.nextReport &+ Self.reportInterval, now &+ Self.reportInterval / 2)
        guard self.transport.media != nil, let time = stream.clock.time(now: now), !self.flow.isSilent(now: now) else {
            return
        }
        let ntp = stream.clock.ntp(now: now)
        var writer = RTCPWriter()
        for (track, rate) in [(self.video, RenditionStream.videoRate), (self.audio, RenditionStream.audioRate)] {
            guard let track, track.packets > 0 else { continue }
            let ticks = TimeMath.rescale(time, from: 1_000_000_000, to: rate)
            writer.senderReport(
                RTCPSenderReport(
                    ssrc: track.ssrc, ntp: ntp, timestamp: track.timestamp(ticks), packets: track.packets,
                    octets: track.octets))
            writer.sourceDescription(ssrc: track.ssrc, name: self.sources.canonicalName)
        }
        if !writer.bytes.isEmpty { self.transport.sendRTCP(writer.bytes, into: &output) }
    }

    /// Takes one RTCP packet of the viewer.
    func receive(_ packet: RTCPPacket, _ stream: RenditionStream, _ now: Int64, into output: inout ViewerOutput) {
        switch packet {
        case .senderReport(_, let blocks), .receiverReport(_, let blocks):
            for block in blocks { self.receive(block, stream, now) }
        case .nack(_, let media, let lost): self.resend(lost, of: media, stream, now, into: &output)
        case .pictureLoss(_, let media), .fullIntraRequest(_, let media, _):
            guard media == self.video?.ssrc else { return }
            self.counters.pictureLossRequests &+= 1
            self.answerPictureLoss(stream, now, into: &output)
        case .remb(_, let bitRate, let sources):
            guard let video, sources.contains(video.ssrc) else { return }
            self.estimate = (bitRate, now)
        default: break
        }
    }

    private func receive(_ block: RTCPReportBlock, _ stream: RenditionStream, _ now: Int64) {
        guard block.ssrc == self.video?.ssrc || block.ssrc == self.audio?.ssrc else { return }
        let lost = self.reportedLoss[block.ssrc] ?? 0
        if block.cumulativeLost > lost {
            self.counters.lost &+= UInt64(block.cumulativeLost - lost)
            self.reportedLoss[block.ssrc] = block.cumulativeLost
        }
        if block.lastSenderReport != 0 {
            let units =
                NTPTime.middle(stream.clock.ntp(now: now)) &- block.lastSenderReport
                &- block.delaySinceLastSenderReport
            // A minute or more is no round trip: the block does not answer a report of this session.
            if units < 60 << 16 { self.roundTrip = Int64(units) * 1_000_000_000 >> 16 }
        }
        guard block.ssrc == self.video?.ssrc else { return }
        let isNarrow = self.estimate.map { estimate in
            now &- estimate.at < Self.estimateTime
                && estimate.bitRate < UInt64(max(0, stream.bitrate(now: now))) / 2
        }
        self.flow.reported(lost: block.fractionLost, isNarrow: isNarrow ?? false, now: now)
    }

    // MARK: Repair

    private func resend(
        _ lost: [UInt16], of media: UInt32, _ stream: RenditionStream, _ now: Int64, into output: inout ViewerOutput
    ) {
        guard let (sender, address) = self.transport.media, !self.isFull(address) else { return }
        let isVideo = media == self.video?.ssrc
        guard isVideo || media == self.audio?.ssrc else { return }
        self.counters.requested &+= UInt64(lost.count)
        let history = isVideo ? stream.video : stream.audio
        guard var track = isVideo ? self.video : self.audio else { return }
        defer { if isVideo { self.video = track } else { self.audio = track } }
        for number in lost where track.has(number, in: history) {
            // Also a repetition that is not answered costs a token, so that a flood of them costs little time.
            guard self.repairs.take(now: now) else { return }
            let repair = track.repair(number, from: history, now: now)
            var bytes: [UInt8]
            switch repair {
            case .packet(let clear):
                bytes = clear
                guard sender.protectRTP(&bytes) == .ok else { continue }
            case .protected(let kept): bytes = kept
            case .none: continue
            }
            output.add(bytes, to: address)
            self.counters.retransmitted &+= 1
            self.counters.packets &+= 1
            self.counters.bytes &+= UInt64(bytes.count)
        }
    }

    /// Answers a request for a key frame. The encoder makes none for it. If the viewer was sent the cached group, nothing waits
    /// for it and no key frame came since, then it gets this group once more.
    private func answerPictureLoss(_ stream: RenditionStream, _ now: Int64, into output: inout ViewerOutput) {
        guard let sent = self.groupSent, stream.video.keyStart == sent.keyStart, self.video?.next == stream.video.end,
            now &- sent.at >= self.limits.groupInterval
        else { return }
        self.beginGroup(stream, now)
        // A second repetition of this group would come no sooner than the next key frame.
        self.groupSent = (.max, sent.keyStart)
        self.send(stream, now: now, into: &output)
    }
}
