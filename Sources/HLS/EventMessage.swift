/// Timed metadata for one instant of the media: an `emsg` box in front of the fragment that contains the instant.
///
/// Spec: ISO/IEC 23009-1 §5.10.3.3 (`emsg`, version 1: absolute media time); AOM, Carriage of ID3 Timed Metadata in CMAF.
package struct EventMessage: Sendable, Hashable {
    /// `scheme_id_uri` of an ID3v2 tag as the message.
    package static let id3Scheme = "https://aomedia.org/emsg/ID3"
    /// §5.10.3.3.4: the duration is unknown.
    private static let unknownDuration: UInt32 = 0xFFFF_FFFF

    /// The same in every rendition, and unique: a player that has handled the event can ignore repeats.
    package let id: UInt32
    /// When it happens, in ticks of ``timescale`` since the room's origin; not negative.
    package let time: Int64
    package let timescale: Int32
    /// An ID3v2.4 tag, see ``ID3Tag``.
    package let payload: [UInt8]

    package init(id: UInt32, time: Int64, timescale: Int32, payload: [UInt8]) {
        self.id = id
        self.time = max(0, time)
        self.timescale = max(1, timescale)
        self.payload = payload
    }

    /// Writes the box.
    func write(to writer: inout BoxWriter) {
        writer.fullBox("emsg", version: 1) { box in
            box.u32(UInt32(self.timescale))
            box.u64(UInt64(self.time))
            box.u32(Self.unknownDuration)
            box.u32(self.id)
            box.text(Self.id3Scheme)
            box.u8(0)
            // `value`: empty, because only one kind of message uses this scheme.
            box.u8(0)
            box.raw(self.payload)
        }
    }
}
