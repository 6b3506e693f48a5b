public import MediaKernels

/// The kind of media a track carries.
public enum TrackKind: String, Sendable, Hashable, CaseIterable {
    case video, audio
}

/// Identifies a source by its user and the type of stream. Written `uid` for the main stream, `uid/sub` for the sub
/// stream.
public struct SourceID: Sendable, Hashable, CustomStringConvertible {
    /// `main` is the camera; `sub` is a second video of the same user, such as the screen.
    public enum StreamType: String, Sendable, Hashable, CaseIterable { case main, sub }

    public var uid: String
    public var streamType: StreamType

    public init(uid: String, streamType: StreamType = .main) {
        self.uid = uid
        self.streamType = streamType
    }

    public var description: String { self.streamType == .main ? self.uid : "\(self.uid)/\(self.streamType.rawValue)" }
}

/// The codecs that this project supports by name. Which of them can be decoded depends on the libavcodec build.
public enum CodecName: String, Sendable, Hashable {
    case h264, hevc, av1, vp9, vp8
    case aac, mp3, opus, ac3, eac3, flac
    /// Codecs of telephones, old cameras and old encoders. PCM is named after its sample format.
    case g711a, g711u, pcmS16, pcmU8, adpcm, nellymoser, speex
}

/// Parameters that a decoder needs before the first packet of a track.
public struct CodecParameters: Sendable, Hashable {
    /// Maximum size of ``configuration`` in bytes. Encoders send some hundred bytes, far below the limit even with
    /// every parameter set that their frames refer to.
    public static let largestConfiguration = 16 << 10

    public let codec: CodecName
    /// The codec's configuration; empty if there is none. H.264: an `AVCDecoderConfigurationRecord` (ISO/IEC 14496-15
    /// §5.3.3.1), or the parameter sets in Annex B format, from this program's encoders. AAC: an `AudioSpecificConfig`
    /// (ISO/IEC 14496-3 §1.6.2.1).
    public let configuration: [UInt8]
    /// Orientation of the video according to the container; RTMP cannot express it.
    public let orientation: VideoOrientation
    /// Sample rate in hertz, for a codec whose stream does not contain it; otherwise 0.
    public let sampleRate: Int
    /// Number of channels, for a codec whose stream does not contain it; otherwise 0.
    public let channels: Int
    /// Track number within its kind; 0 is the main track. Publishers number further audio tracks as they like.
    public var track: UInt8 = 0
    /// Channel layout, for a codec whose stream does not contain it.
    public var layout: ChannelLayout?
    /// Colors according to the container; values in the stream itself take precedence.
    public var color: ColorSignal?

    public init(
        codec: CodecName, configuration: [UInt8], orientation: VideoOrientation = .upright, sampleRate: Int = 0,
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

/// One access unit (video) or one frame (audio) in coded form, with exact timestamps.
///
/// A value type: a packet can be passed to any number of readers; its memory is shared and never written again.
public struct CodedPacket: Sendable {
    public var kind: TrackKind
    /// Contains the payload; other bytes of the memory (for example an FLV tag header) are not part of the packet.
    public var memory: PacketMemory
    /// Range of the payload in ``memory``. H.264 is NAL units with four-byte lengths ("AVCC"); damaged packets of files
    /// are as in the file.
    public var range: Range<Int>
    /// Presentation and decoding time in ticks of ``timescale``.
    public var pts: Int64
    public var dts: Int64
    /// Duration in ticks; 0 if the source does not contain it.
    public var duration: Int64
    /// Ticks per second: 1,000 for RTMP.
    public var timescale: Int32
    /// Whether decoding can begin with the packet. H.264 from a publisher: whether it is an IDR frame (NAL unit type 5)
    /// or the first frame of an open GOP (a recovery point), whatever the container's flag says. From a file: the
    /// container's flag.
    public var isKey: Bool
    /// Arrival time of the last byte, in nanoseconds of the process's monotonic clock; 0 if arrival has no meaning.
    public var arrival: Int64
    /// Track number within its kind; see ``CodecParameters/track``.
    public var track: UInt8 = 0
    /// The publisher's wall-clock time at ``pts``; set only in a few packets of a few publishers.
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

    /// Size of the payload in bytes.
    public var count: Int { self.range.count }

    /// Gives access to the payload. The pointer is valid only inside `body`.
    public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try self.memory.withBytes(in: self.range, body)
    }
}

/// One item of the sequence that a publisher or a file sends: a packet, the format of the packets after it, or the end.
public enum SourceItem: Sendable {
    /// Codec parameters of the following packets of a track. A publisher's are repeated only if they change; a looping
    /// file repeats them at each start.
    case configuration(CodecParameters)
    case packet(CodedPacket)
    /// The publisher has disconnected or unpublished, or the file has ended; a later ``configuration(_:)`` begins a new
    /// publication.
    case end
}
