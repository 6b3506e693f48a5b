import MediaKernels

/// Codec numbers of FLV tags and their names.
///
/// Spec: Video File Format 10.1 Annex E.4.2.1 (SoundFormat), E.4.3.1 (CodecID).
enum FLVCodec {
    static let avc: UInt8 = 7
    static let aac: UInt8 = 10
    static let mp3: UInt8 = 2
    static let mp3At8kHz: UInt8 = 14
    /// SoundFormat 9: an Enhanced RTMP header with a FourCC follows.
    static let enhancedAudio: UInt8 = 9

    static func videoName(_ codec: UInt8) -> String {
        switch codec {
        case 2: "H.263"
        case 3: "Screen video"
        case 4, 5: "VP6"
        case 6: "Screen video 2"
        case 12: "HEVC"
        case 13: "AV1"
        default: "video \(codec)"
        }
    }

    static func audioName(_ format: UInt8) -> String {
        switch format {
        case 0, 3: "PCM"
        case 1: "ADPCM"
        case 4, 5, 6: "Nellymoser"
        case 7, 8: "G.711"
        case 11: "Speex"
        case 13: "Opus"
        default: "audio \(format)"
        }
    }

    /// The FourCC behind the first byte of an Enhanced RTMP tag, for people to read.
    static func fourCC(in payload: PacketMemory) -> String {
        let letters = payload.bytes(in: 1..<5).filter { (0x21...0x7E).contains($0) }
        return letters.isEmpty ? "unknown" : String(decoding: letters, as: UTF8.self)
    }
}
