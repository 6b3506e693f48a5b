import MediaTypes

/// The sample tables of one fMP4 media segment. Spec: ISO/IEC 14496-12 §8.8.
package struct SegmentSamples: Sendable, Hashable {
    package struct Sample: Sendable, Hashable {
        /// Duration in ticks of the track's timescale.
        package let duration: UInt32
        /// Size in bytes.
        package let size: UInt32
        /// Presentation time minus decoding time, in ticks.
        package let offset: Int32
        package let isSync: Bool
    }

    package struct Fragment: Sendable, Hashable {
        /// Decoding time of the first sample in ticks (`tfdt`).
        package let decodeTime: Int64
        package var samples: [Sample]
        /// Byte range of the samples' data in the segment; the samples are contiguous.
        package let data: Range<Int>
    }

    package private(set) var fragments: [Fragment] = []

    /// Reads the fragments of a segment.
    ///
    /// - Returns: `nil` if there is no fragment, if one cannot be read, or if its sample data lies outside the segment.
    ///   Of each fragment only the first track is read.
    package init?(_ bytes: [UInt8]) {
        let reader = BoxReader(bytes: bytes)
        guard let boxes = reader.boxes(in: 0..<bytes.count) else { return nil }
        for box in boxes where box.type == "moof" {
            guard let fragment = Self.fragment(reader, box) else { return nil }
            self.fragments.append(fragment)
        }
        if self.fragments.isEmpty { return nil }
    }

    private static func fragment(_ reader: BoxReader, _ moof: BoxReader.Box) -> Fragment? {
        guard let traf = reader.first(["traf"], in: moof.body), let boxes = reader.boxes(in: traf.body),
            let tfhd = boxes.first(where: { $0.type == "tfhd" }),
            let tfdt = boxes.first(where: { $0.type == "tfdt" }),
            let trun = boxes.first(where: { $0.type == "trun" }),
            let time = reader.number(
                tfdt.body.lowerBound + 4, reader.u8(tfdt.body.lowerBound) == 1 ? 8 : 4),
            let decodeTime = Int64(exactly: time), decodeTime < 1 << 56
        else { return nil }
        let defaults = Defaults(reader, tfhd)
        guard let flags = reader.number(trun.body.lowerBound + 1, 3), flags & 1 != 0,
            let count = reader.u32(trun.body.lowerBound + 4), let relative = reader.u32(trun.body.lowerBound + 8)
        else { return nil }
        var position = trun.body.lowerBound + 12
        var firstFlags: UInt32?
        if flags & 4 != 0 {
            firstFlags = reader.u32(position)
            position += 4
        }
        let rowSize = 4 * [0x100, 0x200, 0x400, 0x800].filter { flags & $0 != 0 }.count
        // The table must have room for a row per sample; if samples have no rows, a fixed limit applies.
        guard Int(count) <= (rowSize > 0 ? (trun.body.upperBound - position) / rowSize : 1 << 16) else { return nil }
        func field(_ flag: UInt64, _ standard: UInt32) -> UInt32 {
            guard flags & flag != 0 else { return standard }
            defer { position += 4 }
            return reader.u32(position) ?? standard
        }
        var samples: [Sample] = []
        samples.reserveCapacity(Int(count))
        var size = 0
        for index in 0..<Int(count) {
            let duration = field(0x100, defaults.duration)
            let bytes = field(0x200, defaults.size)
            let standard = index == 0 ? firstFlags ?? defaults.flags : defaults.flags
            let sampleFlags = field(0x400, standard)
            let offset = Int32(bitPattern: field(0x800, 0))
            samples.append(
                Sample(duration: duration, size: bytes, offset: offset, isSync: sampleFlags & 0x1_0000 == 0))
            size += Int(bytes)
        }
        let start = moof.range.lowerBound + Int(relative)
        guard size <= reader.bytes.count, start <= reader.bytes.count - size else { return nil }
        return Fragment(decodeTime: decodeTime, samples: samples, data: start..<(start + size))
    }

    private struct Defaults {
        var duration: UInt32 = 0
        var size: UInt32 = 0
        var flags: UInt32 = 0

        init(_ reader: BoxReader, _ tfhd: BoxReader.Box) {
            let present = reader.number(tfhd.body.lowerBound + 1, 3) ?? 0
            var position = tfhd.body.lowerBound + 8
            if present & 0x1 != 0 { position += 8 }
            if present & 0x2 != 0 { position += 4 }
            func field(_ flag: UInt64) -> UInt32 {
                guard present & flag != 0 else { return 0 }
                defer { position += 4 }
                return reader.u32(position) ?? 0
            }
            self.duration = field(0x8)
            self.size = field(0x10)
            self.flags = field(0x20)
        }
    }
}
