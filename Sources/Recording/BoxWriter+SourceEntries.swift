import HLS

/// Sample entries of recorded sources. They contain no color and no pixel aspect ratio: players read both from the stream,
/// as the publisher has sent it.
extension BoxWriter {
    /// Writes a video sample entry. Spec: ISO/IEC 14496-12 §12.1.3.
    mutating func visual(_ type: String, _ width: Int, _ height: Int, _ configuration: (inout BoxWriter) -> Void) {
        self.box(type) { box in
            box.zeros(6)
            box.u16(1)  // data reference
            box.zeros(16)
            box.u16(UInt16(clamping: width))
            box.u16(UInt16(clamping: height))
            box.u32(0x48_0000)  // 72 dpi
            box.u32(0x48_0000)
            box.u32(0)
            box.u16(1)  // frames per sample
            box.zeros(32)  // compressor name
            box.u16(0x18)  // depth
            box.u16(0xFFFF)
            configuration(&box)
        }
    }

    /// Writes an audio sample entry. Spec: ISO/IEC 14496-12 §12.2.3.
    ///
    /// - Parameter rate: Sample rate in hertz; one that has more than 16 bits is written as 0.
    mutating func sound(_ type: String, channels: Int, rate: Int, _ configuration: (inout BoxWriter) -> Void) {
        self.box(type) { box in
            box.zeros(6)
            box.u16(1)  // data reference
            box.zeros(8)
            box.u16(UInt16(clamping: channels))
            box.u16(16)  // sample size
            box.zeros(4)
            box.u32(UInt32(UInt16(exactly: rate) ?? 0) << 16)
            configuration(&box)
        }
    }

    /// Writes the elementary stream descriptor of AAC.
    ///
    /// Spec: ISO/IEC 14496-14 §5.6; ISO/IEC 14496-1 §7.2.6.
    mutating func esds(_ configuration: [UInt8]) {
        self.fullBox("esds") { esds in
            esds.descriptor(0x03) { stream in
                stream.u16(0)  // stream id
                stream.u8(0)
                stream.descriptor(0x04) { decoder in
                    decoder.u8(0x40)  // MPEG-4 audio
                    decoder.u8(0x15)  // audio stream
                    decoder.u24(0)
                    decoder.zeros(8)  // peak and average bit rate: unknown
                    decoder.descriptor(0x05) { $0.raw(configuration) }
                }
                stream.descriptor(0x06) { $0.u8(2) }
            }
        }
    }

    /// Writes a descriptor whose length takes four bytes. Spec: ISO/IEC 14496-1 §8.3.3.
    private mutating func descriptor(_ tag: UInt8, _ body: (inout BoxWriter) -> Void) {
        var content = BoxWriter()
        body(&content)
        self.u8(tag)
        for shift in [21, 14, 7] { self.u8(0x80 | UInt8(truncatingIfNeeded: content.bytes.count >> shift & 0x7F)) }
        self.u8(UInt8(truncatingIfNeeded: content.bytes.count & 0x7F))
        self.raw(content.bytes)
    }
}
