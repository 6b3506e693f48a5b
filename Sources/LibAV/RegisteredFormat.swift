package import MediaTypes

/// The audio codec that the tables of a transport stream announce, by the format identifier of the registration
/// descriptor.
///
/// libavformat keeps the first codec of a PID and splits the data accordingly. If the stream changes to another codec,
/// libavformat produces random pieces of data or none, but it reports the latest identifier in the tables.
///
/// Spec: ISO/IEC 13818-1 §2.6.8.
package enum RegisteredFormat {
    /// Returns the audio codec of a format identifier.
    ///
    /// - Parameter tag: Format identifier: four characters, the first in the lowest byte.
    /// - Returns: `nil` if `tag` is not the identifier of a supported audio codec.
    package static func codec(_ tag: UInt32) -> CodecName? {
        switch tag {
        // "Opus", "AC-3" and "EAC3".
        case 0x7375_704F: .opus
        case 0x332D_4341: .ac3
        case 0x3343_4145: .eac3
        default: nil
        }
    }

    /// Returns the codec to which a stream has changed that libavformat still considers `codec`.
    ///
    /// - Parameters:
    ///   - codec: Codec according to libavformat; `nil` if the codec is not supported.
    ///   - first: Format identifier when the stream's first unit arrived, or any other number if it had none.
    ///   - tag: Current format identifier.
    /// - Returns: `nil` if the codec has not changed according to the identifiers.
    package static func change(of codec: CodecName?, from first: UInt32, to tag: UInt32) -> CodecName? {
        guard tag != first, let named = self.codec(tag), named != codec else { return nil }
        // One parser reads both, and libavformat reports the codec of each frame.
        let both: Set<CodecName?> = [.ac3, .eac3]
        return both.isSuperset(of: [codec, named]) ? nil : named
    }
}
