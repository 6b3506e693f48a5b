package import MediaKernels

/// Size of a coded frame in luma samples, before any rotation.
package struct FrameSize: Sendable, Hashable {
    package let width: Int
    package let height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// One complete frame that a depacketizer has put together.
package struct CodedFrame: Sendable {
    /// The frame as a decoder expects it: H.264 as NAL units with four-byte lengths, VP8 and VP9 unchanged. Never
    /// empty.
    package let memory: PacketMemory
    /// RTP time of the frame's packets.
    package let timestamp: UInt32
    /// The time that the caller passed in with the frame's first packet; see ``VideoDepacketizer/receive(_:time:into:)``.
    package let time: Int64
    /// The latest arrival of the frame's packets, in nanoseconds.
    package let arrival: Int64
    /// Whether decoding can begin with the frame.
    package let isKey: Bool
    /// The last `video-orientation` byte in its packets; nil if there was none, then the orientation has not changed.
    package let orientation: UInt8?
    /// Frame size; nil for frames other than key frames, and for an H.264 key frame whose SPS cannot be parsed.
    package let size: FrameSize?
    /// H.264 key frames: the `AVCDecoderConfigurationRecord` (ISO/IEC 14496-15 §5.3.3.1) with the parameter sets that are
    /// valid at this frame. Otherwise nil.
    package let configuration: [UInt8]?

    package init(
        memory: PacketMemory, timestamp: UInt32, time: Int64, arrival: Int64, isKey: Bool, orientation: UInt8? = nil,
        size: FrameSize? = nil, configuration: [UInt8]? = nil
    ) {
        self.memory = memory
        self.timestamp = timestamp
        self.time = time
        self.arrival = arrival
        self.isKey = isKey
        self.orientation = orientation
        self.size = size
        self.configuration = configuration
    }
}

/// Why a frame is not given out. Later frames may refer to it, so decoding can only continue at a key frame.
package enum FrameDamage: Sendable, Hashable {
    /// Packets are missing.
    case lost
    /// A payload contradicts its specification.
    case malformed
    /// The frame exceeds a limit.
    case tooLarge
    /// An H.264 key frame whose parameter sets are missing, or may have changed in lost packets. Decoders cannot begin with
    /// it.
    case noParameterSets
}

/// What a depacketizer gives out, in the order of decoding.
package enum FrameResult: Sendable {
    case whole(CodedFrame)
    /// One or more frames are missing at this point of the stream.
    case damaged(FrameDamage)
}

/// Puts frames together from the ordered packets of one video track.
package protocol VideoDepacketizer: Sendable {
    init()

    /// Takes the next packet.
    ///
    /// - Parameters:
    ///   - time: Passed through to the frame (``CodedFrame/time``).
    ///   - results: Frames that are complete now, and damage, are appended. An incomplete frame is never appended.
    mutating func receive(_ packet: OrderedPacket, time: Int64, into results: inout [FrameResult])

    /// Whether the packets since the last complete frame begin a key frame, as far as they show.
    var isReceivingKeyFrame: Bool { get }
}
