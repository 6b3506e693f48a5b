package import MediaTypes
import Program

/// Decides whether the media of a publisher can start the program, because it can be heard or seen. Pure.
///
/// Audio and key frames can. An H.264 stream with gradual refresh has no key frame after its first: its decoder begins
/// with any frame after it has waited long enough for a key frame, but it does not wait before the program runs.
package struct StartingMedia: Sendable {
    /// Frames without a key frame after which the decoder begins with any frame.
    package static let keyPatience = DecodeStage.keyPatience

    private var codec: CodecName?
    /// Frames since the configuration, as long as none was a key frame.
    private var passed = 0

    package init() {}

    /// Records items that arrived together, in order.
    ///
    /// - Returns: When the first item arrived that can start the program, in nanoseconds of the machine's clock; nil if
    ///   none can.
    package mutating func note(_ items: [SourceItem]) -> Int64? {
        var first: Int64?
        for item in items {
            switch item {
            case .configuration(let parameters):
                // The decoder restarts its count as well.
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
        // Decoders of other codecs show nothing before a key frame, however long they wait.
        guard self.codec == .h264 else { return false }
        if self.passed <= Self.keyPatience { self.passed += 1 }
        return self.passed > Self.keyPatience
    }
}
