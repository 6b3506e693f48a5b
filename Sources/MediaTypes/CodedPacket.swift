public import MediaKernels

/// The kind of media a track carries.
public enum TrackKind: String, Sendable, Hashable, CaseIterable {
    case video, audio
}

/// Who publishes: the user and which of the user's streams. Written `uid` for the main stream, `uid/sub` for the other.
public struct SourceID: Sendable, Hashable, CustomStringConvertible {
    /// `main` is the camera; `sub` is a second picture of the same user, such as the screen.
    public enum StreamType: String, Sendable, Hashable, CaseIterable { case main, sub }

    public var uid: String
    public var streamType: StreamType

    public init(uid: String, streamType: StreamType = .main) {
        self.uid = uid
        self.streamType = streamType
    }

    public var description: String { self.streamType == .main ? self.uid : "\(self.uid)/\(self.streamType.rawValue)" }
}

/// The codecs that have a name in this project. Which of them a build can decode is libavcodec's answer, not ours.
public enum CodecName: String, Sendable, Hashable {
    case h264, hevc, av1, vp9, vp8
    case aac, mp3, opus, ac3, eac3, flac
    /// What telephones, old cameras and old encoders send. The name for PCM is that of its samples.
    case g711a, g711u, pcmS16, pcmU8, adpcm, nellymoser, speex
}

/// What a decoder must know before the first packet of a track.
public struct CodecParameters: Sendable, Hashable {
    /// Bytes of the largest ``configuration`` that may come in. What encoders send has some hundred; with every parameter set
    /// that a picture of theirs refers to it stays far below.
    public static let largestConfiguration = 16 << 10

    public let codec: CodecName
    /// The codec's own configuration record: `AVCDecoderConfigurationRecord` (ISO/IEC 14496-15 §5.3.3.1) for H.264,
    /// `AudioSpecificConfig` (ISO/IEC 14496-3 §1.6.2.1) for AAC; empty where the codec has none.
    public let configuration: [UInt8]
    /// How the container wants the pictures turned; RTMP has no word for it.
    public let orientation: PictureOrientation
    /// Hertz and channels of a codec that does not say so itself; 0 of one that does.
    public let sampleRate: Int
    public let channels: Int
    /// Which track of its kind it is; 0 is the main one. Publishers number their further audio tracks as they like.
    public var track: UInt8 = 0
    /// Where the channels belong, of a codec that does not say so itself.
    public var layout: SoundLayout?
    /// What the container says of the colors; the stream's own word comes first.
    public var color: ColorSignal?

    public init(
        codec: CodecName, configuration: [UInt8], orientation: PictureOrientation = .upright, sampleRate: Int = 0,
        channels: Int = 0
    ) {
        self.codec = codec
        self.configuration = configuration
        self.orientation = orientation
        self.sampleRate = sampleRate
        self.channels = channels
    }

    public var kind: TrackKind {
        switch self.codec {
        case .h264, .hevc, .av1, .vp9, .vp8: .video
        case .aac, .mp3, .opus, .ac3, .eac3, .flac, .g711a, .g711u, .pcmS16, .pcmU8, .adpcm, .nellymoser, .speex: .audio
        }
    }
}

/// One access unit (video) or one frame (audio) in its coded form, with exact time.
///
/// Bits are values: a packet can be handed to any number of readers; its memory is shared and never written again.
public struct CodedPacket: Sendable {
    public var kind: TrackKind
    /// Holds the payload; other bytes of the memory (an FLV tag header, say) are not part of the packet.
    public var memory: PacketMemory
    /// Where the payload lies in ``memory``. H.264 payload is length-prefixed NAL units ("AVCC"), four-byte lengths.
    public var range: Range<Int>
    /// Presentation and decoding time in ticks of ``timescale``.
    public var pts: Int64
    public var dts: Int64
    /// Duration in ticks; 0 when the source does not say.
    public var duration: Int64
    /// Ticks per second: 1,000 for what comes by RTMP.
    public var timescale: Int32
    /// For H.264: an IDR picture (NAL unit type 5), or the first one of an open GOP (a recovery point), whatever the container's
    /// flag said.
    public var isKey: Bool
    /// When the last byte arrived, in nanoseconds of the process's monotonic clock; 0 where arrival has no meaning.
    public var arrival: Int64
    /// Which track of its kind it belongs to; see ``CodecParameters/track``.
    public var track: UInt8 = 0
    /// What the publisher says the time was at ``pts``; `nil` in all but a few packets of a few publishers.
    public var wallClock: WallClockTime?

    public init(
        kind: TrackKind, memory: PacketMemory, range: Range<Int>? = nil, pts: Int64, dts: Int64, duration: Int64 = 0,
        timescale: Int32, isKey: Bool, arrival: Int64 = 0
    ) {
        self.kind = kind
        self.memory = memory
        self.range = range ?? 0..<memory.count
        self.pts = pts
        self.dts = dts
        self.duration = duration
        self.timescale = timescale
        self.isKey = isKey
        self.arrival = arrival
    }

    /// Payload bytes.
    public var count: Int { self.range.count }

    /// Lends the payload. The pointer is valid only inside `body`.
    public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try self.memory.withBytes(in: self.range, body)
    }
}

/// What flows from a publisher (or a file) to whoever reads that source, in order. A change of format travels in band.
public enum SourceItem: Sendable {
    /// From here on the track is coded like this. Sent again only when it differs from the one before.
    case configuration(CodecParameters)
    case packet(CodedPacket)
    /// The publisher is gone or has unpublished; a later ``configuration(_:)`` starts a new life of the source.
    case end
}
