/// Builds an ID3v2.4 tag with one text frame.
///
/// Spec: id3.org ID3v2.4.0 §3.1 (header), §4 (frames), §4.2.6 (`TXXX`).
package enum ID3Tag {
    /// Returns a tag with a `TXXX` frame that contains a description and a value, both in UTF-8 and cut at the first
    /// NUL.
    package static func text(_ description: String, _ value: String) -> [UInt8] {
        // 3: UTF-8.
        var body: [UInt8] = [3]
        body += description.utf8.prefix { $0 != 0 }
        body.append(0)
        body += value.utf8.prefix { $0 != 0 }
        var frame = Array("TXXX".utf8)
        frame += Self.synchsafe(body.count)
        frame += [0, 0]
        frame += body
        return Array("ID3".utf8) + [4, 0, 0] + Self.synchsafe(frame.count) + frame
    }

    /// Encodes a size as four bytes of seven bits each. Spec: §6.2.
    private static func synchsafe(_ count: Int) -> [UInt8] {
        [21, 14, 7, 0].map { UInt8(truncatingIfNeeded: count >> $0) & 0x7F }
    }
}
