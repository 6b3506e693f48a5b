import LibAV
import MediaTypes

/// The encoder of one rendition, or the cheaper one that stands in its place. On one thread.
///
/// States: full → cheap, at an IDR picture of the grid (``exchange(_:)``) or at once (``giveUp(showing:_:)``) → full again, at
/// an IDR picture of the grid. Either fits the initialization segment of the other byte for byte. Other bit rates are another
/// encoder in the same state (``exchange(_:_:)``): libx264 cannot change the target of its average once it is open.
struct RungEncoder {
    private struct Inside {
        var tick: Int64
        var gop: Int64
        /// Of the GOP.
        var first: Int64
    }

    private let rung: Rung
    private let encoders: LadderEncoders
    /// With the size of the pictures now.
    private(set) var settings: VideoEncoderSettings
    private var encoder: any FrameEncoder
    /// It is the sibling that codes.
    private(set) var isCheap = false
    /// Bit rates that no encoder for pictures of this size has in the way that is told of it.
    private var unfitRates: BitRates?
    /// The GOP of the newest picture; `nil`: the next one is an IDR picture whatever its GOP.
    private var gop: Int64?
    /// See ``LadderStage/Settings/partFrames``.
    private let partFrames: Int64?
    /// The grid's GOP of the newest picture, and its first tick.
    private var grid: (gop: Int64, first: Int64)?
    /// Pictures none of whose packets, and of later ones, have come out. In order.
    private var inside: [Inside] = []
    /// The newest tick that has a packet.
    private var newest = Int64.min

    private var place: String { "encode[\(self.rung.name)]" }

    /// - Throws: What libx264 says.
    ///
    /// - Parameter partFrames: See ``LadderStage/Settings/partFrames``.
    static func open(
        _ rung: Rung, by encoders: LadderEncoders, partFrames: Int?
    ) throws(MediaError) -> RungEncoder {
        let encoder = try encoders.video(rung.settings, "encode[\(rung.name)]")
        return RungEncoder(rung: rung, encoders: encoders, encoder: encoder, partFrames: partFrames)
    }

    private init(rung: Rung, encoders: LadderEncoders, encoder: any FrameEncoder, partFrames: Int?) {
        self.encoders = encoders
        self.partFrames = partFrames.map { Int64(max(1, $0)) }
        self.rung = rung
        self.settings = rung.settings
        self.encoder = encoder
        self.inside.reserveCapacity(128)
    }

    var parameters: CodecParameters { CodecParameters(codec: .h264, configuration: self.encoder.parameterSets) }

    /// Whether a picture of that GOP is an IDR picture of the grid, with pictures before it.
    func begins(_ gop: Int64) -> Bool { self.gop.map { $0 != gop } ?? false }

    /// It has had no frame yet: its replacement need not wait for the grid.
    var isUnused: Bool { self.inside.isEmpty && self.newest == .min }

    /// Goes on with pictures of another size, or after a time in which others stood for its packets. What the encoder held is
    /// lost unless ``finish(_:)`` was called before.
    ///
    /// - Parameter rates: `nil`: as before.
    mutating func reopen(_ format: PictureFormat, rates: BitRates?) throws(MediaError) {
        if let rates { self.settings.rates = rates }
        self.unfitRates = nil
        (self.settings.width, self.settings.height) = (format.width, format.height)
        self.take(try self.encoders.video(self.settings, self.place), isCheap: false)
        self.gop = nil
    }

    /// - Parameters:
    ///   - tick: One the rung takes; rising.
    ///   - first: First tick of the GOP; `nil`: that of its first picture.
    ///   - isKey: It is an IDR picture even where it begins no GOP of the grid.
    mutating func encode(
        _ picture: Picture, tick: Int64, gop: Int64, first: Int64? = nil, isKey: Bool = false,
        _ body: (CodedPacket) -> Void
    ) throws(MediaError) {
        let step = Int64(self.rung.frameStep)
        let begin = first ?? self.grid.flatMap { $0.gop == gop ? $0.first : nil } ?? tick
        self.grid = (gop, begin)
        self.inside.append(Inside(tick: tick, gop: gop, first: begin))
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
        let known = self.inside.firstIndex { $0.tick > newest } ?? self.inside.count
        self.inside.removeFirst(known)
    }

    /// Everything that is inside comes out. After this it takes no more, but for ``reopen(_:)``.
    mutating func finish(_ body: (CodedPacket) -> Void) throws(MediaError) {
        try self.encoder.finish(body)
        self.inside.removeAll(keepingCapacity: true)
    }

    /// Another encoder codes from the next picture on, an IDR picture; what this one holds comes out first.
    ///
    /// - Returns: `false` when there is none that fits; nothing has changed then.
    mutating func exchange(_ body: (CodedPacket) -> Void) throws(MediaError) -> Bool {
        guard let other = self.replacement(isCheap: !self.isCheap) else { return false }
        try self.encoder.finish(body)
        self.take(other, isCheap: !self.isCheap)
        return true
    }

    /// An encoder with other bit rates codes from the next picture on, an IDR picture; what this one holds comes out first.
    ///
    /// Where that one's parameter sets are others, as they may be while the canvas has another size, the rates count from the next
    /// ``reopen(_:rates:)`` on.
    mutating func exchange(_ rates: BitRates, _ body: (CodedPacket) -> Void) throws(MediaError) {
        guard rates != self.settings.rates, rates != self.unfitRates else { return }
        let before = self.settings.rates
        self.settings.rates = rates
        guard let other = self.replacement(isCheap: self.isCheap) else {
            // What else is opened meanwhile must go on with what this one has said.
            (self.settings.rates, self.unfitRates) = (before, rates)
            return
        }
        try self.encoder.finish(body)
        self.take(other, isCheap: self.isCheap)
    }

    /// The sibling codes from here on, and what is inside is given up: pictures that wait in there to be looked at and coded
    /// at the full price. Their ticks have `held` instead, which costs next to nothing, behind an IDR picture; so every tick
    /// has its packet as before. Reordered pictures alone may be left out, whose successor has come out already: the one
    /// before them is shown for longer.
    ///
    /// - Returns: `false` when there is none that fits; nothing has changed then.
    mutating func giveUp(showing held: Picture, _ body: (CodedPacket) -> Void) throws(MediaError) -> Bool {
        guard !self.isCheap, let other = self.replacement(isCheap: true) else { return false }
        let left = self.inside
        self.take(other, isCheap: true)
        self.gop = nil
        for picture in left {
            try self.encode(held, tick: picture.tick, gop: picture.gop, first: picture.first, body)
        }
        return true
    }

    private mutating func take(_ encoder: any FrameEncoder, isCheap: Bool) {
        self.encoder = encoder
        self.isCheap = isCheap
        self.inside.removeAll(keepingCapacity: true)
    }

    /// An encoder whose packets fit the initialization segment of this one.
    private func replacement(isCheap: Bool) -> (any FrameEncoder)? {
        guard let wanted = isCheap ? self.settings.sibling : self.settings,
            let other = try? self.encoders.video(wanted, self.place),
            other.parameterSets == self.encoder.parameterSets
        else { return nil }
        return other
    }
}
