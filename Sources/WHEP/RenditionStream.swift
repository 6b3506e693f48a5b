package import MediaTypes
import WebRTC

/// One rendition as RTP packets, made once for all viewers.
///
/// Bound to the event loop of the viewers. Time is passed in.
package final class RenditionStream {
    /// Largest RTP payload of video in bytes. With all headers a datagram stays below 1,280 bytes, which every IPv6 path carries.
    package static let largestPayload = 1_160
    static let videoRate: Int64 = 90_000
    static let audioRate: Int64 = 48_000

    package let name: String
    package private(set) var video = PacketHistory()
    package private(set) var audio = PacketHistory()
    package private(set) var clock: ProgramClock
    /// `profile_idc` of the current configuration; nil before the first.
    package private(set) var profile: UInt8?
    private let packetizer = H264Packetizer(largestPayload: RenditionStream.largestPayload)
    private var parameterSets: [[UInt8]] = []
    private var frame: Int64 = 0
    private var packet: Int64 = 0
    private var needsKey = true
    private var meter = RateMeter()

    package init(name: String, clock: ProgramClock) {
        self.name = name
        self.clock = clock
    }

    /// Sets the parameter sets of the following video.
    package func configure(_ parameters: CodecParameters) {
        guard parameters.kind == .video else { return }
        self.parameterSets = AccessUnit.parameterSets(of: parameters.configuration)
        self.profile = self.parameterSets.first.flatMap { $0.count > 1 ? $0[1] : nil }
        self.needsKey = true
    }

    /// Adds a frame of video or an Opus packet. Video frames before a key frame are dropped at the start, after a new
    /// configuration and after ``rest()``.
    package func receive(_ packet: CodedPacket, now: Int64) {
        packet.kind == .video ? self.receiveVideo(packet, now) : self.receiveAudio(packet, now)
    }

    /// The rendition is not needed for some time: all packets are forgotten, and video begins with a key frame again.
    package func rest() {
        self.video.removeAll()
        self.audio.removeAll()
        self.needsKey = true
    }

    /// Bit rate of the video over the last second, in bits per second.
    func bitrate(now: Int64) -> Int { self.meter.rate(at: now) }

    private func receiveVideo(_ packet: CodedPacket, _ now: Int64) {
        guard packet.isKey || !self.needsKey else { return }
        let units = AccessUnit.units(of: packet, parameterSets: self.parameterSets)
        guard !units.isEmpty else { return }
        self.needsKey = false
        let time = self.time(of: packet, Self.videoRate, now)
        let packets = self.packetizer.payloads(units).map {
            HistoryPacket(payload: $0.bytes, marker: $0.marker, time: time, frame: self.frame, arrival: now)
        }
        self.frame += 1
        self.meter.add(packets.reduce(0) { $0 + $1.payload.count }, at: now)
        self.video.append(packets, isKey: packet.isKey)
    }

    private func receiveAudio(_ packet: CodedPacket, _ now: Int64) {
        let bytes = packet.withBytes { Array($0) }
        // An Opus packet is not fragmented; 1,275 bytes is the most that a frame of 20 ms can have.
        guard (1...1_276).contains(bytes.count) else { return }
        let time = self.time(of: packet, Self.audioRate, now)
        self.audio.append(
            [HistoryPacket(payload: bytes, marker: false, time: time, frame: self.packet, arrival: now)], isKey: true)
        self.packet += 1
    }

    /// The presentation time in ticks of an RTP clock.
    private func time(of packet: CodedPacket, _ rate: Int64, _ now: Int64) -> Int64 {
        let scale = Int64(max(1, packet.timescale))
        self.clock.received(TimeMath.rescale(packet.pts, from: scale, to: 1_000_000_000), now: now)
        return TimeMath.rescale(packet.pts, from: scale, to: rate)
    }
}
