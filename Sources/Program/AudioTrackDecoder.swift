import LibAV
import MediaTypes

/// The decoder of one audio track and the placement of its output, used only on the source's thread.
///
/// States: closed → decoding (``configure(_:now:)``) → failing (``patience`` consecutive packets were damaged: the
/// decoder is reopened, and again after each further ``patience`` packets) → decoding. Only the first failure is
/// reported until a packet is intact again. If formats change too often, opening is deferred: there is no decoder until
/// ``DecoderOpenLimiter`` allows one for the latest format.
struct AudioTrackDecoder {
    /// Result of ``judge(_:now:)`` for a packet.
    enum Verdict {
        case fine
        /// A run of damaged packets has ended the use of the decoder: another one was opened, if possible. `failure` is
        /// set only the first time since a packet was intact.
        case reopened(failure: MediaError?)
    }

    /// Number of consecutive damaged packets after which the decoder is reopened: one second of AAC at 48 kHz. A
    /// decoder whose state is wrong (for example the channel map or band table of an earlier stream) does not recover.
    static let patience = 47

    private let sampleRate: Int
    private let place: String
    private var decoder: AudioDecoder?
    private var parameters: CodecParameters?
    /// Number of consecutive damaged packets.
    private var damaged = 0
    private var isReported = false
    private var openings = DecoderOpenLimiter()
    /// Whether the format is known but opening a decoder for it is deferred.
    private var isDeferred = false
    private var placement: AudioPlacement
    /// Whether the next audio is placed at its timestamp, without continuing the audio before it.
    private var restarts = true
    private var seams = 0
    /// The noise suppressor; `nil` between publications, and if none is wanted and the last one has faded out.
    private var suppressor: NoiseSuppressor?
    /// The automatic gain; `nil` if it is off and has returned to 0 dB.
    private var gain: AutoGain?

    init(sampleRate: Int, limitPPB: Int64, place: String) {
        self.sampleRate = sampleRate
        self.place = place
        self.placement = AudioPlacement(sampleRate: sampleRate, limitPPB: limitPPB)
    }

    var isOpen: Bool { self.decoder != nil }

    /// Closes the decoder and opens one for a new format. Its audio follows that of the previous decoder without a gap.
    /// If formats change too often, opening is deferred.
    ///
    /// - Parameter now: See ``DecoderOpenLimiter/take(now:)``.
    mutating func configure(_ parameters: CodecParameters, now: Int64? = nil) throws(MediaError) {
        // Drop the old decoder even if opening fails: it would output noise for the new format.
        let before = self.decoder
        self.decoder = nil
        self.parameters = parameters
        self.damaged = 0
        self.isDeferred = !self.openings.take(now: now)
        guard !self.isDeferred else { return }
        self.decoder = try AudioDecoder.open(
            parameters, sampleRate: self.sampleRate, place: self.place, following: before)
    }

    /// Opens the deferred decoder if the budget allows it now.
    mutating func openDeferred(now: Int64?) throws(MediaError) {
        guard self.isDeferred, let parameters = self.parameters, self.openings.take(now: now) else { return }
        self.isDeferred = false
        self.decoder = try AudioDecoder.open(parameters, sampleRate: self.sampleRate, place: self.place)
    }

