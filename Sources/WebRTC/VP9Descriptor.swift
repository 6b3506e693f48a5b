import MediaTypes

/// The payload descriptor before the VP9 data of each packet.
///
/// Spec: RFC 9628 §4.2.
struct VP9Descriptor: VPXDescriptor, Hashable {
    /// Size of the descriptor in bytes.
    let size: Int
    let pictureID: PictureID?
    /// Whether the packet is the first of its layer's frame (B).
    let beginsFrame: Bool
    /// Whether the packet is the last of its layer's frame (E).
    let endsFrame: Bool
    /// Spatial layer, 0…7; 0 without layers.
    let spatialLayer: UInt8

    /// - Returns: nil if the payload ends before the descriptor, or contains nothing else.
    init?(_ payload: ArraySlice<UInt8>) {
        var reader = ByteReader(payload)
        guard let first = reader.next() else { return nil }
        let isFlexible = first & 0x10 != 0
        self.beginsFrame = first & 0x08 != 0
        self.endsFrame = first & 0x04 != 0
        var id: PictureID?
        if first & 0x80 != 0 {
            guard let read = PictureID(&reader) else { return nil }
            id = read
        }
        var layer: UInt8 = 0
        if first & 0x20 != 0 {
            guard let indices = reader.next() else { return nil }
            layer = indices >> 1 & 7
            // TL0PICIDX.
            if !isFlexible, reader.next() == nil { return nil }
        }
        if isFlexible, first & 0x40 != 0, !Self.skipReferences(&reader) { return nil }
        if first & 0x02 != 0, !Self.skipStructure(&reader) { return nil }
        guard reader.left > 0 else { return nil }
        self.pictureID = id
        self.spatialLayer = layer
        self.size = payload.count - reader.left
    }

    /// Skips one to three differences of picture ids; false if the bytes end before, or a fourth is announced.
    private static func skipReferences(_ reader: inout ByteReader) -> Bool {
        for _ in 0..<3 {
            guard let difference = reader.next() else { return false }
            if difference & 1 == 0 { return true }
        }
        // A fourth is announced.
        return false
    }

    /// The scalability structure (§4.2.1). The frame headers contain the sizes, too.
    private static func skipStructure(_ reader: inout ByteReader) -> Bool {
        guard let flags = reader.next() else { return false }
        if flags & 0x10 != 0, !reader.skip((Int(flags >> 5) + 1) * 4) { return false }
        guard flags & 0x08 != 0 else { return true }
        guard let count = reader.next() else { return false }
        for _ in 0..<count {
            guard let frame = reader.next(), reader.skip(Int(frame >> 2 & 3)) else { return false }
        }
        return true
    }
}

/// The beginning of a VP9 frame.
///
/// Spec: VP9 Bitstream & Decoding Process Specification §6.2, §6.2.2, §7.2.
struct VP9FrameHeader: VPXFrameHeader, Hashable {
    let isKey: Bool
    /// Frame size; nil except in key frames.
    let size: FrameSize?

    /// - Returns: nil for anything that is no VP9 frame, or a key frame that is truncated in its header.
    init?(frame: [UInt8]) {
        var bits = BitReader(Array(frame.prefix(16)))
        guard bits.bits(2) == 2, let low = bits.bits(1), let high = bits.bits(1) else { return nil }
        let profile = high << 1 | low
        if profile == 3, bits.bits(1) != 0 { return nil }
        guard let showsExisting = bits.flag() else { return nil }
        guard !showsExisting else {
            (self.isKey, self.size) = (false, nil)
            return
        }
        // frame_type, show_frame, error_resilient_mode.
        guard let isInter = bits.flag(), bits.bits(2) != nil else { return nil }
        self.isKey = !isInter
        guard !isInter else {
            self.size = nil
            return
        }
        guard bits.bits(24) == 0x49_8342, Self.skipColors(&bits, profile: profile), let width = bits.bits(16),
            let height = bits.bits(16)
        else { return nil }
        self.size = FrameSize(width: Int(width) + 1, height: Int(height) + 1)
    }

    static func mayBeKey(_ beginning: [UInt8]) -> Bool { Self(frame: beginning)?.isKey == true }

    private static func skipColors(_ bits: inout BitReader, profile: UInt32) -> Bool {
        if profile >= 2, bits.bits(1) == nil { return false }
        guard let space = bits.bits(3) else { return false }
        let hasSubsampling = profile & 1 == 1
        // 7: RGB, which has no range, and no subsampling.
        if space == 7 { return hasSubsampling && bits.bits(1) == 0 }
        return bits.bits(hasSubsampling ? 4 : 1) != nil
    }
}
