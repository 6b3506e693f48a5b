package import MediaTypes

/// The four letters that name a codec in Enhanced RTMP.
///
/// Spec: Enhanced RTMP v2, "Enhanced Video" and "Enhanced Audio".
package struct FourCC: Sendable, Hashable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    private static let codecs: [(letters: String, codec: CodecName)] = [
        ("avc1", .h264), ("hvc1", .hevc), ("av01", .av1), ("vp09", .vp9), ("vp08", .vp8), ("mp4a", .aac),
        ("Opus", .opus), (".mp3", .mp3), ("ac-3", .ac3), ("ec-3", .eac3), ("fLaC", .flac),
    ]

    private static let table = Dictionary(
        codecs.map { (FourCC($0.letters).rawValue, $0.codec) }, uniquingKeysWith: { first, _ in first })

    /// Creates a FourCC from its letters.
    ///
    /// - Parameter letters: Four ASCII letters; further ones are ignored.
    package init(_ letters: String) {
        self.rawValue = letters.utf8.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Creates the FourCC of a codec; `nil` for a codec without a FourCC in Enhanced RTMP.
    package init?(_ codec: CodecName) {
        guard let entry = FourCC.codecs.first(where: { $0.codec == codec }) else { return nil }
        self.init(entry.letters)
    }

    /// The codec with this FourCC; nil if the worker does not know it.
    package var codec: CodecName? { FourCC.table[self.rawValue] }

    package var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self.rawValue >> UInt32($0)) } }

    /// The letters as printable text. They come from the peer, so other bytes are removed.
    package var description: String {
        let letters = self.bytes.filter { (0x21...0x7E).contains($0) }
        return letters.isEmpty ? "unknown" : String(decoding: letters, as: UTF8.self)
    }
}
