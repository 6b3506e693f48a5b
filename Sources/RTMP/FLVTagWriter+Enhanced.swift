package import MediaTypes

/// Tag bodies of Enhanced RTMP.
///
/// Spec: Enhanced RTMP v2, `ExVideoTagHeader`, `ExAudioTagHeader`.
extension FLVTagWriter {
    /// Every codec that the writer can send.
    package static let codecs: Set<CodecName> = [
        .h264, .hevc, .av1, .vp9, .vp8, .aac, .mp3, .opus, .ac3, .eac3, .flac,
    ]

    /// Returns the sequence start of a track; `nil` for MP3, AC-3 and E-AC-3, which have none, and for a codec without a
    /// FourCC.
    package static func enhanced(_ parameters: CodecParameters) -> RTMPMediaMessage? {
        guard let letters = FourCC(parameters.codec) else { return nil }
        if [.mp3, .ac3, .eac3].contains(parameters.codec) { return nil }
        let isVideo = parameters.kind == .video
        let head = self.head(isVideo: isVideo, isKey: true, type: 0, letters, parameters.track)
        return self.message(isVideo ? .video : .audio, 0, head + parameters.configuration)
    }

    /// Returns the message of one packet; `nil` for a codec without a FourCC.
    package static func enhanced(_ packet: CodedPacket, codec: CodecName) -> RTMPMediaMessage? {
        guard let letters = FourCC(codec) else { return nil }
        let dts = TimeMath.rescale(packet.dts, from: Int64(max(1, packet.timescale)), to: 1000)
        let pts = TimeMath.rescale(packet.pts, from: Int64(max(1, packet.timescale)), to: 1000)
        let isVideo = packet.kind == .video
        let hasOffset = codec == .h264 || codec == .hevc
        // Coded frames, and coded frames without an offset.
        let type: UInt8 = hasOffset && pts == dts ? 3 : 1
        var head = self.head(isVideo: isVideo, isKey: packet.isKey, type: type, letters, packet.track)
        if hasOffset, type == 1 {
            let offset = Int32(clamping: pts - dts)
            for shift in [Int32(16), 8, 0] { head.append(UInt8(truncatingIfNeeded: offset >> shift)) }
        }
        return self.message(of: packet, UInt32(truncatingIfNeeded: dts), head)
    }

    /// Returns `videocodecid` and `audiocodecid` for `onMetaData`: the legacy number if there is one, or the FourCC as
    /// a number.
    package static func codecProperties(video: CodecName?, audio: CodecName?) -> [AMF0Property] {
        func number(_ codec: CodecName) -> AMF0Value? {
            switch codec {
            case .h264: .number(Double(FLVCodec.avc))
            case .aac: .number(Double(FLVCodec.aac))
            case .mp3: .number(Double(FLVCodec.mp3))
            default: FourCC(codec).map { .number(Double($0.rawValue)) }
            }
        }
        return [("videocodecid", video), ("audiocodecid", audio)].compactMap { name, codec in
            codec.flatMap(number).map { AMF0Property(name, $0) }
        }
    }

    /// Returns the header of a message, up to the FourCC or the track number.
    ///
    /// - Parameter type: The packet type.
    private static func head(isVideo: Bool, isKey: Bool, type: UInt8, _ letters: FourCC, _ track: UInt8) -> [UInt8] {
        let first: UInt8 = isVideo ? 0x80 | (isKey ? 0x10 : 0x20) : 0x90
        // Multitrack with one track.
        if track != 0 { return [first | (isVideo ? 6 : 5), type] + letters.bytes + [track] }
        return [first | type] + letters.bytes
    }
}
