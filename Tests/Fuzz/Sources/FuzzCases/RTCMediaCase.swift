import MediaTypes
import WebRTC

/// Decrypted RTP and RTCP packets of a peer: ordered packets, requests and reports.
///
/// Input: flags (1 byte), then records of kind (1 byte; odd: RTCP), milliseconds since the last (2 bytes), length
/// (2 bytes) and datagram.
enum RTCMediaCase {
    static let entry = FuzzCase("rtcmedia", longest: 4000, seeds: Self.seeds, run: Self.run)

    static func run(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let flags = input.byte()
        var settings = RTCPeerMediaSettings()
        settings.hasReducedSize = flags & 1 == 0
        var media = RTCPeerMedia(tracks: Self.tracks(flags), settings: settings)
        var now: Int64 = 1_000_000_000
        var last: [Int: Int64] = [:]
        while input.left > 0 {
            let kind = input.byte()
            now += Int64(input.number(2)) * 1_000_000
            let datagram = input.take(Int(input.number(2)))
            var output: [TrackPacket] = []
            if kind & 1 == 1 {
                _ = media.receiveRTCP(datagram, at: now)
                if let broken = Self.rewrite(datagram) { return broken }
            } else {
                _ = media.receiveRTP(datagram, at: now, into: &output)
            }
            if kind & 2 == 2 { media.requestKeyFrame(track: Int(kind >> 2), at: now) }
            var rounds = 0
            while let deadline = media.deadline, deadline <= now {
                rounds += 1
                if rounds > 100 { return "a deadline that does not move" }
                for sent in media.advance(to: now, into: &output) {
                    if sent.count > 1_200 { return "a datagram of \(sent.count) bytes" }
                    guard let packets = RTCPPacket.parse(sent), !packets.isEmpty else {
                        return "sent RTCP that cannot be parsed"
                    }
                }
            }
            for given in output {
                if given.packet.payload.isEmpty { return "an empty packet" }
                let stream = given.track * 8 + given.layer
                if let before = last[stream], given.packet.sequence <= before { return "packets out of order" }
                last[stream] = given.packet.sequence
            }
            if media.sourceCount > StreamTable.mostEntries { return "\(media.sourceCount) SSRCs" }
            if media.waitingBytes > 2 * 8 << 20 { return "\(media.waitingBytes) bytes wait" }
        }
        let statistics = media.statistics(at: now)
        return statistics.tracks.count == Self.tracks(flags).count ? nil : "a track without statistics"
    }

    private static func tracks(_ flags: UInt8) -> [NegotiatedTrack] {
        let audio = NegotiatedTrack(
            mid: "0", kind: .audio, codec: .opus, payloadType: 111, clockRate: 48_000, hasTransportCC: true,
            transportCCExtension: 3, midExtension: 4)
        let video = NegotiatedTrack(
            mid: "1", kind: .video, codec: [.h264, .vp8, .vp9, .h264][Int(flags >> 1) & 3], payloadType: 96,
            rtxPayloadType: flags & 8 == 0 ? 97 : nil, clockRate: 90_000, hasNACK: flags & 16 == 0, hasPLI: true,
            hasTransportCC: flags & 32 == 0, hasREMB: flags & 32 != 0,
            transportCCExtension: flags & 32 == 0 ? 3 : nil, orientationExtension: 13, midExtension: 4,
            ridExtension: 10, repairedRidExtension: 11, rids: flags & 64 == 0 ? [] : ["h", "l"])
        return [audio, video]
    }

