package import MediaTypes
import Program

/// Whether what a publisher sends can start the program: something of it will be heard or seen. Pure.
///
/// Sound can, and a key picture. An H.264 stream that is refreshed bit by bit has no key picture behind its first: its decoder begins
/// with any picture once it has looked out for a key picture for long enough, but it does not look before the program runs.
package struct StartingMedia: Sendable {
    /// Pictures without a key picture after which the decoder begins with any.
    package static let keyPatience = DecodeStage.keyPatience

    private var codec: CodecName?
    /// Pictures since the configuration, while none was a key picture.
    private var passed = 0

    package init() {}

    /// Takes what came together, in order.
    ///
    /// - Returns: When the first item came that can start the program, in nanoseconds of the machine's clock; nil: none of them can.
    package mutating func note(_ items: [SourceItem]) -> Int64? {
        var first: Int64?
        for item in items {
            switch item {
            case .configuration(let parameters):
                // Its decoder begins to count anew as well.
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
        // The decoders of others show nothing before a key picture, however long they wait.
        guard self.codec == .h264 else { return false }
        if self.passed <= Self.keyPatience { self.passed += 1 }
        return self.passed > Self.keyPatience
    }
}
