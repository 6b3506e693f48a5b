package import MediaTypes

/// The audio codec that the tables of a transport stream announce, by the format identifier of the registration
/// descriptor.
///
/// libavformat keeps the first codec of a PID and splits the data accordingly. If the stream changes to another codec,
/// libavformat produces random pieces or none; but the identifier it reports is the latest one in the tables. Pure.
///
/// Spec: ISO/IEC 13818-1 §2.6.8.
package enum RegisteredFormat {
    /// - Parameter tag: Four characters, the first in the lowest byte.
    /// - Returns: `nil` if it is not the identifier of a supported audio codec.
    package static func codec(_ tag: UInt32) -> CodecName? {
        switch tag {
        // "Opus", "AC-3" and "EAC3".
        case 0x7375_704F: .opus
        case 0x332D_4341: .ac3
        case 0x3343_4145: .eac3
        default: nil
        }
    }

    /// The codec to which a stream that libavformat considers `codec` has changed.
    ///
    /// - Parameters:
    ///   - codec: `nil` if it is not supported.
    ///   - first: The identifier when the stream's first unit arrived, or another number if it had none.
    ///   - tag: The current identifier.
    /// - Returns: `nil` if it has not changed according to its identifiers.
    package static func change(of codec: CodecName?, from first: UInt32, to tag: UInt32) -> CodecName? {
        guard tag != first, let named = self.codec(tag), named != codec else { return nil }
        // One parser reads both, and libavformat reports the codec of each frame.
        let both: Set<CodecName?> = [.ac3, .eac3]
        return both.isSuperset(of: [codec, named]) ? nil : named
    }
}
