package import MediaKernels
package import MediaTypes

/// Writes one movie fragment (`moof` and `mdat`) with the boxes before it.
///
/// Spec: ISO/IEC 14496-12 §8.8, CMAF ISO/IEC 23000-19 §7.3.2: one track, offsets relative to the fragment, the decode
/// time on the media timeline, signed composition offsets.
package enum FragmentWriter {
    /// Sample flags of a sync sample, which depends on no other sample. Spec: §8.8.3.1.
    package static let syncSample: UInt32 = 0x0200_0000
    /// Sample flags of a sample that is no sync sample and depends on others. Spec: §8.8.3.1.
    package static let dependentSample: UInt32 = 0x0101_0000

    /// Writes a movie fragment.
    ///
    /// - Parameters:
    ///   - track: Track id in `tfhd`; the only track of a rendition has 1.
    ///   - sequence: Sequence number in `mfhd`, which increases from fragment to fragment of a track.
    ///   - decodeTime: Decoding time of the first sample (`tfdt`) in ticks since the room's origin; not negative.
    ///   - samples: The samples in decoding order.
    ///   - startsSegment: Whether to write the segment type box (`styp`) before the fragment.
    ///   - messages: Timed metadata (`emsg`), written between `styp` and the fragment.
    ///   - head: Bytes to write before everything else.
    /// - Returns: All these bytes; the samples are copied once.
    package static func fragment(
        kind: TrackKind, track: UInt32 = 1, sequence: UInt32, decodeTime: Int64, samples: [PartSample],
        startsSegment: Bool, messages: [EventMessage] = [], after head: [UInt8] = []
    ) -> PacketMemory {
        // Audio needs neither composition offsets nor flags per sample: every frame is a sync sample.
        let table: PartAssembly.Table = kind == .video ? .full : .short
        var writer = BoxWriter()
        writer.raw(head)
        writer.raw(self.head(startsSegment: startsSegment, messages: messages))
        let start = writer.bytes.count
        let rows = samples.count * table.rowSize
        var sizeFields: [(offset: Int, added: Int)] = []
        var dataOffset = 0
        writer.box("moof") { moof in
            sizeFields.append((start, rows))
            moof.fullBox("mfhd") { $0.u32(sequence) }
            sizeFields.append((moof.bytes.count, rows))
            moof.box("traf") { traf in
                // The fragment is the base for data offsets; audio also carries default flags.
                traf.fullBox("tfhd", flags: kind == .video ? 0x02_0000 : 0x02_0020) { tfhd in
                    tfhd.u32(track)
                    if kind == .audio { tfhd.u32(Self.syncSample) }
                }
                traf.fullBox("tfdt", version: 1) { $0.u64(UInt64(max(0, decodeTime))) }
                sizeFields.append((traf.bytes.count, rows))
                traf.fullBox("trun", version: 1, flags: kind == .video ? 0xF01 : 0x301) { trun in
                    trun.u32(UInt32(truncatingIfNeeded: samples.count))
                    dataOffset = trun.bytes.count
                    trun.u32(0)
                }
            }
        }
        // The kernel appends the rows to this prefix, so the three boxes around them grow by the rows' size.
        let header = writer.bytes.count - start
        for field in sizeFields {
            let written = Self.read(writer.bytes, at: field.offset)
            writer.patch(written &+ UInt32(truncatingIfNeeded: field.added), at: field.offset)
        }
        let payload = UInt32(truncatingIfNeeded: header + rows + PartAssembly.mediaDataHeaderSize)
        writer.patch(payload, at: dataOffset)
        return PartAssembly.assemble(prefix: writer.bytes, samples: samples, table: table)
    }

    /// Writes the boxes that precede a fragment: `styp` and `emsg`.
    static func head(startsSegment: Bool, messages: [EventMessage]) -> [UInt8] {
        var writer = BoxWriter()
        if startsSegment {
            writer.box("styp") { box in
                box.text("msdh")
                box.u32(0)
                for brand in ["msdh", "cmfs"] { box.text(brand) }
            }
        }
        for message in messages { message.write(to: &writer) }
        return writer.bytes
    }

    private static func read(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        guard offset >= 0, offset + 4 <= bytes.count else { return 0 }
        return bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
