package import MediaTypes

/// Keeps the last key frame of a publication as it arrived, coded, for stills. Pure.
///
/// It holds a reference to the packet's memory, at most ``largest`` bytes, and decodes nothing.
package struct KeyFrameTap: Sendable {
    /// A key frame with the parameters that its decoder needs.
    package struct KeyFrame: Sendable {
        package var packet: CodedPacket
        package var parameters: CodecParameters
    }

    /// Largest key frame that is kept, in bytes. A larger one is left out; the publication then has no key frame until
    /// the next one.
    package static let largest = 8 << 20

    private var parameters: CodecParameters?
    /// The last key frame of the current publication; nil before the first, after the end, and if the last one was larger
    /// than ``largest``.
    package private(set) var keyFrame: KeyFrame?
    /// When the first packet of the current publication arrived, on the monotonic clock; nil before it.
    package private(set) var began: Int64?
    /// Whether the current publication has sent the format of its video.
    package var hasVideo: Bool { self.parameters != nil }

    package init() {}

    /// Records items that arrived together, in order.
    package mutating func note(_ items: [SourceItem]) {
        for item in items {
            switch item {
            case .configuration(let parameters): if parameters.kind == .video { self.parameters = parameters }
            case .packet(let packet):
                if self.began == nil { self.began = packet.arrival }
                guard packet.kind == .video, packet.isKey else { continue }
                self.keyFrame =
                    packet.count <= Self.largest
                    ? self.parameters.map { KeyFrame(packet: packet, parameters: $0) } : nil
            case .end: self = KeyFrameTap()
            }
        }
    }
}
