package import MediaTypes

/// What the ladder does at one tick in addition to encoding its canvas.
package struct TickPlan: Sendable {
    /// Increases with every tick that must be an IDR frame in every rendition.
    package var gop: Int64
    /// A rendition that outputs a publisher's own packets instead of the encoded canvas.
    package var pass: Pass?

    package init(gop: Int64, pass: Pass? = nil) {
        self.gop = gop
        self.pass = pass
    }

    /// The passthrough packets of a tick.
    package struct Pass: Sendable {
        /// Index of the rendition.
        package var track: Int
        /// In decoding order; empty if the tick's frame came with an earlier tick, or is late.
        package var packets: [CodedPacket]
        /// Set if the publisher's packets begin at this tick.
        package var stream: Stream?
        /// These are the last packets; the rendition encodes this tick's canvas.
        package var isLast = false

        package init(track: Int, packets: [CodedPacket], stream: Stream? = nil) {
            self.track = track
            self.packets = packets
            self.stream = stream
        }
    }

    /// A publisher's stream.
    package struct Stream: Sendable, Hashable {
        package var parameters: CodecParameters
        /// Parameters for one initialization segment that serves both this stream and the encoder's; `nil`: each has
        /// its own.
        package var initialization: CodecParameters?
        /// In pixels.
        package var width: Int
        package var height: Int

        package init(parameters: CodecParameters, width: Int, height: Int) {
            self.parameters = parameters
            self.width = width
            self.height = height
        }
    }
}
