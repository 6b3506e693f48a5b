import MediaTypes

/// What a recording takes over from an initialization segment.
struct TrackHead: Sendable, Hashable {
    let kind: TrackKind
    /// Ticks a second.
    let timescale: Int64
    /// The sample entry, whole: it stays what players of the live stream have had.
    let entry: [UInt8]
    /// Pixels; 0 for sound.
    let width: UInt16
    let height: UInt16

    /// - Returns: `nil` for bytes that hold no track of pictures or sound.
    init?(_ bytes: [UInt8]) {
        let reader = BoxReader(bytes: bytes)
        guard let trak = reader.first(["moov", "trak"], in: 0..<bytes.count),
            let mdhd = reader.first(["mdia", "mdhd"], in: trak.body),
            let hdlr = reader.first(["mdia", "hdlr"], in: trak.body),
            let stsd = reader.first(["mdia", "minf", "stbl", "stsd"], in: trak.body),
            let timescale = reader.u32(mdhd.body.lowerBound + (reader.u8(mdhd.body.lowerBound) == 1 ? 20 : 12)),
            timescale > 0, stsd.body.count >= 8,
            let entry = reader.boxes(in: (stsd.body.lowerBound + 8)..<stsd.body.upperBound)?.first
        else { return nil }
        switch reader.u32(hdlr.body.lowerBound + 8) {
        case 0x7669_6465: self.kind = .video
        case 0x736f_756e: self.kind = .audio
        default: return nil
        }
        self.timescale = Int64(timescale)
        self.entry = Array(bytes[entry.range])
        let isVideo = self.kind == .video
        self.width = isVideo ? reader.u16(entry.body.lowerBound + 24) ?? 0 : 0
        self.height = isVideo ? reader.u16(entry.body.lowerBound + 26) ?? 0 : 0
    }
}
