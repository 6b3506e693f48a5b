import LibAV
import MediaTypes

/// The decoder of one audio track and where its sound comes to lie, alive only on the source's thread.
struct SoundTrack {
    private let sampleRate: Int
    private let place: String
    private var decoder: AudioDecoder?
    private var placement: SoundPlacement
    /// The next sound lies where its timestamp says, and does not continue what came before.
    private var restarts = true
    private var seams = 0

    init(sampleRate: Int, limitPPB: Int64, place: String) {
        self.sampleRate = sampleRate
        self.place = place
        self.placement = SoundPlacement(sampleRate: sampleRate, limitPPB: limitPPB)
    }

    var isOpen: Bool { self.decoder != nil }

    /// Opens a decoder whose sound follows that of the one before without a gap.
    mutating func configure(_ parameters: CodecParameters) throws(MediaError) {
        // If it fails the track before is over all the same: its decoder would make noise of what comes.
        let before = self.decoder
        self.decoder = nil
        self.decoder = try AudioDecoder.open(
            parameters, sampleRate: self.sampleRate, place: self.place, following: before)
    }

    /// The publication is over.
    mutating func end() {
        self.decoder = nil
        self.restarts = true
    }

    /// A file's sound: sample for sample.
    ///
    /// - Returns: Whether the packet was intact.
    mutating func lay(_ packet: CodedPacket, at position: Int64, in buffer: SourceBuffer) -> Bool {
        guard let decoder = self.decoder else { return true }
        var next = position
        let restarts = self.restarts
        self.restarts = false
        return decoder.decode(packet) { block in
            buffer.push(block.samples, at: next, restart: restarts, track: packet.track)
            next &+= Int64(block.frames)
        }
    }

    /// A publisher's sound: kept in step.
    ///
    /// - Parameter seams: How often the source's mapping was made anew so far.
    /// - Returns: Whether the packet was intact.
    mutating func place(_ packet: CodedPacket, at position: Int64, seams: Int, in buffer: SourceBuffer) -> Bool {
        guard let decoder = self.decoder else { return true }
        var blocks: [[Float]] = []
        let intact = decoder.decode(packet) { blocks.append($0.samples) }
        if self.restarts { self.placement.reset() }
        self.restarts = false
        var next = position
        for block in blocks {
            let isRemapped = self.seams != seams
            self.seams = seams
            self.placement.place(block, at: next, isRemapped: isRemapped) { samples, at, hasSeam in
                buffer.push(samples, at: at, restart: hasSeam, track: packet.track)
            }
            next &+= Int64(block.count / 2)
        }
        return intact
    }
}
