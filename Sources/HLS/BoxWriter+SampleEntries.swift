package import MediaTypes

extension BoxWriter {
    /// Writes a video sample entry. Spec: ISO/IEC 14496-12 §12.1.3.
    ///
    /// - Parameter configuration: Writes the boxes in the entry.
    package mutating func visual(
        _ type: String, _ width: Int, _ height: Int, _ configuration: (inout BoxWriter) -> Void
    ) {
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
    /// - Parameters:
    ///   - rate: Sample rate in hertz; one that has more than 16 bits is written as 0.
    ///   - configuration: Writes the boxes in the entry.
    package mutating func audio(
        _ type: String, channels: Int, rate: Int, _ configuration: (inout BoxWriter) -> Void
    ) {
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

    /// Writes an `avc1` sample entry with its decoder configuration, BT.709 color and square pixels.
    ///
    /// Spec: ISO/IEC 14496-12 §12.1.5 (`colr`), §12.1.4 (`pasp`); ISO/IEC 14496-15 §5.4.2.
    mutating func avc1(_ configuration: AVCConfiguration, width: Int, height: Int) {
        self.visual("avc1", width, height) { box in
            box.box("avcC") { $0.raw(configuration.record) }
            box.box("pasp") { pasp in
                pasp.u32(1)
                pasp.u32(1)
            }
            box.box("colr") { colr in
                colr.text("nclx")
                colr.u16(1)  // primaries, transfer, matrix: BT.709
                colr.u16(1)
                colr.u16(1)
                colr.u8(0)  // limited range
            }
        }
    }

    /// Writes an `mp4a` sample entry with its elementary stream descriptor.
    ///
    /// - Parameters:
    ///   - configuration: The AudioSpecificConfig, as bytes.
    ///   - stream: Number of the elementary stream.
    package mutating func mp4a(_ audio: AudioSpecificConfig, configuration: [UInt8], stream: UInt16 = 1) {
        self.audio("mp4a", channels: max(1, audio.channels), rate: audio.sampleRate) {
            $0.esds(configuration, stream: stream)
        }
    }

    /// Writes the elementary stream descriptor of AAC. Spec: ISO/IEC 14496-14 §5.6; ISO/IEC 14496-1 §7.2.6.
    private mutating func esds(_ configuration: [UInt8], stream number: UInt16) {
        self.fullBox("esds") { esds in
            esds.descriptor(0x03) { stream in
                stream.u16(number)
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

    /// Writes a descriptor with its length in the four-byte form, which every reader accepts. Spec: ISO/IEC 14496-1
    /// §8.3.3.
    private mutating func descriptor(_ tag: UInt8, _ body: (inout BoxWriter) -> Void) {
        var content = BoxWriter()
        body(&content)
        let length = UInt32(truncatingIfNeeded: content.bytes.count)
        self.u8(tag)
        for shift: UInt32 in [21, 14, 7] { self.u8(0x80 | UInt8(truncatingIfNeeded: length >> shift & 0x7F)) }
        self.u8(UInt8(truncatingIfNeeded: length & 0x7F))
        self.raw(content.bytes)
    }
}
