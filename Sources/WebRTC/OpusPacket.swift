/// The structure of an Opus packet: its duration and whether its lengths are consistent.
///
/// Spec: RFC 6716 §3.1 (TOC byte), §3.2 (frames), §3.4 (requirements R1 to R7). In RTP, a payload is one packet
/// (RFC 7587 §4.2).
package struct OpusPacket: Sendable, Hashable {
    /// Ticks per second of ``duration`` and of RTP timestamps, whatever the audio bandwidth.
    package static let clockRate: Int32 = 48_000
    /// Longest duration of a packet: 120 ms.
    private static let longest = 5760
    /// Largest frame in bytes (R2).
    private static let largestFrame = 1275

    /// Duration in samples at 48 kHz, 120…5,760; usually 960.
    package let duration: Int
    /// Number of frames in the packet, 1…48.
    package let frames: Int
    package let isStereo: Bool

    /// - Returns: nil for a packet that violates R1 to R7.
    package init?(_ packet: ArraySlice<UInt8>) {
        guard let toc = packet.first else { return nil }
        var reader = ByteReader(packet.dropFirst())
        let frames: Int?
        switch toc & 3 {
        case 0: frames = reader.left <= Self.largestFrame ? 1 : nil
        case 1: frames = reader.left.isMultiple(of: 2) && reader.left / 2 <= Self.largestFrame ? 2 : nil
        case 2:
            let first = Self.length(&reader)
            frames = first.map { $0 <= reader.left && reader.left - $0 <= Self.largestFrame } == true ? 2 : nil
        default: frames = Self.frames(&reader)
        }
        guard let frames, frames * Self.samples(toc) <= Self.longest else { return nil }
        self.frames = frames
        self.duration = frames * Self.samples(toc)
        self.isStereo = toc & 4 != 0
    }

    /// Samples of each frame (table 2).
    private static func samples(_ toc: UInt8) -> Int {
        switch toc >> 3 {
        case 0...11: [480, 960, 1920, 2880][Int(toc >> 3 & 3)]
        case 12...15: toc >> 3 & 1 == 0 ? 480 : 960
        default: 120 << Int(toc >> 3 & 3)
        }
    }

    /// Reads a frame length of one or two bytes (§3.2.1).
    private static func length(_ reader: inout ByteReader) -> Int? {
        guard let first = reader.next() else { return nil }
        guard first >= 252 else { return Int(first) }
        return reader.next().map { Int($0) * 4 + Int(first) }
    }

    /// Number of frames of a packet with code 3 (§3.2.5).
    private static func frames(_ reader: inout ByteReader) -> Int? {
        guard let flags = reader.next() else { return nil }
        let count = Int(flags & 0x3F)
        guard 1...48 ~= count else { return nil }
        var padding = 0
        if flags & 0x40 != 0 {
            var isLast = false
            while !isLast {
                guard let byte = reader.next() else { return nil }
                // 255: 254 bytes of padding, and another length follows.
                padding += byte == 255 ? 254 : Int(byte)
                isLast = byte != 255
            }
        }
        guard padding <= reader.left else { return nil }
        guard flags & 0x80 != 0 else {
            let bytes = reader.left - padding
            return bytes.isMultiple(of: count) && bytes / count <= Self.largestFrame ? count : nil
        }
        var bytes = 0
        for _ in 1..<count {
            guard let length = Self.length(&reader) else { return nil }
            bytes += length
        }
        let last = reader.left - padding - bytes
        return 0...Self.largestFrame ~= last ? count : nil
    }
}
