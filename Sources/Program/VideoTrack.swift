import LibAV
import MediaTypes

/// The video decoder of one source with its conversion, used only on the source's thread.
///
/// States: closed → waiting for a key frame (``configure(_:rotation:now:)``) → decoding → failing (``patience`` packets
/// produced no frame) → decoding again with another decoder, from a later key frame. Only the first failure in a
/// publication, or since a frame was output, is reported. If formats change too often, opening is deferred: there is no
/// decoder until ``DecoderOpenLimiter`` allows one for the latest format.
struct VideoTrack {
    struct Settings: Sendable {
        var threads: Int
        var maxPixels: Int64
        /// Whether a frame with concealed errors, and all frames up to the next key frame, are not output.
        var holdsDamaged: Bool
        var place: String
    }

    /// Result of processing one packet, or one change or the end of the stream.
    struct Outcome {
        /// Frames converted for the scene, in presentation order; each has the pts of its packet.
        var frames: [Picture] = []
        /// Whether libavcodec reported damaged data.
        var isDamaged = false
        /// Whether the packet was not decoded, because there was no key frame since the decoder was opened, or because
        /// no decoder is open.
        var isSkipped = false
        /// Whether the decoder was reopened after a run of packets that produced no frame.
        var isReopened = false
        /// The error, if this is the first failure since a frame was last output, or in this publication.
        var failure: MediaError?
        /// The pts of frames that were decoded only as references of later ones.
        var leftOut: [Int64] = []
    }

    /// Number of consecutive packets without a frame (damaged packets count twice) after which the decoder is reopened.
    /// It is more than reordering and frame threads delay a frame, and one second of damaged packets at 30 fps.
    static let patience = 60
    /// Number of packets skipped while waiting for a key frame, after which any packet is passed to the decoder:
    /// streams with open GOPs have recovery points instead, at which libavcodec can begin too. Five seconds at 30 fps.
    static let keyPatience = 150

    private let settings: Settings
    private let normalizer: PictureNormalizer
    private var parameters: CodecParameters?
    private var decoder: VideoDecoder?
    private var needsKey = true
    private var skipped = 0
    private var barren = 0
    private var isFailing = false
    private var isReported = false
    private var isHolding = false
    private var openings = DecoderOpenLimiter()
    /// Whether the format is known but opening a decoder for it is deferred.
    private var isDeferred = false
    /// Buffer that is reused for every packet; empty in between.
    private var decoded: [Picture] = []
    private var shown: [Picture] = []

    init(settings: Settings) {
        self.settings = settings
        self.normalizer = PictureNormalizer(place: settings.place)
    }

    /// Opens a decoder for a new format, after outputting the remaining frames of the previous one. If only the
    /// orientation has changed, as when a phone is turned, or nothing at all, the decoder stays open, so that no key
    /// frame is needed.
    ///
    /// - Parameter now: See ``DecoderOpenLimiter/take(now:)``.
    mutating func configure(_ parameters: CodecParameters, rotation: Int, now: Int64? = nil) -> Outcome {
        if self.decoder != nil, let known = self.parameters, known.isDecoded(like: parameters) {
            self.parameters = parameters
            return Outcome()
        }
        var outcome = self.finish(rotation: rotation)
        self.parameters = parameters
        self.isFailing = false
        self.isDeferred = !self.openings.take(now: now)
        if !self.isDeferred { self.open(&outcome) }
        return outcome
    }

    /// Whether nothing is shown before the next key frame: packets were skipped because no key frame has arrived since the
    /// decoder was opened, the last frames were damaged and are held, or the decoder fails.
    var awaitsKeyFrame: Bool { self.skipped > 0 || self.isHolding || self.isFailing }

    /// Flushes the decoder. The next packet must be one at which decoding can begin.
    func flush() { self.decoder?.flush() }

    /// Decodes a packet and converts the resulting frames.
    ///
    /// - Parameters:
    ///   - rotation: The operator's rotation in quarter turns clockwise.
    ///   - past: The pts of frames that will not be shown and need no conversion.
    ///   - skipsLoopFilter: See ``VideoDecoder/setSkipsLoopFilter(_:)``.
    ///   - now: See ``DecoderOpenLimiter/take(now:)``.
    mutating func decode(
        _ packet: CodedPacket, rotation: Int, past: Set<Int64> = [], skipsLoopFilter: Bool = false, now: Int64? = nil
    ) -> Outcome {
        var outcome = Outcome()
        swap(&outcome.frames, &self.shown)
        if self.isDeferred {
            self.isDeferred = !self.openings.take(now: now)
            if !self.isDeferred { self.open(&outcome) }
        } else if self.isFailing, packet.isKey, self.openings.take(now: now) {
            self.isFailing = false
            self.decoder = nil
            self.open(&outcome)
            outcome.isReopened = self.decoder != nil
        }
        guard let decoder = self.decoder else {
            outcome.isSkipped = true
            return outcome
        }
        if self.needsKey {
            guard packet.isKey || self.skipped >= Self.keyPatience else {
                self.skipped += 1
                outcome.isSkipped = true
                return outcome
            }
            self.needsKey = false
            self.skipped = 0
        }
        var decoded: [Picture] = []
        swap(&decoded, &self.decoded)
        defer {
            decoded.removeAll(keepingCapacity: true)
            swap(&decoded, &self.decoded)
        }
        decoder.setSkipsLoopFilter(skipsLoopFilter)
        outcome.isDamaged = !decoder.decode(packet) { decoded.append($0) }
        let hasPicture = !decoded.isEmpty
        if !past.isEmpty {
            // A deinterlacer needs every frame.
            outcome.leftOut = decoded.filter { !$0.traits.isInterlaced }.compactMap(\.pts).filter { past.contains($0) }
            decoded.removeAll { picture in picture.pts.map { outcome.leftOut.contains($0) } ?? false }
        }
        self.convert(decoded, rotation, at: packet.arrival, &outcome)
        self.judge(hasPicture, &outcome)
        return outcome
    }

