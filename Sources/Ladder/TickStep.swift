package import MediaTypes

/// What the ladder does with one tick besides coding its canvas.
package struct TickStep: Sendable {
    /// Rises with every tick that is to be an IDR picture in every rendition.
    package var gop: Int64
    /// A rendition that has a publisher's own packets instead of the canvas.
    package var pass: Pass?

    package init(gop: Int64, pass: Pass? = nil) {
        self.gop = gop
        self.pass = pass
    }

    /// The packets of a tick.
    package struct Pass: Sendable {
        /// The rendition, by its place in the ladder.
        package var track: Int
        /// In decoding order; none where the tick's picture came with an earlier one, or is late.
        package var packets: [CodedPacket]
        /// The rendition's packets are a publisher's from this tick on.
        package var stream: Stream?
        /// Nothing follows these: the rendition has the tick's canvas.
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
        /// What a player is told once for this stream and the encoder's own together; `nil`: each has its own.
        package var initialization: CodecParameters?
        /// Pixels.
        package var width: Int
        package var height: Int

        package init(parameters: CodecParameters, width: Int, height: Int) {
            self.parameters = parameters
            self.width = width
            self.height = height
        }
    }
}
