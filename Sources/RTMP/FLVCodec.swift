import MediaKernels
import MediaTypes

/// Codec numbers of FLV tags and their names.
///
/// Spec: Video File Format 10.1 Annex E.4.2.1 (SoundFormat), E.4.3.1 (CodecID).
enum FLVCodec {
    static let avc: UInt8 = 7
    /// Codec number of H.265 in legacy video messages, which no specification defines but which is in use.
    static let hevc: UInt8 = 12
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
        case 7: "H.264"
        case 12: "HEVC"
        case 13: "AV1"
        default: "video \(codec)"
        }
    }

    static func audioName(_ format: UInt8) -> String {
        switch format {
        case 0, 3: "PCM"
        case 1: "ADPCM"
        case 2, 14: "MP3"
        case 4, 5, 6: "Nellymoser"
        case 7, 8: "G.711"
        case 10: "AAC"
        case 11: "Speex"
        case 13: "Opus"
        default: "audio \(format)"
        }
    }

    /// The parameters of a legacy audio codec without a sequence header; the bits of the first byte describe it. `nil`
    /// for AAC, MP3 and Enhanced RTMP, which are handled elsewhere, and for undefined formats.
    ///
    /// Spec: Video File Format 10.1 Annex E.4.2.1 (SoundFormat, SoundRate, SoundSize, SoundType). For formats whose
    /// bits are known to be meaningless, the rate and channels of the format apply.
    static func plainAudio(_ first: UInt8) -> CodecParameters? {
        let rate = [5_512, 11_025, 22_050, 44_100][Int(first >> 2 & 3)]
        let channels = Int(first & 1) + 1
        func made(_ codec: CodecName, _ rate: Int, _ channels: Int) -> CodecParameters {
            CodecParameters(codec: codec, configuration: [], sampleRate: rate, channels: channels)
        }
        switch first >> 4 {
        // 0 means the encoder's byte order; no current platform is big-endian.
        case 0, 3: return made(first & 2 == 0 ? .pcmU8 : .pcmS16, rate, channels)
        case 1: return made(.adpcm, rate, channels)
        case 4: return made(.nellymoser, 16_000, 1)
        case 5: return made(.nellymoser, 8_000, 1)
        case 6: return made(.nellymoser, rate, channels)
        case 7: return made(.g711a, 8_000, channels)
        case 8: return made(.g711u, 8_000, channels)
        case 11: return made(.speex, 16_000, 1)
        default: return nil
        }
    }

    /// The FourCC after the first byte of an Enhanced RTMP tag, as printable text; "unknown" if no byte is printable.
    static func fourCC(in payload: PacketMemory) -> String {
        let letters = payload.bytes(in: 1..<5).filter { (0x21...0x7E).contains($0) }
        return letters.isEmpty ? "unknown" : String(decoding: letters, as: UTF8.self)
    }
}
