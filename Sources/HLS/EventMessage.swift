/// A timed metadata message for one instant of the media: an `emsg` box in front of the fragment that contains the
/// instant.
///
/// Spec: ISO/IEC 23009-1 §5.10.3.3 (`emsg`, version 1: absolute media time); AOM, Carriage of ID3 Timed Metadata in
/// CMAF.
package struct EventMessage: Sendable, Hashable {
    /// `scheme_id_uri` of a message that contains an ID3v2 tag.
    package static let id3Scheme = "https://aomedia.org/emsg/ID3"
    /// §5.10.3.3.4: the duration is unknown.
    private static let unknownDuration: UInt32 = 0xFFFF_FFFF

    /// Message ID, the same in every rendition and otherwise unique, so that a player can ignore a message it has
    /// already handled.
    package let id: UInt32
    /// Time of the event in ticks of ``timescale`` since the room's origin; not negative.
    package let time: Int64
    package let timescale: Int32
    /// The message: an ID3v2.4 tag, see ``ID3Tag``.
    package let payload: [UInt8]

    package init(id: UInt32, time: Int64, timescale: Int32, payload: [UInt8]) {
        self.id = id
        self.time = max(0, time)
        self.timescale = max(1, timescale)
        self.payload = payload
    }

    /// Writes the `emsg` box.
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
