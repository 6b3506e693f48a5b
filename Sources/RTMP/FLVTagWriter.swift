import MediaKernels
package import MediaTypes

/// Writes FLV tag bodies, as RTMP audio and video messages carry them.
///
/// Spec: Video File Format 10.1 Annex E.4.2, E.4.3 for H.264, AAC and MP3; Enhanced RTMP v2 for the other codecs and
/// for audio tracks other than the main one, in ``FLVTagWriter/enhanced(_:codec:)``.
package enum FLVTagWriter {
    /// Returns the sequence header of a track; nil for MP3, AC-3 and E-AC-3, which have none, and for codecs that are not
    /// in ``codecs``.
    package static func configuration(_ parameters: CodecParameters) -> RTMPMediaMessage? {
        if parameters.track != 0 { return self.enhanced(parameters) }
        return switch parameters.codec {
        case .h264: self.message(.video, 0, [0x17, 0, 0, 0, 0] + parameters.configuration)
        case .aac: self.message(.audio, 0, [0xAF, 0] + parameters.configuration)
        default: self.enhanced(parameters)
        }
    }

    /// Returns the message of one packet.
    ///
    /// - Parameter codec: The packet's codec.
    /// - Returns: nil for a codec that is not in ``codecs``.
    package static func packet(_ packet: CodedPacket, codec: CodecName) -> RTMPMediaMessage? {
        if packet.track != 0 { return self.enhanced(packet, codec: codec) }
        let dts = TimeMath.rescale(packet.dts, from: Int64(max(1, packet.timescale)), to: 1000)
        let pts = TimeMath.rescale(packet.pts, from: Int64(max(1, packet.timescale)), to: 1000)
        let time = UInt32(truncatingIfNeeded: dts)
        var head: [UInt8]
        switch codec {
        case .h264:
            let offset = Int32(clamping: pts - dts)
            head = [packet.isKey ? 0x17 : 0x27, 1]
            for shift in [Int32(16), 8, 0] { head.append(UInt8(truncatingIfNeeded: offset >> shift)) }
        case .aac: head = [0xAF, 1]
        case .mp3: head = [0x2F]
        default: return self.enhanced(packet, codec: codec)
        }
        return self.message(of: packet, time, head)
    }

    /// Returns the message of a packet: the tag header followed by the payload, which is copied once.
    static func message(of packet: CodedPacket, _ time: UInt32, _ head: [UInt8]) -> RTMPMediaMessage {
        RTMPMediaMessage(
            kind: packet.kind == .video ? .video : .audio, timestamp: time,
            payload: .joining(head, packet.memory, in: packet.range))
    }

    static func message(_ kind: RTMPMediaMessage.Kind, _ time: UInt32, _ body: [UInt8]) -> RTMPMediaMessage {
        RTMPMediaMessage(kind: kind, timestamp: time, payload: PacketMemory(body))
    }
}
