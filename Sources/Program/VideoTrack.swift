import LibAV
import MediaTypes

/// The video decoder of one source and what stands behind it, alive only on the source's thread.
///
/// States: closed → waiting for a key picture (``configure(_:rotation:now:)``) → decoding → failing (``patience`` packets gave no
/// picture) → decoding again, by another decoder, from a later key picture. An episode begins with the first failure and
/// ends with the next picture; only its first failure is reported. Formats that change too often are deferred: there is no
/// decoder until ``OpeningBudget`` has one for the last of them.
struct VideoTrack {
    struct Settings: Sendable {
        var threads: Int
        var maxPixels: Int64
        /// Pictures the decoder had to guess are held back until the next key picture.
        var holdsDamaged: Bool
        var place: String
    }

    /// What one item led to.
    struct Outcome {
        /// Converted for the scene, in presentation order, pts in the packets' timescale.
        var pictures: [Picture] = []
        /// libavcodec found the data damaged.
        var isDamaged = false
        /// The packet was not decoded: no key picture yet.
        var isSkipped = false
        /// Another decoder goes on after a run of packets that gave no picture.
        var isReopened = false
        /// The first failure of an episode.
        var failure: MediaError?
        /// Numbers of pictures that were decoded for the sake of later ones alone.
        var leftOut: [Int64] = []
    }

    /// Packets in a row without a picture, damaged ones counting twice, after which the decoder is given up: more than
    /// any reordering and any number of frame threads hold, and one second of damage at 30 fps.
    static let patience = 60
    /// Packets skipped for want of a key picture after which the decoder shall look for itself: streams with open GOPs
    /// have recovery points instead, at which libavcodec begins cleanly as well. Five seconds at 30 fps.
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
    private var openings = OpeningBudget()
    /// The format is known, and no decoder is open for it yet.
    private var isDeferred = false
    /// Used again for each packet; empty in between.
    private var decoded: [Picture] = []
    private var shown: [Picture] = []

    init(settings: Settings) {
        self.settings = settings
        self.normalizer = PictureNormalizer(place: settings.place)
    }

    /// Opens a decoder for a new format; the pictures of the one before come out first. The same once more changes
    /// nothing.
    ///
    /// - Parameter now: See ``OpeningBudget/take(now:)``.
    mutating func configure(_ parameters: CodecParameters, rotation: Int, now: Int64? = nil) -> Outcome {
        if self.parameters == parameters, self.decoder != nil { return Outcome() }
        var outcome = self.finish(rotation: rotation)
        self.parameters = parameters
        self.isFailing = false
        self.isDeferred = !self.openings.take(now: now)
        if !self.isDeferred { self.open(&outcome) }
        return outcome
    }

    /// What is missing from here on was never needed: the next packet is a key picture.
    func flush() { self.decoder?.flush() }

    /// - Parameters:
    ///   - rotation: Quarter turns clockwise by the operator's will.
    ///   - past: Numbers of pictures nobody will see: they are not converted.
    ///   - skipsLoopFilter: See ``VideoDecoder/setSkipsLoopFilter(_:)``.
    ///   - now: See ``OpeningBudget/take(now:)``.
    mutating func decode(
        _ packet: CodedPacket, rotation: Int, past: Set<Int64> = [], skipsLoopFilter: Bool = false, now: Int64? = nil
    ) -> Outcome {
        var outcome = Outcome()
        swap(&outcome.pictures, &self.shown)
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
            // A deinterlacer needs every picture it can get.
            outcome.leftOut = decoded.filter { !$0.traits.isInterlaced }.compactMap(\.pts).filter { past.contains($0) }
            decoded.removeAll { picture in picture.pts.map { outcome.leftOut.contains($0) } ?? false }
        }
        self.convert(decoded, rotation, at: packet.arrival, &outcome)
        self.judge(hasPicture, &outcome)
        return outcome
    }

    /// Takes the memory of an outcome's pictures back, for the next one's.
    mutating func reuse(_ outcome: inout Outcome) {
        outcome.pictures.removeAll(keepingCapacity: true)
        swap(&outcome.pictures, &self.shown)
    }

    /// What decoder and filters still hold; after this there is no decoder.
    mutating func finish(rotation: Int) -> Outcome {
        var outcome = Outcome()
        var rest: [Picture] = []
        self.decoder?.finish { rest.append($0) }
        self.decoder = nil
        self.parameters = nil
        self.isDeferred = false
        self.convert(rest, rotation, at: 0, &outcome)
        self.normalizer.finish { outcome.pictures.append($0) }
        return outcome
    }

    /// Ends the publication: the next one's first failure is news again.
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

    /// Refuses what the stream itself says is too large, before libavcodec sees it. A parameter set we cannot read is the
    /// decoder's to judge; it has the same limit.
    private func checkSize(_ parameters: CodecParameters) throws(MediaError) {
        guard let size = Self.size(parameters), Int64(size.width) * Int64(size.height) > self.settings.maxPixels else {
            return
        }
        throw MediaError(
            .tooLarge, "pictures of \(size.width)x\(size.height), the limit is \(self.settings.maxPixels) samples",
            at: self.settings.place, fix: "publish smaller pictures, or raise limits.maxInputWidth and maxInputHeight")
    }

    /// VP9 and VP8 say their size in their key pictures only, which libavcodec checks.
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
                    outcome.pictures.append($0)
                }
            } catch {
                self.fail(error, &outcome)
            }
        }
        if !outcome.pictures.isEmpty { self.isReported = false }
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
                .invalidData, "\(Self.patience) packets in a row gave no picture", at: self.settings.place,
                fix: "restart the encoder; the decoder is tried again at each key picture"), &outcome)
    }

    private mutating func fail(_ error: MediaError, _ outcome: inout Outcome) {
        if self.isReported { return }
        self.isReported = true
        outcome.failure = error
    }
}
