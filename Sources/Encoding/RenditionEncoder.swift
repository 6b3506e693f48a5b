import LibAV
import MediaTypes

/// The encoder of one rendition, or the cheaper encoder (the sibling) that replaces it on an overloaded machine. Used
/// on one thread.
///
/// States: full → cheap, at an IDR frame of the GOP grid (``exchange(_:)``) or at once
/// (``giveUp(showing:keepsMotion:_:)``) → full again, at an IDR frame of the grid. Both encoders use the same
/// initialization segment, byte for byte. For other bit rates, the encoder is replaced by another one in the same state
/// (``exchange(_:_:)``), because libx264 cannot change its average bit rate after it was opened.
///
/// A hardware encoder has libx264 on standby (``StandbyEncoder``), and no sibling before libx264 has taken over.
struct RenditionEncoder {
    /// A replacement of the hardware encoder by libx264.
    struct Change {
        var fallback: EncoderFallback
        /// The new configuration of the stream; `nil` during ``reopen(_:rates:tick:)``, whose caller reports it.
        var reconfiguration: EncodingStage.Reconfiguration?
    }

    private struct PendingFrame {
        var tick: Int64
        var gop: Int64
        /// First tick of the GOP that the frame belongs to.
        var first: Int64
        /// The frame itself, kept only at some ticks, for ``giveUp(showing:keepsMotion:_:)``.
        var picture: Picture?
    }

    private let rendition: EncodedRendition
    private let encoders: LadderEncoders
    /// Encoder settings, with the size of the current frames.
    private(set) var settings: VideoEncoderSettings
    private var encoder: any FrameEncoder
    /// The encoder in use if it is a hardware encoder with libx264 on standby, or was one until libx264 took over.
    private var standby: StandbyEncoder?
    private let changed: (Change) -> Void
    /// Set if libx264 was opened at the start instead of the hardware encoder.
    private(set) var startFallback: EncoderFallback?
    /// Whether the sibling, the cheaper encoder, is in use.
    private(set) var isCheap = false
    /// Bit rates for which no encoder with the same parameter sets exists at this frame size.
    private var unfitRates: BitRates?
    /// GOP of the newest frame; `nil`: the next frame is an IDR frame whatever its GOP.
    private var gop: Int64?
    /// Length of a part in ticks; `nil`: there are no parts. See ``EncodingStage/Settings/partFrames``.
    private let partFrames: Int64?
    /// Frames at multiples of this number of ticks are kept while they are inside the encoder; `nil`: no frame is kept.
    private let stride: Int64?
    private var hasSibling: Bool
    /// GOP of the newest frame in the grid, and its first tick.
    private var grid: (gop: Int64, first: Int64)?
    /// Frames inside the encoder, in order: no packet for them or for a later frame was output yet.
    private var pendingFrames: [PendingFrame] = []
    /// The newest tick for which a packet was output.
    private var newest = Int64.min

    /// Opens the full encoder of a rendition.
    ///
    /// - Parameters:
    ///   - partFrames: See ``EncodingStage/Settings/partFrames``.
    ///   - stride: Ticks between the frames that ``giveUp(showing:keepsMotion:_:)`` shows; `nil` if it is never called.
    ///   - changed: Called when libx264 replaces a hardware encoder, after the last packet of the latter and before the
    ///     first one of libx264.
    /// - Throws: The error of the encoder, unless it is a hardware encoder that libx264 may replace at the start.
    static func open(
        _ rendition: EncodedRendition, by encoders: LadderEncoders, partFrames: Int?, stride: Int64?,
        changed: @escaping (Change) -> Void = { _ in }
    ) throws(MediaError) -> RenditionEncoder {
        var rendition = rendition
        var fallback: EncoderFallback?
        let encoder: any FrameEncoder
        do throws(MediaError) {
            encoder = try self.open(rendition.settings, rendition, by: encoders, in: DeadlineEncoder.Limits(), changed)
        } catch {
            guard rendition.settings.implementation.isHardware, rendition.fallsBackAtStart else { throw error }
            fallback = EncoderFallback(from: rendition.settings.implementation, error: error, tick: nil)
            rendition.settings.implementation = .libx264
            encoder = try self.open(rendition.settings, rendition, by: encoders, in: DeadlineEncoder.Limits(), changed)
        }
        var opened = RenditionEncoder(
            rendition: rendition, encoders: encoders, encoder: encoder, partFrames: partFrames, stride: stride,
            changed: changed)
        opened.startFallback = fallback
        return opened
    }

    private init(
        rendition: EncodedRendition, encoders: LadderEncoders, encoder: any FrameEncoder, partFrames: Int?,
        stride: Int64?,
        changed: @escaping (Change) -> Void
    ) {
        self.encoders = encoders
        self.stride = stride
        self.hasSibling = rendition.settings.sibling != nil
        self.partFrames = partFrames.map { Int64(max(1, $0)) }
        self.rendition = rendition
        self.settings = rendition.settings
        self.encoder = encoder
        self.standby = encoder as? StandbyEncoder
        self.changed = changed
        self.pendingFrames.reserveCapacity(128)
    }