    /// Records whether a packet was intact, and reopens the decoder when ``patience`` consecutive packets were damaged,
    /// as soon as ``DecoderOpenLimiter`` allows it.
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
        // If it cannot be opened, keep the old one; a second later there may be more memory. There was a second of
        // silence, so the new decoder need not follow the old one without a gap.
        if let fresh = try? AudioDecoder.open(parameters, sampleRate: self.sampleRate, place: self.place) {
            self.decoder = fresh
        }
        defer { self.isReported = true }
        if self.isReported { return .reopened(failure: nil) }
        return .reopened(
            failure: MediaError(
                .invalidData, "the last \(Self.patience) audio packets were damaged", at: self.place,
                fix: "restart the encoder's audio"))
    }

    /// Sets what is done with the audio of the next packets. If the filter changes while audio comes, it is cross-faded.
    mutating func prepare(_ processing: AudioProcessing) {
        if let noise = processing.noise, self.suppressor == nil {
            self.suppressor = NoiseSuppressor(self.restarts ? noise : nil, place: self.place)
        }
        if let suppressor = self.suppressor {
            suppressor.choose(processing.noise)
            if suppressor.isIdle { self.suppressor = nil }
        }
        if processing.autoGain, self.gain == nil { self.gain = AutoGain() }
        if let gain = self.gain {
            gain.isOn = processing.autoGain
            if gain.isIdle { self.gain = nil }
        }
    }

    /// Returns why the noise filter could not be opened or has failed, once.
    func takeNoiseFailure() -> MediaError? { self.suppressor?.takeFailure() }

    /// Passes a block through the noise filter and the automatic gain, if there are any.
    private static func refine(
        _ samples: [Float], at position: Int64, isRemapped: Bool, _ suppressor: NoiseSuppressor?, _ gain: AutoGain?,
        _ body: NoiseSuppressor.Output
    ) {
        func raise(_ samples: [Float], _ position: Int64, _ isRemapped: Bool) {
            body(gain?.process(samples) ?? samples, position, isRemapped)
        }
        if let suppressor {
            suppressor.process(samples, at: position, isRemapped: isRemapped, raise)
        } else {
            raise(samples, position, isRemapped)
        }
    }

    /// Closes the decoder at the end of a publication, and places the audio that the noise filter still holds.
    mutating func end(_ id: UInt8, in buffer: SourceBuffer) {
        if let suppressor = self.suppressor {
            let gain = self.gain
            suppressor.finish { samples, position, isRemapped in
                let raised = gain?.process(samples) ?? samples
                if buffer.isPaced {
                    buffer.push(raised, at: position, restart: isRemapped, track: id)
                } else {
                    self.placement.place(raised, at: position, isRemapped: isRemapped) { samples, at, hasSeam in
                        buffer.push(samples, at: at, restart: hasSeam, track: id)
                    }
                }
            }
        }
        self.suppressor = nil
        self.gain?.begin()
        self.decoder = nil
        self.isDeferred = false
        self.isReported = false
        self.restarts = true
    }

    /// Decodes a packet in an offline program and places the audio sample by sample.
    ///
    /// - Returns: Whether the packet was intact.
    mutating func lay(_ packet: CodedPacket, at position: Int64, in buffer: SourceBuffer) -> Bool {
        guard let decoder = self.decoder else { return true }
        var next = position
        let restarts = self.restarts
        self.restarts = false
        let (suppressor, gain) = (self.suppressor, self.gain)
        return decoder.decode(packet) { block in
            Self.refine(block.samples, at: next, isRemapped: restarts, suppressor, gain) { samples, at, restarts in
                buffer.push(samples, at: at, restart: restarts, track: packet.track)
            }
            next &+= Int64(block.frames)
        }
    }

    /// Decodes a packet in a live program and places the audio with drift correction.
    ///
    /// - Parameter seams: Number of seams of the source's timeline so far.
    /// - Returns: Whether the packet was intact.
    mutating func place(_ packet: CodedPacket, at position: Int64, seams: Int, in buffer: SourceBuffer) -> Bool {
        guard let decoder = self.decoder else { return true }
        if self.restarts { self.placement.reset() }
        self.restarts = false
        var next = position
        let (suppressor, gain) = (self.suppressor, self.gain)
        return decoder.decode(packet) { block in
            let isRemapped = self.seams != seams
            self.seams = seams
            Self.refine(block.samples, at: next, isRemapped: isRemapped, suppressor, gain) { samples, at, isRemapped in
                self.placement.place(samples, at: at, isRemapped: isRemapped) { samples, at, hasSeam in
                    buffer.push(samples, at: at, restart: hasSeam, track: packet.track)
                }
            }
            next &+= Int64(block.frames)
        }
    }
}
