package import MediaTypes
import Program

/// Decides whether media of a publisher can start the program because it can be heard or seen. Pure.
///
/// Audio and key frames can start it. An H.264 stream with gradual decoder refresh has no key frame after its first.
/// Its decoder starts with any frame after it has waited long enough for a key frame, but decoding begins only when the
/// program runs.
package struct StartingMedia: Sendable {
    /// Number of frames without a key frame after which the decoder starts with any frame.
    package static let keyPatience = DecodeStage.keyPatience

    private var codec: CodecName?
    /// Number of frames other than key frames since the configuration, counted up to ``keyPatience`` + 1.
    private var passed = 0

    package init() {}

    /// Records packets that arrived together, in order.
    ///
    /// - Returns: When the first packet arrived that can start the program, in nanoseconds of the monotonic clock; nil
    ///   if none can.
    package mutating func note(_ items: [SourceItem]) -> Int64? {
        var first: Int64?
        for item in items {
            switch item {
            case .configuration(let parameters):
                // The decoder restarts its count at this point too.
                if parameters.kind == .video { (self.codec, self.passed) = (parameters.codec, 0) }
            case .packet(let packet):
                if self.starts(packet), first == nil { first = packet.arrival }
            case .end: self = StartingMedia()
            }
        }
        return first
    }

    private mutating func starts(_ packet: CodedPacket) -> Bool {
        guard packet.kind == .video, !packet.isKey else { return true }
        // Decoders of other codecs output nothing before a key frame.
        guard self.codec == .h264 else { return false }
        if self.passed <= Self.keyPatience { self.passed += 1 }
        return self.passed > Self.keyPatience
    }
}
