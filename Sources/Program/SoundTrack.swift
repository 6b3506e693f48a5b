import LibAV
import MediaTypes

/// The decoder of one audio track and where its sound comes to lie, alive only on the source's thread.
///
/// States: closed → decoding (``configure(_:now:)``) → failing (``patience`` packets in a row were damaged: the decoder is
/// opened anew, and again after as many more) → decoding. Only the first failure until a packet is intact is reported. Formats
/// that change too often are deferred: there is no decoder until ``OpeningBudget`` has one for the last of them.
struct SoundTrack {
    /// What followed from the state a packet was in.
    enum Verdict {
        case fine
        /// A run of damaged packets: another decoder goes on. `failure` is the first one's.
        case reopened(failure: MediaError?)
    }

    /// Damaged packets in a row after which the decoder is given up: a second of AAC at 48 kHz. A decoder that has lost
    /// its way (a channel map or a band table of a stream that is gone) stays lost, whatever comes.
    static let patience = 47

    private let sampleRate: Int
    private let place: String
    private var decoder: AudioDecoder?
    private var parameters: CodecParameters?
    /// Damaged packets in a row.
    private var damaged = 0
    private var isReported = false
    private var openings = OpeningBudget()
    /// The format is known, and no decoder is open for it yet.
    private var isDeferred = false
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
    ///
    /// - Parameter now: See ``OpeningBudget/take(now:)``.
    mutating func configure(_ parameters: CodecParameters, now: Int64? = nil) throws(MediaError) {
        // If it fails the track before is over all the same: its decoder would make noise of what comes.
        let before = self.decoder
        self.decoder = nil
        self.parameters = parameters
        self.damaged = 0
        self.isDeferred = !self.openings.take(now: now)
        guard !self.isDeferred else { return }
        self.decoder = try AudioDecoder.open(
            parameters, sampleRate: self.sampleRate, place: self.place, following: before)
    }

    /// Opens the decoder that had to wait, if there is one now.
    mutating func openDeferred(now: Int64?) throws(MediaError) {
        guard self.isDeferred, let parameters = self.parameters, self.openings.take(now: now) else { return }
        self.isDeferred = false
        self.decoder = try AudioDecoder.open(parameters, sampleRate: self.sampleRate, place: self.place)
    }

    /// Takes note of whether a packet was intact, and opens the decoder anew when too many in a row were not.
    mutating func judge(_ isIntact: Bool, now: Int64? = nil) -> Verdict {
        if isIntact {
            self.damaged = 0
            self.isReported = false
            return .fine
        }
        self.damaged += 1
        guard self.damaged >= Self.patience, let parameters = self.parameters, self.openings.take(now: now) else {
            return .fine
        }
        self.damaged = 0
        // One that does not open again leaves the old one in its place: there may be more memory in a second.
        // A second of silence lies between: the new one's sound does not continue the old one's.
        if let fresh = try? AudioDecoder.open(parameters, sampleRate: self.sampleRate, place: self.place) {
            self.decoder = fresh
        }
        defer { self.isReported = true }
        if self.isReported { return .reopened(failure: nil) }
        return .reopened(
            failure: MediaError(
                .invalidData, "\(Self.patience) packets in a row were damaged", at: self.place,
                fix: "restart the encoder's sound; the decoder was opened anew"))
    }

    /// The publication is over.
    mutating func end() {
        self.decoder = nil
        self.isDeferred = false
        self.isReported = false
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
        if self.restarts { self.placement.reset() }
        self.restarts = false
        var next = position
        return decoder.decode(packet) { block in
            let isRemapped = self.seams != seams
            self.seams = seams
            self.placement.place(block.samples, at: next, isRemapped: isRemapped) { samples, at, hasSeam in
                buffer.push(samples, at: at, restart: hasSeam, track: packet.track)
            }
            next &+= Int64(block.frames)
        }
    }
}
