package import MediaKernels

/// One access unit or audio frame of an MPEG transport stream, unconverted.
package struct MPEGTSUnit: Sendable {
    package var kind: TrackKind
    /// Track number within its kind in the program, from 0.
    package var track: UInt8
    /// Codec of the track; `nil` if the codec is not supported. ``codecName`` always contains its name.
    package var codec: CodecName?
    package var codecName: String
    /// Coded data. H.264 and H.265: NAL units with four-byte lengths. Other codecs: as sent, including ADTS headers.
    package var payload: PacketMemory
    /// H.264: the NAL unit types in ``payload``. H.265: the types that its NAL units would have if read as H.264, to
    /// detect H.264 that is declared as H.265.
    package var types: NALTypes
    /// Presentation and decoding time in ticks of 90 kHz, 33 bits; `nil` if the stream does not contain the time.
    package var pts: Int64?
    package var dts: Int64?
    /// Duration in ticks of 90 kHz; 0 if unknown.
    package var duration: Int64

    package init(
        kind: TrackKind, track: UInt8, codec: CodecName?, codecName: String, payload: PacketMemory,
        types: NALTypes = [],
        pts: Int64?, dts: Int64?, duration: Int64 = 0
    ) {
        self.kind = kind
        self.track = track
        self.codec = codec
        self.codecName = codecName
        self.payload = payload
        self.types = types
        self.pts = pts
        self.dts = dts
        self.duration = duration
    }
}
