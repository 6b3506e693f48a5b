extension RTCPeerMedia {
    /// Takes a decrypted RTP packet.
    ///
    /// - Parameters:
    ///   - bytes: The whole packet. Slices of it are given out, so it should not be larger than the packet.
    ///   - now: Its arrival.
    ///   - output: Packets that are in order now are appended.
    package mutating func receiveRTP(
        _ bytes: [UInt8], at now: Int64, into output: inout [TrackPacket]
    ) -> RTPVerdict {
        guard let packet = RTPPacket(bytes) else {
            self.counters.malformed += 1
            return .malformed
        }
        // The feedback counts every packet of the peer: it acknowledges arrival, not use.
        if let number = packet.elementNumber(self.feedbackExtension) { self.feedback.received(number, at: now) }
        switch self.table.match(packet, at: now) {
        case .unknownPayloadType:
            self.counters.unknownPayloadType += 1
            return .unknownPayloadType
        case .refused:
            self.counters.refusedSource += 1
            return .refusedSource
        case .stream(let stream, let isRetransmission, let isNew):
            if isNew, !isRetransmission { self.begin(stream, ssrc: packet.ssrc, at: now, into: &output) }
            self.streams[stream].packets += 1
            self.streams[stream].bytes += UInt64(bytes.count)
            self.streams[stream].meter.add(bytes.count, at: now)
            self.receive(packet, stream: stream, isRetransmission: isRetransmission, at: now, into: &output)
            return .taken
        }
    }

    /// Takes decrypted RTCP packets of one datagram.
    ///
    /// - Returns: Whether the peer said goodbye to one of its streams.
    package mutating func receiveRTCP(_ bytes: [UInt8], at now: Int64) -> Bool {
        guard let packets = RTCPPacket.parse(bytes) else {
            self.counters.malformedRTCP += 1
            return false
        }
        var isGoodbye = false
        for packet in packets {
            switch packet {
            case .senderReport(let report, _):
                guard let stream = self.table.stream(ofOriginals: report.ssrc) else { continue }
                self.streams[stream].reports?.received(report, at: now)
                self.clock.received(report, stream: stream, at: now)
            case .delaySinceReferenceTime(let blocks):
                for block in blocks where block.ssrc == self.settings.localSSRC {
                    self.roundTrip.received(block, ntp: Self.ntp(now), at: now)
                }
            case .goodbye(let ssrcs):
                isGoodbye = isGoodbye || ssrcs.contains { self.table.stream(ofOriginals: $0) != nil }
                self.table.remove(ssrcs)
            default: continue
            }
        }
        return isGoodbye
    }

    /// Starts a stream at the first packet of its SSRC, or restarts it if another SSRC continues it.
    private mutating func begin(_ stream: Int, ssrc: UInt32, at now: Int64, into output: inout [TrackPacket]) {
        if self.nextReport == nil { self.nextReport = now + Self.reportInterval / 2 }
        if self.streams[stream].reports != nil {
            self.streams[stream].ordering.restart(into: &self.ordered)
            self.deliver(stream, at: now, into: &output)
            self.clock.restart(stream: stream)
        }
        self.streams[stream].reports = ReceiverReports(
            ssrc: ssrc, clockRate: self.tracks[self.streams[stream].track].clockRate)
    }

    private mutating func receive(
        _ packet: RTPPacket, stream: Int, isRetransmission: Bool, at now: Int64, into output: inout [TrackPacket]
    ) {
        var sequence = packet.sequence
        var payload = packet.payload
        if isRetransmission {
            // RFC 4588 §4: the original number precedes the payload. Less is padding of a bandwidth probe.
            guard payload.count >= 2, self.streams[stream].isInUse else { return }
            sequence = NetworkOrder.read16(packet.bytes, at: payload.lowerBound)
            payload = payload.lowerBound + 2..<payload.upperBound
            // An empty retransmission repeats a packet that had no payload.
        }
        let track = self.streams[stream].track
        let layer = self.streams[stream].layer
        if self.layers[track]?.received(layer: layer, bytes: packet.bytes.count, at: now) == true {
            self.chooseLayer(track: track, at: now)
        }
        guard self.streams[stream].isInUse else {
            self.streams[stream].reports?.received(
                sequence: packet.sequence, timestamp: packet.timestamp, at: now)
            // Keeps the time of the layer known, for when it is chosen. Once per frame is sufficient.
            if packet.marker {
                _ = self.clock.time(stream: stream, timestamp: packet.timestamp, arrival: now)
            }
            return
        }
        let orientation = packet.elementByte(self.tracks[track].orientationExtension)
        let requested = self.streams[stream].ordering.onlyRequest(of: sequence)
        let outcome = self.streams[stream].ordering.receive(
            OrderedPacket(
                sequence: 0, timestamp: packet.timestamp, marker: packet.marker, payload: packet.bytes[payload],
                orientation: orientation, arrival: now),
            sequence: sequence, isRetransmission: isRetransmission, into: &self.ordered)
        // On arrival, not when it is in order: there is no use in asking for a key frame that is already coming.
        if outcome == .taken || outcome == .recovered, self.tracks[track].kind == .video,
            KeyFrameStart.isAt(packet.bytes[payload], codec: self.streams[stream].codec)
        {
            self.streams[stream].keyFrames.receivedKeyFrame(at: now, roundTrip: self.assumedRoundTrip)
            // FIRs until the next key frame are one request, with this number.
            self.streams[stream].intraNumber &+= 1
        }
        if outcome == .recovered, let requested, isRetransmission || self.tracks[track].rtxPayloadType == nil {
            self.roundTrip.receivedRetransmission(requested: requested, at: now)
        }
        // A resent packet does not count as received: reports say what the network lost.
        let isOriginal =
            !isRetransmission
            && (outcome == .taken || outcome == .late
                || outcome == .recovered && self.tracks[track].rtxPayloadType != nil)
        if isOriginal {
            self.streams[stream].reports?.received(sequence: sequence, timestamp: packet.timestamp, at: now)
        }
        self.deliver(stream, at: now, into: &output)
    }

    /// Gives out what is in ``ordered``.
    mutating func deliver(_ stream: Int, at now: Int64, into output: inout [TrackPacket]) {
        let track = self.streams[stream].track
        let layer = self.streams[stream].layer
        for packet in self.ordered {
            let time = self.clock.time(stream: stream, timestamp: packet.timestamp, arrival: packet.arrival)
            var given = packet
            if let choice = self.layers[track], choice.current != layer {
                // The target gives out nothing before its first key frame; a layer that was left gives out nothing.
                guard choice.target == layer,
                    KeyFrameStart.isAt(packet.payload, codec: self.streams[stream].codec)
                else { continue }
                self.switchLayer(track: track, from: choice.current)
                given = packet.afterLoss
            }
            output.append(TrackPacket(track: track, layer: layer, packet: given, time: time))
        }
        self.ordered.removeAll(keepingCapacity: true)
    }

    var assumedRoundTrip: Int64 { self.roundTrip.estimate ?? Self.usualRoundTrip }

    /// The time `now` of this side's clock for reference times (RFC 3611 §4.4), whose beginning is arbitrary.
    static func ntp(_ now: Int64) -> UInt64 { NTPTime.timestamp(now &+ 1_000_000_000_000_000) }

    /// Call when the target layer of a track has changed: its packets are put in order from now on, and a key frame is wanted.
    mutating func chooseLayer(track: Int, at now: Int64) {
        guard let choice = self.layers[track] else { return }
        for index in self.streams.indices where self.streams[index].track == track {
            let layer = self.streams[index].layer
            let isInUse = layer == choice.target || layer == choice.current
            if layer == choice.target, layer != choice.current { self.streams[index].keyFrames.want(at: now) }
            self.setInUse(isInUse, stream: index)
        }
    }

    private mutating func switchLayer(track: Int, from old: Int?) {
        self.layers[track]?.switchToTarget()
        for index in self.streams.indices where self.streams[index].track == track {
            if self.streams[index].layer == old { self.setInUse(false, stream: index) }
        }
    }

    private mutating func setInUse(_ isInUse: Bool, stream: Int) {
        guard self.streams[stream].isInUse != isInUse else { return }
        self.streams[stream].isInUse = isInUse
        guard !isInUse else { return }
        // What waits for missing packets is not needed any more.
        var dropped: [OrderedPacket] = []
        self.streams[stream].ordering.restart(into: &dropped)
    }
}

extension OrderedPacket {
    /// The same packet, marked as one after a loss, since its layer has just become the current one.
    fileprivate var afterLoss: OrderedPacket {
        OrderedPacket(
            sequence: self.sequence, timestamp: self.timestamp, marker: self.marker, payload: self.payload,
            orientation: self.orientation, arrival: self.arrival, isAfterLoss: true)
    }
}