    /// RTCP packets that are read, written and read again must be equal.
    private static func rewrite(_ datagram: [UInt8]) -> String? {
        for packet in RTCPPacket.parse(datagram) ?? [] {
            var writer = RTCPWriter()
            switch packet {
            case .senderReport(let report, let blocks): writer.senderReport(report, blocks: blocks)
            case .receiverReport(let ssrc, let blocks): writer.receiverReport(ssrc: ssrc, blocks: blocks)
            case .goodbye(let ssrcs): writer.goodbye(ssrcs: ssrcs)
            case .pictureLoss(let sender, let media): writer.pictureLoss(sender: sender, media: media)
            case .fullIntraRequest(let sender, let media, let number):
                writer.fullIntraRequest(sender: sender, media: media, number: number)
            case .referenceTime(let ssrc, let ntp): writer.referenceTime(ssrc: ssrc, ntp: ntp)
            default: continue
            }
            if RTCPPacket.parse(writer.bytes) != [packet] {
                return "RTCP that differs when it is written and read again"
            }
        }
        return nil
    }

    /// A record of the input.
    private static func record(_ datagram: [UInt8], kind: UInt8, milliseconds: UInt8) -> [UInt8] {
        [kind, 0, milliseconds, UInt8(datagram.count >> 8), UInt8(datagram.count & 0xFF)] + datagram
    }

    private static func packet(_ type: UInt8, _ ssrc: UInt8, _ sequence: Int, _ payload: [UInt8]) -> [UInt8] {
        [
            0x90, type, UInt8(sequence >> 8 & 0xFF), UInt8(sequence & 0xFF), 0, 0, UInt8(sequence / 3 & 0xFF), 0, 0, 0,
            0, ssrc,
        ]
            + [0xBE, 0xDE, 0, 2, 0x31, UInt8(sequence >> 8 & 0xFF), UInt8(sequence & 0xFF), 0xD0, 1, 0xA0, 0x68, 0]
            + payload
    }

    private static func seeds() -> [(name: String, bytes: [UInt8])] {
        var report = RTCPWriter()
        report.senderReport(RTCPSenderReport(ssrc: 1, ntp: 0xE000_0000_8000_0000, timestamp: 0x300))
        report.sourceDescription(ssrc: 1, name: "seed")
        report.delaySinceReferenceTime(ssrc: 1, blocks: [RTCPDelayBlock(ssrc: 1, lastReference: 9, delay: 9)])
        var others = RTCPWriter()
        others.receiverReport(ssrc: 1, blocks: [RTCPReportBlock(ssrc: 2)])
        others.nack(sender: 1, media: 2, lost: [1, 2, 40])
        others.pictureLoss(sender: 1, media: 2)
        others.fullIntraRequest(sender: 1, media: 2, number: 3)
        others.remb(sender: 1, bitRate: 1_000_000, ssrcs: [1])
        others.goodbye(ssrcs: [1])
        others.append([0x8F, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 0, 10, 0, 3, 0, 0, 2, 0, 0x20, 3, 0, 4, 8, 0, 0, 0])
        return (0..<16).map { number in
            var bytes: [UInt8] = [UInt8(number * 37 & 0x7F)]
            // Numbers wrap; some are missing and come as rtx or again.
            for step in 0..<24 {
                let sequence = 65_530 + step
                if step % 7 == 3 { continue }
                bytes += Self.record(
                    Self.packet(96, 1, sequence, step % 8 == 0 ? [0x67, 1] : [0x41, 2]), kind: step == 5 ? 2 : 0,
                    milliseconds: 5)
                bytes += Self.record(Self.packet(111, 2, sequence, [0xFC, 1]), kind: 0, milliseconds: 0)
                if step % 7 == 5 {
                    let lost = sequence - 2
                    bytes += Self.record(
                        Self.packet(97, 3, 100 + step, [UInt8(lost >> 8 & 0xFF), UInt8(lost & 0xFF), 0x41, 9]), kind: 0,
                        milliseconds: UInt8(number * 10))
                }
                if step == 10 { bytes += Self.record(report.bytes, kind: 1, milliseconds: 1) }
            }
            if number % 3 == 0 { bytes += Self.record(Self.packet(96, 1, 20_000, [0x67]), kind: 0, milliseconds: 1) }
            bytes += Self.record(others.bytes, kind: 1, milliseconds: 200)
            return ("media-\(number)", bytes)
        }
    }
}
