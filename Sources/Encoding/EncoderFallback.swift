package import LibAV
package import MediaTypes

/// The replacement of a rendition's hardware encoder by libx264.
package struct EncoderFallback: Sendable, Hashable {
    /// The encoder that the pipeline names.
    package var from: H264Implementation
    /// Why that encoder is not used.
    package var error: MediaError
    /// Tick from which libx264 encodes: its first frame has this tick, or a later one if frames were lost before the
    /// encoder. `nil` if the hardware encoder did not open at the start.
    package var tick: Int64?

    package init(from: H264Implementation, error: MediaError, tick: Int64?) {
        self.from = from
        self.error = error
        self.tick = tick
    }
}

/// What an encoder thread reports when its encoder is open.
struct OpenedEncoder: Sendable {
    var parameters: CodecParameters
    /// Parameters for initialization segments, if they contain more than ``parameters``.
    var initialization: CodecParameters?
    /// Parameters of the libx264 encoder on standby; `nil`: there is none.
    var standby: CodecParameters?
    /// Set if libx264 was opened instead of the hardware encoder.
    var fallback: EncoderFallback?
}
