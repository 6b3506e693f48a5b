import MediaKernels
import MediaTypes
import RTMP

/// Audio and video messages, legacy and Enhanced RTMP, to configurations and packets.
///
/// Input: flags (1 byte; 1: accept every codec), then records of kind (1 byte; odd: audio), milliseconds since the last
/// (2 bytes, signed; times 65,521 if the kind has 0x40), length (2 bytes) and payload.
enum TagCase {
    static let entry = FuzzCase(
        "tags", longest: 3000, mutate: TagRecords.mutate, seeds: TagRecords.seeds, run: Self.run)

    static func run(_ bytes: [UInt8]) -> String? {
        let (flags, messages) = TagRecords.read(bytes)
        var demuxer = FLVDemuxer(codecs: flags & 1 == 1 ? FLVTagWriter.codecs : FLVDemuxer.usualCodecs)
        var codecs: [TrackKey: CodecName] = [:]
        for message in messages {
            var items: [SourceItem] = []
            demuxer.receive(message, arrival: 0, into: &items)
            if items.count > 40 { return "\(items.count) items of one message" }
            if let broken = Self.check(items) { return broken }
            if let broken = Self.rewrite(items, &codecs) { return broken }
        }
        return nil
    }

    struct TrackKey: Hashable {
        var kind: TrackKind
        var track: UInt8
    }

    /// Checks that apply to every packet.
    static func check(_ items: [SourceItem]) -> String? {
        for item in items {
            switch item {
            case .configuration(let parameters):
                if let broken = Self.check(parameters) { return broken }
            case .packet(let packet):
                guard packet.range.lowerBound >= 0, packet.range.upperBound <= packet.memory.count else {
                    return "a packet outside of its memory"
                }
                if packet.range.isEmpty { return "an empty packet would drain a decoder" }
                if packet.timescale <= 0 { return "no timescale" }
                if (packet.pts &- packet.dts).magnitude > 1_000_000_000_000 {
                    return "a presentation time far from the decode time"
                }
            case .end: return "a message that ends the source"
            }
        }
        return nil
    }

    private static func check(_ parameters: CodecParameters) -> String? {
        switch parameters.codec {
        case .h264:
            guard let record = AVCRecord(record: parameters.configuration) else { return "an avcC that cannot be read" }
            if record.record != parameters.configuration { return "an avcC that differs when it is written again" }
            _ = SequenceParameterSet(record: parameters.configuration)
        case .hevc:
            guard let record = HEVCConfiguration(record: parameters.configuration) else {
                return "an hvcC that cannot be read"
            }
            if record.record != parameters.configuration { return "an hvcC that differs when it is written again" }
            _ = HEVCSequenceParameterSet(record: parameters.configuration)
        case .av1: _ = AV1SequenceHeader(record: parameters.configuration)
        default: break
        }
        return nil
    }

    /// Items that were read are written and read again: the same packets, the same configurations.
    private static func rewrite(_ items: [SourceItem], _ codecs: inout [TrackKey: CodecName]) -> String? {
        for item in items {
            switch item {
            case .configuration(let parameters):
                codecs[TrackKey(kind: parameters.kind, track: parameters.track)] = parameters.codec
            case .packet(let packet):
                guard let codec = codecs[TrackKey(kind: packet.kind, track: packet.track)] else {
                    return "a packet before its configuration"
                }
                guard packet.timescale == 1000, packet.track == 0 else { continue }
                guard let message = FLVTagWriter.packet(packet, codec: codec) else { continue }
                if let broken = Self.compare(packet, codec, message) { return broken }
            case .end: break
            }
        }
        return nil
    }

    private static func compare(_ packet: CodedPacket, _ codec: CodecName, _ message: RTMPMediaMessage) -> String? {
        var demuxer = FLVDemuxer(codecs: FLVTagWriter.codecs)
        var items: [SourceItem] = []
        // H.264 and HEVC need a configuration first; any is sufficient, since lengths have four bytes inside.
        if let head = TagRecords.head(of: codec) { demuxer.receive(head, arrival: 0, into: &items) }
        items = []
        demuxer.receive(message, arrival: 0, into: &items)
        for case .packet(let again) in items {
            let isSame =
                again.memory.bytes(in: again.range) == packet.memory.bytes(in: packet.range)
                && again.pts - again.dts == packet.pts - packet.dts && again.isKey == packet.isKey
            return isSame ? nil : "\(codec): a packet that differs when it is written and read again"
        }
        return "\(codec): a packet that gives none when it is written and read again"
    }
}
