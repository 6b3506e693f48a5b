import MediaTypes
import Testing

@Suite("Decoder specific info of an esds box: ISO/IEC 14496-1 §7.2.6")
struct DecoderSpecificInfoTests {
    /// A descriptor with the given number of length bytes.
    private static func descriptor(_ tag: UInt8, _ body: [UInt8], lengthBytes: Int = 1) -> [UInt8] {
        let length = (0..<lengthBytes).reversed().map { index -> UInt8 in
            UInt8(truncatingIfNeeded: body.count >> (7 * index)) & 0x7F | (index > 0 ? 0x80 : 0)
        }
        return [tag] + length + body
    }

    private static func box(_ info: [UInt8], flags: UInt8 = 0, extra: [UInt8] = [], lengthBytes: Int = 1) -> [UInt8] {
        let inside = self.descriptor(5, info, lengthBytes: lengthBytes)
        let decoder = self.descriptor(4, [UInt8](repeating: 0x40, count: 13) + inside, lengthBytes: lengthBytes)
        let stream = self.descriptor(3, [0, 1, flags] + extra + decoder + [6, 1, 2], lengthBytes: lengthBytes)
        return [0, 0, 0, 0] + stream
    }

    @Test(
        "decoder specific info is found after optional descriptor fields, with descriptor lengths of one, two and four bytes",
        arguments: [1, 2, 4])
    func found(lengthBytes: Int) {
        for (flags, extra) in [
            (0, []), (0x80, [9, 9]), (0x40, [3, 5, 5, 5]), (0x20, [7, 7]), (0xE0, [9, 9, 1, 5, 7, 7]),
        ] as [(UInt8, [UInt8])] {
            for info: [UInt8] in [[0x11, 0x90], [0xF8, 0xE0, 0x00], []] {
                let esds = Self.box(info, flags: flags, extra: extra, lengthBytes: lengthBytes)
                #expect(DecoderSpecificInfo.read(esds: esds) == info, "\(esds)")
            }
        }
    }

    @Test("a truncated esds box, or one without a DecoderSpecificInfo, gives nil; a damaged byte causes no trap")
    func hostile() {
        let whole = Self.box([0x11, 0x90], flags: 0xE0, extra: [9, 9, 1, 5, 7, 7])
        // The last three bytes are another descriptor.
        for count in 0..<(whole.count - 3) { #expect(DecoderSpecificInfo.read(esds: Array(whole[..<count])) == nil) }
        for place in 4..<whole.count {
            var esds = whole
            esds[place] = 0xFF
            _ = DecoderSpecificInfo.read(esds: esds)
        }
        #expect(DecoderSpecificInfo.read(esds: [0, 0, 0, 0, 4, 0]) == nil)
        #expect(DecoderSpecificInfo.read(esds: [0, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF, 0xFF, 0, 1, 0, 4, 0]) == nil)
    }
}
