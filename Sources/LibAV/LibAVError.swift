import CLibAV
import MediaTypes

extension MediaError {
    /// A libav call that failed with `status`; its own text for the number becomes part of what went wrong.
    static func libav(_ code: Code, _ what: String, _ status: Int32, at place: String, fix: String) -> MediaError {
        MediaError(code, "\(what): \(LibAV.text(of: status))", at: place, fix: fix, avError: status)
    }
}

/// Facts about the libraries that are loaded.
package enum LibAV {
    /// FFmpeg's own version, such as `5.1.9-0+deb12u1`.
    package static var version: String {
        guard let text = unsafe clibav_version() else { return "unknown" }
        return unsafe String(cString: text)
    }

    /// What libav writes on standard error by itself. Ours is structured and rate-limited, so theirs stays silent
    /// unless somebody asks for it.
    package static func setNativeLogging(_ enabled: Bool) {
        av_log_set_level(enabled ? Int32(CLIBAV_LOG_ERROR) : Int32(CLIBAV_LOG_QUIET))
    }

    /// Keeps the C library from giving every thread a heap of its own, and gives freed pictures back to the system; once,
    /// before the first thread. Saves a room 20 to 30 MB.
    package static func limitHeaps() { clibav_limit_heaps(2) }

    /// Gives freed memory back to the system that lies between what is in use. Takes a millisecond or two, in which other threads may
    /// wait for memory: not often.
    package static func trimHeaps() { clibav_trim_heaps() }

    /// Keeps the system from writing the process's memory, which holds stream keys and tokens, to a core file when it dies. Child
    /// processes inherit it.
    ///
    /// - Returns: Whether the system agrees.
    @discardableResult
    package static func disableCoreDumps() -> Bool { clibav_disable_core_dumps() == 0 }

    /// Lets the process have as many open files as its hard limit allows, at most 65,536: the usual 1,024 would be 640 viewers.
    /// Once, before the first listener.
    ///
    /// - Returns: How many it may have now; −1 where the system does not say.
    @discardableResult
    package static func raiseOpenFiles() -> Int { clibav_raise_open_files(65_536) }

    /// The pages of the program's files that only its start needed no longer count as its memory: symbols, relocations and
    /// the initialization of 170 libraries are a third of what a room has mapped. What is needed again comes back by itself.
    /// What starting has taken from the heaps and given back goes, too: documents, and decoders that have looked into files.
    package static func releaseStartPages() {
        clibav_trim_heaps()
        clibav_let_go_of_files()
    }

    /// The libraries' words for an `AVERROR`.
    static func text(of status: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress, unsafe av_strerror(status, base, 128) >= 0 else {
                return "error \(status)"
            }
            return unsafe String(cString: base)
        }
    }

    /// Whether a filter of this name is built in.
    package static func hasFilter(_ name: String) -> Bool { unsafe avfilter_get_by_name(name) != nil }
}

extension CodecName {
    var avCodecID: AVCodecID {
        switch self {
        case .h264: AV_CODEC_ID_H264
        case .hevc: AV_CODEC_ID_HEVC
        case .av1: AV_CODEC_ID_AV1
        case .vp9: AV_CODEC_ID_VP9
        case .vp8: AV_CODEC_ID_VP8
        case .aac: AV_CODEC_ID_AAC
        case .mp3: AV_CODEC_ID_MP3
        case .opus: AV_CODEC_ID_OPUS
        case .ac3: AV_CODEC_ID_AC3
        case .eac3: AV_CODEC_ID_EAC3
        case .flac: AV_CODEC_ID_FLAC
        case .g711a: AV_CODEC_ID_PCM_ALAW
        case .g711u: AV_CODEC_ID_PCM_MULAW
        case .pcmS16: AV_CODEC_ID_PCM_S16LE
        case .pcmU8: AV_CODEC_ID_PCM_U8
        case .adpcm: AV_CODEC_ID_ADPCM_SWF
        case .nellymoser: AV_CODEC_ID_NELLYMOSER
        case .speex: AV_CODEC_ID_SPEEX
        }
    }

    /// - Returns: `nil` for a codec this project has no name for.
    init?(_ id: AVCodecID) {
        switch id {
        case AV_CODEC_ID_H264: self = .h264
        case AV_CODEC_ID_HEVC: self = .hevc
        case AV_CODEC_ID_AV1: self = .av1
        case AV_CODEC_ID_VP9: self = .vp9
        case AV_CODEC_ID_VP8: self = .vp8
        case AV_CODEC_ID_AAC: self = .aac
        case AV_CODEC_ID_MP3: self = .mp3
        case AV_CODEC_ID_OPUS: self = .opus
        case AV_CODEC_ID_AC3: self = .ac3
        case AV_CODEC_ID_EAC3: self = .eac3
        case AV_CODEC_ID_FLAC: self = .flac
        default: return nil
        }
    }
}
