package import MediaTypes

/// What the tables of a transport stream say a stream of sound is, by the format identifier of its registration descriptor.
///
/// libavformat keeps the codec a PID had first, and parts what comes by that. Of a stream of another codec it makes pieces at
/// random, or none at all; but the identifier that it shows is the one the tables said last. Pure.
///
/// Spec: ISO/IEC 13818-1 §2.6.8.
package enum RegisteredFormat {
    /// - Parameter tag: Four characters, the first in the lowest byte.
    /// - Returns: nil for what is no identifier of a codec of sound that we read.
    package static func codec(_ tag: UInt32) -> CodecName? {
        switch tag {
        // "Opus", "AC-3" and "EAC3".
        case 0x7375_704F: .opus
        case 0x332D_4341: .ac3
        case 0x3343_4145: .eac3
        default: nil
        }
    }

    /// What a stream that libavformat calls `codec` has turned into.
    ///
    /// - Parameters:
    ///   - codec: nil: none that we know.
    ///   - first: The identifier it had when its first unit came, or another number where it had none.
    ///   - tag: The one it has now.
    /// - Returns: nil: into nothing else, as far as identifiers tell.
    package static func change(of codec: CodecName?, from first: UInt32, to tag: UInt32) -> CodecName? {
        guard tag != first, let named = self.codec(tag), named != codec else { return nil }
        // One parser reads both, and libavformat names each frame by what it is.
        let both: Set<CodecName?> = [.ac3, .eac3]
        return both.isSuperset(of: [codec, named]) ? nil : named
    }
}
