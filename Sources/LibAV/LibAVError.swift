import CLibAV
package import MediaTypes

extension MediaError {
    /// Creates the error of a libav call that returned `status`; libav's own text for the status is appended to `what`.
    static func libav(_ code: Code, _ what: String, _ status: Int32, at place: String, fix: String) -> MediaError {
        MediaError(code, "\(what): \(LibAV.text(of: status))", at: place, fix: fix, avError: status)
    }
}

/// Information about the loaded libraries, and process-wide settings.
package enum LibAV {
    /// FFmpeg's version, for example `5.1.9-0+deb12u1`.
    package static var version: String {
        guard let text = unsafe clibav_version() else { return "unknown" }
        return unsafe String(cString: text)
    }

    /// Turns libav's own error messages on standard error on or off. Our logging is structured and rate-limited, so
    /// libav's stays off unless it is requested.
    package static func setNativeLogging(_ enabled: Bool) {
        av_log_set_level(enabled ? Int32(CLIBAV_LOG_ERROR) : Int32(CLIBAV_LOG_QUIET))
    }

    /// Limits the C library to two heaps for all threads, and makes it return the memory of freed frames to the system.
    /// Call it once, before the first thread. Only with glibc.
    package static func limitHeaps() { clibav_limit_heaps(2) }

    /// Returns freed memory between used blocks to the system. Takes a millisecond or two in which other threads may
    /// wait for memory, so call it rarely.
    package static func trimHeaps() { clibav_trim_heaps() }

    /// Prevents core dumps, because the process's memory contains stream keys and tokens. Child processes inherit the
    /// setting.
    ///
    /// - Returns: Whether it succeeded.
    @discardableResult
    package static func disableCoreDumps() -> Bool { clibav_disable_core_dumps() == 0 }

    /// Raises the limit of open files to the process's hard limit, at most 65,536. Call it once, before the first
    /// listener.
    ///
    /// - Returns: The new limit; −1 if it cannot be determined.
    @discardableResult
    package static func raiseOpenFiles() -> Int { clibav_raise_open_files(65_536) }

    /// Releases memory that only the start of the program needed, such as symbols and relocations of libraries. Pages
    /// that are needed again are read back automatically. Freed heap memory is returned too.
    package static func releaseStartPages() {
        clibav_trim_heaps()
        clibav_let_go_of_files()
    }

    /// Returns libav's text for an `AVERROR` code.
    static func text(of status: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress, unsafe av_strerror(status, base, 128) >= 0 else {
                return "error \(status)"
            }
            return unsafe String(cString: base)
        }
    }

    /// Whether the machine's clock is synchronized, for example by NTP; nil if the kernel does not say.
    package static var isClockSynchronized: Bool? {
        let answer = clibav_is_clock_synchronized()
        return answer < 0 ? nil : answer == 1
    }

    /// Whether a filter of this name is available.
    package static func hasFilter(_ name: String) -> Bool { unsafe avfilter_get_by_name(name) != nil }

    /// Whether an encoder of this name is available.
    package static func hasEncoder(_ name: String) -> Bool { unsafe avcodec_find_encoder_by_name(name) != nil }

    /// Whether a decoder for the codec is available that needs no special hardware.
    package static func hasDecoder(_ codec: CodecName) -> Bool {
        guard let decoder = unsafe avcodec_find_decoder(codec.avCodecID) else { return false }
        // FFmpeg's own AV1 decoder only passes the data to hardware.
        return unsafe codec != .av1 || String(cString: decoder.pointee.name) != "av1"
    }

    /// Whether addresses with this scheme, such as `srt`, can be read.
    package static func hasProtocol(_ scheme: String) -> Bool {
        guard let name = unsafe avio_find_protocol_name("\(scheme)://host") else { return false }
        return unsafe String(cString: name) == scheme
    }
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

    /// Creates the codec name of a libavcodec codec id.
    ///
    /// - Returns: `nil` for a codec that is not read from files and transport streams.
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