    /// Opens an encoder; a hardware encoder gets libx264 on standby.
    private static func open(
        _ settings: VideoEncoderSettings, _ rendition: EncodedRendition, after before: StandbyEncoder? = nil,
        by encoders: LadderEncoders, in limits: DeadlineEncoder.Limits = .running, _ changed: @escaping (Change) -> Void
    ) throws(MediaError) -> any FrameEncoder {
        let place = "encode[\(rendition.name)]"
        guard settings.implementation.isHardware else { return try encoders.video(settings, place) }
        return try StandbyEncoder.open(settings, after: before, by: encoders, limits: limits, place: place) { change in
            let tick = change.pts &* Int64(rendition.frameStep)
            changed(
                Change(
                    fallback: EncoderFallback(from: settings.implementation, error: change.error, tick: tick),
                    reconfiguration: EncodingStage.Reconfiguration(
                        parameters: change.parameters, initialization: change.initialization, width: settings.width,
                        height: settings.height, tick: tick)))
        }
    }

    /// Result of opening the encoder, for the thread that started the encoder's thread.
    var opened: OpenedEncoder {
        OpenedEncoder(
            parameters: self.parameters, initialization: self.initialization,
            standby: self.standby?.softwareParameters, fallback: self.startFallback)
    }

    /// Parameters for initialization segments if they contain more than ``parameters``: the parameter sets of a
    /// hardware encoder and of libx264.
    var initialization: CodecParameters? { self.standby?.initialization }

    var parameters: CodecParameters { CodecParameters(codec: .h264, configuration: self.encoder.parameterSets) }

    /// Whether the next frame, if it belongs to `gop`, begins a new GOP after earlier frames, and so is an IDR frame.
    func begins(_ gop: Int64) -> Bool { self.gop.map { $0 != gop } ?? false }

    /// Whether the encoder has had no frame yet, so that its replacement need not wait for the next IDR frame.
    var isUnused: Bool { self.pendingFrames.isEmpty && self.newest == .min }

    /// Continues with frames of another size, or after passthrough. Frames inside the encoder are lost unless
    /// ``finish(_:)`` was called before.
    ///
    /// If a hardware encoder does not open for the new size, then libx264 is opened, whether or not it may replace the
    /// hardware encoder at the start.
    ///
    /// - Parameters:
    ///   - rates: New bit rates; `nil`: unchanged.
    ///   - tick: Tick of the next frame.
    mutating func reopen(_ format: PictureFormat, rates: BitRates?, tick: Int64) throws(MediaError) {
        if let rates { self.settings.rates = rates }
        self.unfitRates = nil
        (self.settings.width, self.settings.height) = (format.width, format.height)
        do throws(MediaError) {
            self.take(
                try Self.open(self.settings, self.rendition, after: self.standby, by: self.encoders, self.changed),
                isCheap: false)
        } catch {
            guard self.settings.implementation.isHardware else { throw error }
            let fallback = EncoderFallback(from: self.settings.implementation, error: error, tick: tick)
            self.becomeSoftware()
            self.take(try Self.open(self.settings, self.rendition, by: self.encoders, self.changed), isCheap: false)
            self.changed(Change(fallback: fallback))
        }
        self.gop = nil
    }

    /// Encodes a frame.
    ///
    /// - Parameters:
    ///   - tick: A tick at which the rendition has a frame; increasing.
    ///   - first: First tick of the GOP; `nil`: the tick of its first frame.
    ///   - isKey: Whether to encode an IDR frame even if the frame does not begin a GOP of the grid.
    mutating func encode(
        _ picture: Picture, tick: Int64, gop: Int64, first: Int64? = nil, isKey: Bool = false,
        _ body: (CodedPacket) -> Void
    ) throws(MediaError) {
        let step = Int64(self.rendition.frameStep)
        let begin = first ?? self.grid.flatMap { $0.gop == gop ? $0.first : nil } ?? tick
        self.grid = (gop, begin)
        // Only frames that the sibling could encode are kept: each holds a whole frame in memory.
        let isKept = !self.isCheap && self.hasSibling && (self.stride.map { tick % $0 == 0 } ?? false)
        self.pendingFrames.append(PendingFrame(tick: tick, gop: gop, first: begin, picture: isKept ? picture : nil))
        let next = tick + step - begin
        let endsPart = self.settings.bFrames > 0 && self.partFrames.map { next % $0 < step } ?? false
        var newest = self.newest
        try self.encoder.encode(
            picture, pts: tick / step, forceIDR: isKey || gop != self.gop, forceP: endsPart
        ) { packet in
            newest = max(newest, packet.pts / VideoEncoder.ticksPerPicture * step)
            body(packet)
        }
        self.newest = newest
        self.gop = gop
        self.noteFailure()
        let known = self.pendingFrames.firstIndex { $0.tick > newest } ?? self.pendingFrames.count
        self.pendingFrames.removeFirst(known)
    }

