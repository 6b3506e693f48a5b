import MediaTypes

/// The properties of a track that a recording reads from its initialization segment.
struct TrackParameters: Sendable, Hashable {
    let kind: TrackKind
    /// Ticks per second.
    let timescale: Int64
    /// The complete sample entry box, the same as in the live stream.
    let entry: [UInt8]
    /// Width in pixels; 0 for audio.
    let width: UInt16
    let height: UInt16

    /// Reads the first track of an initialization segment.
    ///
    /// - Returns: `nil` if the bytes are damaged, or if this is neither a video nor an audio track.
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
