package import MediaTypes

/// What the ladder does at one tick in addition to encoding its canvas.
package struct TickPlan: Sendable {
    /// Number of the GOP. It increases at every tick whose frame must be an IDR frame in every rendition.
    package var gop: Int64
    /// Whether a segment of the room begins at this tick, at which renditions may fall asleep and wake.
    package var beginsSegment: Bool
    /// A rendition that outputs a publisher's own packets instead of the encoded canvas.
    package var pass: Pass?

    package init(gop: Int64, beginsSegment: Bool = false, pass: Pass? = nil) {
        self.gop = gop
        self.beginsSegment = beginsSegment
        self.pass = pass
    }

    /// The packets of a tick that are passed through without transcoding.
    package struct Pass: Sendable {
        /// Index of the rendition.
        package var track: Int
        /// Packets in decoding order; empty if the tick's frame was output at an earlier tick, or is late.
        package var packets: [CodedPacket]
        /// The publisher's stream, set at the tick at which passthrough begins; otherwise `nil`.
        package var stream: Stream?
        /// Whether passthrough ends with these packets; the rendition encodes this tick's canvas.
        package var isLast = false

        package init(track: Int, packets: [CodedPacket], stream: Stream? = nil) {
            self.track = track
            self.packets = packets
            self.stream = stream
        }
    }

    /// Parameters of a publisher's stream that is passed through.
    package struct Stream: Sendable, Hashable {
        package var parameters: CodecParameters
        /// Parameters for one initialization segment that serves both this stream and the encoder's; `nil`: each has
        /// its own.
        package var initialization: CodecParameters?
        /// Frame size in pixels.
        package var width: Int
        package var height: Int

        package init(parameters: CodecParameters, width: Int, height: Int) {
            self.parameters = parameters
            self.width = width
            self.height = height
        }
    }
}