    /// Outputs all frames inside the encoder. After this, only ``reopen(_:rates:tick:)`` makes it usable again.
    mutating func finish(_ body: (CodedPacket) -> Void) throws(MediaError) {
        try self.encoder.finish(body)
        self.pendingFrames.removeAll(keepingCapacity: true)
        self.noteFailure()
    }

    /// Replaces the full encoder by the sibling, or the sibling by the full encoder, from the next frame on, which is
    /// an IDR frame. The frames inside the old encoder are output first.
    ///
    /// - Returns: `false` if no encoder with the same parameter sets exists; nothing has changed then.
    mutating func exchange(_ body: (CodedPacket) -> Void) throws(MediaError) -> Bool {
        guard let other = self.replacement(isCheap: !self.isCheap) else { return false }
        try self.encoder.finish(body)
        self.take(other, isCheap: !self.isCheap)
        return true
    }

    /// Replaces the encoder by one with other bit rates from the next frame on, which is an IDR frame. The frames
    /// inside the old encoder are output first.
    ///
    /// If the new encoder's parameter sets differ, as is possible while the canvas has another size, the rates take
    /// effect at the next ``reopen(_:rates:tick:)``.
    mutating func exchange(_ rates: BitRates, _ body: (CodedPacket) -> Void) throws(MediaError) {
        guard rates != self.settings.rates, rates != self.unfitRates else { return }
        let before = self.settings.rates
        self.settings.rates = rates
        guard var other = self.replacement(isCheap: self.isCheap) else {
            // Encoders opened from now on must match the parameter sets in use.
            (self.settings.rates, self.unfitRates) = (before, rates)
            return
        }
        let isHardware = self.settings.implementation.isHardware
        try self.encoder.finish(body)
        self.noteFailure()
        if isHardware, !self.settings.implementation.isHardware {
            other = try Self.open(self.settings, self.rendition, by: self.encoders, self.changed)
        }
        self.take(other, isCheap: self.isCheap)
    }

    /// Switches to the sibling (the cheaper encoder) at once. The frames inside the full encoder, which would still be
    /// encoded at full cost, are encoded by the sibling instead, beginning with an IDR frame. A frame that was not kept
    /// is replaced by the kept frame before it, which costs almost nothing, so that every tick still has its packet.
    /// Only a reordered frame may be left out, if a later frame was output already; the frame before it is then shown
    /// longer.
    ///
    /// - Parameters:
    ///   - held: Frame that is shown if no frame was kept.
    ///   - keepsMotion: Whether kept frames are shown; if `false`, only `held` is shown, which takes the least time.
    /// - Returns: `false` if no encoder with the same parameter sets exists; nothing has changed then.
    mutating func giveUp(
        showing held: Picture, keepsMotion: Bool, _ body: (CodedPacket) -> Void
    ) throws(MediaError) -> Bool {
        guard !self.isCheap, let other = self.replacement(isCheap: true) else { return false }
        let left = self.pendingFrames
        self.take(other, isCheap: true)
        self.gop = nil
        var shown = keepsMotion ? left.lazy.compactMap(\.picture).first ?? held : held
        for frame in left {
            if keepsMotion { shown = frame.picture ?? shown }
            try self.encode(shown, tick: frame.tick, gop: frame.gop, first: frame.first, body)
        }
        return true
    }

    /// Notes that libx264 has taken over in the encoder in use, if it has.
    private mutating func noteFailure() {
        if self.standby?.isSoftware == true, self.settings.implementation.isHardware { self.becomeSoftware() }
    }

    /// Uses libx264's settings from now on: a hardware encoder that has failed is not opened again.
    private mutating func becomeSoftware() {
        self.settings = self.settings.software
        self.hasSibling = self.settings.sibling != nil
    }

    private mutating func take(_ encoder: any FrameEncoder, isCheap: Bool) {
        self.encoder = encoder
        self.standby = encoder as? StandbyEncoder
        self.isCheap = isCheap
        self.pendingFrames.removeAll(keepingCapacity: true)
    }

    /// Opens an encoder whose packets fit the current initialization segment; `nil` if there is none.
    private func replacement(isCheap: Bool) -> (any FrameEncoder)? {
        guard let wanted = isCheap ? self.settings.sibling : self.settings,
            let other = try? Self.open(wanted, self.rendition, by: self.encoders, self.changed),
            other.parameterSets == self.encoder.parameterSets,
            self.standby?.isSoftware != false
                || (other as? StandbyEncoder)?.initialization == self.standby?.initialization
        else { return nil }
        return other
    }
}
