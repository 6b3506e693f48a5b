import MediaTypes

/// The media of one publishing peer: decrypted RTP and RTCP in, ordered packets and RTCP to send out.
///
/// It has no clock and sends nothing itself. The caller
/// 1. passes each packet to ``receiveRTP(_:at:into:)`` or ``receiveRTCP(_:at:)``, with its arrival,
/// 2. calls ``advance(to:into:)`` at ``deadline`` at the latest, encrypts and sends what it returns,
/// 3. calls ``requestKeyFrame(track:at:)`` when a track cannot be decoded without one.
///
/// Times are nanoseconds of one monotonic clock, not negative. Memory is bounded by the limits of ``ReceiveTrack`` and
/// ``StreamTable``.
package struct RTCPeerMedia: Sendable {
    /// Time between two receiver reports in nanoseconds.
    package static let reportInterval: Int64 = 1_000_000_000
    /// Round trip that is assumed before the first measurement, in nanoseconds.
    static let usualRoundTrip: Int64 = 100_000_000
    /// Largest RTCP datagram before encryption, in bytes.
    static let largestDatagram = 1_150

    /// State of one stream: a track, or a layer of it.
    struct Stream: Sendable {
        let track: Int
        let layer: Int
        let codec: CodecName
        var ordering: ReceiveTrack
        /// Reception counters of the current SSRC; nil before the first packet.
        var reports: ReceiverReports?
        var keyFrames: KeyFrameRequests
        /// Number that FIRs have until the next key frame arrives (RFC 5104 §4.3.1.1).
        var intraNumber: UInt8 = 0
        var meter = RateMeter()
        var packets: UInt64 = 0
        var bytes: UInt64 = 0
        var nacks: UInt64 = 0
        /// Whether its packets are put in order; false for layers that are not chosen.
        var isInUse: Bool
    }

    let tracks: [NegotiatedTrack]
    let settings: RTCPeerMediaSettings
    var table: StreamTable
    var streams: [Stream]
    /// The choice of the simulcast layer, by track; nil without simulcast.
    var layers: [SimulcastLayers?]
    package internal(set) var clock: SenderClock
    var feedback = TransportFeedback()
    let feedbackExtension: UInt8?
    var roundTrip = RoundTripTime()
    var estimate: LossBasedEstimate?
    var nextReport: Int64?
    var counters = RTCMediaStatistics()
    /// Reused, so that a packet costs no allocation.
    var ordered: [OrderedPacket] = []
    var numbers: [UInt16] = []

    package init(tracks: [NegotiatedTrack], settings: RTCPeerMediaSettings) {
        self.tracks = tracks
        self.settings = settings
        let table = StreamTable(tracks: tracks)
        self.table = table
        self.streams = table.streams.map { stream in
            let track = tracks[stream.track]
            var timing = ReceiveTrack.Timing(
                isRepaired: track.hasNACK, wait: track.hasNACK ? settings.wait : nil)
            // A layer that is chosen has been arriving for some time. Its key frame must not be held back, because the
            // layer before continues until then.
            if track.rids.count > 1 { timing.start = 0 }
            return Stream(
                track: stream.track, layer: stream.layer, codec: track.codec, ordering: ReceiveTrack(timing: timing),
                keyFrames: KeyFrameRequests(
                    isPossible: track.hasPLI || track.hasFIR, isIgnored: settings.ignoresKeyFrameRequests),
                isInUse: track.rids.count <= 1)
        }
        self.layers = tracks.indices.map { track in
            let count = table.streams.count { $0.track == track }
            return count > 1 ? SimulcastLayers(count: count) : nil
        }
        self.clock = SenderClock(
            clockRates: table.streams.map { tracks[$0.track].clockRate },
            reference: table.streams.firstIndex { tracks[$0.track].kind == .audio })
        self.feedbackExtension = tracks.first { $0.hasTransportCC }?.transportCCExtension
        if self.feedbackExtension == nil, tracks.contains(where: \.hasREMB) {
            self.estimate = LossBasedEstimate(start: settings.startBitRate, highest: settings.highestBitRate)
        }
    }

    /// When ``advance(to:into:)`` has something to do; nil if nothing is due, as before the first packet.
    package var deadline: Int64? {
        var earliest = self.nextReport ?? .max
        if let due = self.feedback.deadline { earliest = min(earliest, due) }
        for index in self.streams.indices {
            if self.streams[index].isInUse, let due = self.streams[index].ordering.deadline {
                earliest = min(earliest, due)
            }
            if let due = self.streams[index].keyFrames.deadline, self.table.ssrc(of: index) != nil {
                earliest = min(earliest, due)
            }
        }
        return earliest == .max ? nil : earliest
    }

    /// The bytes that wait for missing packets.
    package var waitingBytes: Int { self.streams.reduce(0) { $0 + $1.ordering.waitingBytes } }

    /// Number of SSRCs that are remembered.
    package var sourceCount: Int { self.table.count }

    /// Asks the sender of a track for a key frame. Requests are limited in rate, and rare where they have no effect.
    package mutating func requestKeyFrame(track: Int, at now: Int64) {
        let layer = self.layers.indices.contains(track) ? self.layers[track]?.target ?? 0 : 0
        for index in self.streams.indices where self.streams[index].track == track {
            if self.streams[index].layer == layer { self.streams[index].keyFrames.want(at: now) }
        }
    }

    /// Adds a measurement of the round-trip time, such as that of a handshake, in nanoseconds.
    package mutating func noteRoundTrip(_ time: Int64) { self.roundTrip.add(time) }

    /// The present counters and measurements.
    package mutating func statistics(at now: Int64) -> RTCMediaStatistics {
        var result = self.counters
        result.roundTrip = self.roundTrip.estimate
        result.estimate = self.estimate?.bitRate
        result.timeJumps = self.clock.jumps
        result.tracks = self.tracks.map { RTCMediaStatistics.Track($0.kind) }
        for index in self.streams.indices {
            let track = self.streams[index].track
            let current = self.layers[track] == nil ? 0 : self.layers[track]?.current
            let rate = self.streams[index].meter.rate(at: now)
            let isCurrent = self.streams[index].layer == current
            result.tracks[track].add(self.streams[index], isCurrent: isCurrent, rate: rate)
            if isCurrent { result.tracks[track].corrected = self.clock.corrected(stream: index) }
            result.tracks[track].layer = current
        }
        return result
    }
}

extension RTCMediaStatistics.Track {
    fileprivate mutating func add(_ stream: RTCPeerMedia.Stream, isCurrent: Bool, rate: Int) {
        self.packets += stream.packets
        self.bytes += stream.bytes
        self.expected += stream.reports?.expected ?? 0
        self.networkLost += stream.reports?.lost ?? 0
        self.nacks += stream.nacks
        self.keyFrameRequests += stream.keyFrames.sent
        self.ordering.add(stream.ordering.counters)
        guard isCurrent else { return }
        self.bitRate = rate
        self.fractionLost = stream.reports?.fractionLost ?? 0
        self.jitter = stream.reports?.jitter ?? 0
        self.answersKeyFrameRequests = stream.keyFrames.isEffective
    }
}
