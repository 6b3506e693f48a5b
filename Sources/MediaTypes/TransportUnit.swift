package import MediaKernels

/// One access unit or sound frame of an MPEG transport stream, as it stands there.
package struct TransportUnit: Sendable {
    package var kind: TrackKind
    /// Which of its kind it is in the program, 0 upwards.
    package var track: UInt8
    /// nil: none this project has a name for; ``codecName`` says what it is.
    package var codec: CodecName?
    package var codecName: String
    /// H.264 and H.265: NAL units with four-byte lengths. Everything else as sent, ADTS headers included.
    package var payload: PacketMemory
    /// H.264: what is in ``payload``. H.265: what its NAL units would be in H.264, by which one that is H.264 is known.
    package var types: NALTypes
    /// 90 kHz, 33 bits; nil where the stream does not say.
    package var pts: Int64?
    package var dts: Int64?
    /// 90 kHz; 0 where it is not known.
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