    /// Takes back the memory of an outcome's frames, for the next outcome.
    mutating func reuse(_ outcome: inout Outcome) {
        outcome.frames.removeAll(keepingCapacity: true)
        swap(&outcome.frames, &self.shown)
    }

    /// Outputs the frames still inside the decoder and the filters, and closes the decoder.
    mutating func finish(rotation: Int) -> Outcome {
        var outcome = Outcome()
        var rest: [Picture] = []
        self.decoder?.finish { rest.append($0) }
        self.decoder = nil
        self.isDeferred = false
        // The parameters hold the orientation of these frames.
        self.convert(rest, rotation, at: 0, &outcome)
        self.parameters = nil
        self.normalizer.finish { outcome.frames.append($0) }
        return outcome
    }

    /// Ends the publication: the first failure of the next one is reported again.
    mutating func reset() { self.isReported = false }

    private mutating func open(_ outcome: inout Outcome) {
        guard let parameters = self.parameters else { return }
        self.needsKey = true
        self.skipped = 0
        self.barren = 0
        self.isHolding = false
        do {
            try self.checkSize(parameters)
            self.decoder = try VideoDecoder.open(
                parameters, threads: Int32(clamping: self.settings.threads), maxPixels: self.settings.maxPixels,
                place: self.settings.place)
        } catch {
            self.fail(error, &outcome)
        }
    }

    /// Rejects a stream whose own header says that it is too large, before libavcodec sees it. A header that cannot be
    /// parsed here is left to the decoder, which has the same limit.
    private func checkSize(_ parameters: CodecParameters) throws(MediaError) {
        guard let size = Self.size(parameters), Int64(size.width) * Int64(size.height) > self.settings.maxPixels else {
            return
        }
        throw MediaError(
            .tooLarge,
            "frames of \(size.width)x\(size.height) are larger than the limit of \(self.settings.maxPixels) samples",
            at: self.settings.place, fix: "lower the resolution, or raise limits.maxInputWidth and maxInputHeight")
    }

    /// Returns the frame size from the codec configuration; `nil` if it cannot be read, and for VP8 and VP9, which have
    /// it only in key frames, where libavcodec checks it.
    private static func size(_ parameters: CodecParameters) -> (width: Int, height: Int)? {
        let record = parameters.configuration
        switch parameters.codec {
        case .h264: return SequenceParameterSet(record: record).map { ($0.width, $0.height) }
        case .hevc: return HEVCSequenceParameterSet(record: record).map { ($0.width, $0.height) }
        case .av1: return AV1SequenceHeader(record: record).map { ($0.maxWidth, $0.maxHeight) }
        default: return nil
        }
    }

    private mutating func convert(
        _ decoded: [Picture], _ rotation: Int, at time: Int64, _ outcome: inout Outcome
    ) {
        let container = self.parameters?.orientation ?? .upright
        for picture in decoded where self.isWelcome(picture) {
            let orientation = (picture.traits.orientation ?? container).turned(by: rotation)
            do {
                try self.normalizer.normalize(picture, orientation: orientation, at: time) {
                    outcome.frames.append($0)
                }
            } catch {
                self.fail(error, &outcome)
            }
        }
        if !outcome.frames.isEmpty { self.isReported = false }
    }

    private mutating func isWelcome(_ picture: Picture) -> Bool {
        guard self.settings.holdsDamaged else { return true }
        if picture.traits.isDamaged {
            self.isHolding = true
        } else if picture.traits.isKey {
            self.isHolding = false
        }
        return !self.isHolding
    }

    private mutating func judge(_ hasPicture: Bool, _ outcome: inout Outcome) {
        if hasPicture {
            self.barren = 0
            return
        }
        self.barren += outcome.isDamaged ? 2 : 1
        guard self.barren >= Self.patience, !self.isFailing else { return }
        self.isFailing = true
        self.fail(
            MediaError(
                .invalidData, "the last \(Self.patience / 2) to \(Self.patience) packets produced no frame",
                at: self.settings.place,
                fix: "restart the encoder; the decoder is reopened at the next key frame"), &outcome)
    }

    private mutating func fail(_ error: MediaError, _ outcome: inout Outcome) {
        if self.isReported { return }
        self.isReported = true
        outcome.failure = error
    }
}

extension CodecParameters {
    /// Whether a decoder for these parameters can decode packets of `other`: the two differ in the orientation at most.
    fileprivate func isDecoded(like other: CodecParameters) -> Bool {
        self.codec == other.codec && self.configuration == other.configuration && self.track == other.track
            && self.sampleRate == other.sampleRate && self.channels == other.channels && self.layout == other.layout
            && self.color == other.color
    }
}
