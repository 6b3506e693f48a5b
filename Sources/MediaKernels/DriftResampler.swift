/// Stretches or shortens interleaved stereo by parts per billion, to compensate for a source whose clock runs fast or
/// slow.
///
/// A windowed sinc (``DriftFilter``) is evaluated at a position that moves slightly faster or slower than the input.
/// The position is an exact fraction: at a constant ratio, the output length is exact to within one pair, even after
/// hours. The position continues across calls and changes of the ratio, so neither is audible. If the ratio is 0 from
/// the start, the output is the input bit for bit, ``latencyPairs`` later.
///
/// Invariant (1): `carry` contains the last ``DriftFilter/taps`` − 1 pairs of the input.
/// Invariant (2): the window of the next output begins `place / scale` pairs into `carry`, where `scale` is 10⁹ plus
/// the ratio of the last call; it never begins before `carry`.
@safe
public struct DriftResampler: Sendable {
    /// Delay between input and output, in pairs.
    public static let latencyPairs = DriftFilter.taps / 2
    /// Largest ratio in parts per billion, in either direction; four times the usual drift limit of a publisher's
    /// clock.
    public static let limit = 2_000_000

    /// Denominator of ratios: parts per billion.
    private static let billion: Int64 = 1_000_000_000
    /// Number of pairs processed at once; longer input is processed in pieces of this size, which stay in the cache.
    private static let piecePairs = 1024
    private static let carryPairs = DriftFilter.taps - 1

    /// The last pairs of the previous input, followed by space for a piece of new input.
    private var carry: [Float]
    private var place: Int64 = 0
    private var scale = billion

    public init() {
        self.carry = [Float](repeating: 0, count: (Self.carryPairs + Self.piecePairs) * 2)
    }

    /// Discards all input so far, and continues as if silence had preceded. Does not allocate.
    public mutating func reset() {
        for index in self.carry.indices { self.carry[index] = 0 }
        self.place = 0
        self.scale = Self.billion
    }

    /// Returns the number of pairs that the next call of `process` outputs for `inputPairs` pairs at that ratio.
    public func outputPairs(for inputPairs: Int, partsPerBillion: Int) -> Int {
        let scale = Self.scale(partsPerBillion)
        let place = Self.rescale(self.place, from: self.scale, to: scale)
        return Self.windows(in: inputPairs, from: place, scale: scale)
    }

    /// Replaces `output` by the result for `input`. Does not allocate once `output` has the capacity.
    ///
    /// - Parameters:
    ///   - input: Interleaved stereo, any number of pairs.
    ///   - partsPerBillion: Above 0 the output is longer than the input, below 0 shorter. Limited to ±``limit``.
    public mutating func process(_ input: [Float], into output: inout [Float], partsPerBillion: Int) {
        let floats = self.outputPairs(for: input.count / 2, partsPerBillion: partsPerBillion) * 2
        if output.count > floats {
            output.removeLast(output.count - floats)
        } else if output.count < floats {
            output.append(contentsOf: repeatElement(0, count: floats - output.count))
        }
        unsafe input.withUnsafeBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                _ = unsafe self.process(input, into: output, partsPerBillion: partsPerBillion)
            }
        }
    }

    /// Writes the result for `input` to the beginning of `output`. Does not allocate.
    ///
    /// - Parameters:
    ///   - input: Interleaved stereo, any number of pairs.
    ///   - output: Space for ``outputPairs(for:partsPerBillion:)`` pairs; what does not fit is dropped.
    ///   - partsPerBillion: Above 0 the output is longer than the input, below 0 shorter. Limited to ±``limit``.
    /// - Returns: Number of pairs written.
    public mutating func process(
        _ input: UnsafeBufferPointer<Float>, into output: UnsafeMutableBufferPointer<Float>, partsPerBillion: Int
    ) -> Int {
        let scale = Self.scale(partsPerBillion)
        self.place = Self.rescale(self.place, from: self.scale, to: scale)
        self.scale = scale
        let pairs = input.count / 2
        guard pairs > 0, let source = input.baseAddress else { return 0 }
        var taken = 0
        var written = 0
        while taken < pairs {
            let piece = min(Self.piecePairs, pairs - taken)
            // `taken + piece` ≤ pairs, and a piece fits after the carried pairs.
            unsafe self.processPiece(
                UnsafeBufferPointer(start: source + taken * 2, count: piece * 2), into: output, written: &written)
            taken += piece
        }
        return written
    }

    private mutating func processPiece(
        _ piece: UnsafeBufferPointer<Float>, into output: UnsafeMutableBufferPointer<Float>, written: inout Int
    ) {
        let pairs = piece.count / 2
        let windows = Self.windows(in: pairs, from: self.place, scale: self.scale)
        let (place, scale) = (self.place, self.scale)
        let room = output.count / 2 - written
        unsafe self.carry.withUnsafeMutableBufferPointer { carry in
            guard let base = carry.baseAddress, let new = piece.baseAddress else { return }
            // `piece` is at most piecePairs long: it fits after the carried pairs.
            unsafe (base + Self.carryPairs * 2).update(from: new, count: pairs * 2)
            if let target = output.baseAddress, room > 0 {
                unsafe DriftFilter.run(
                    base, place: place, scale: scale, step: Self.billion, into: target + written * 2,
                    count: min(windows, room))
            }
            unsafe base.update(from: base + pairs * 2, count: Self.carryPairs * 2)
        }
        written += max(0, min(windows, room))
        self.place = place &+ Int64(windows) &* Self.billion &- Int64(pairs) &* scale
    }

    private static func scale(_ partsPerBillion: Int) -> Int64 {
        self.billion + Int64(max(-self.limit, min(self.limit, partsPerBillion)))
    }

    /// Converts a position from `old` to `new` units per pair, rounded to the nearest. The error is less than 10⁻⁹ of a
    /// pair.
    private static func rescale(_ place: Int64, from old: Int64, to new: Int64) -> Int64 {
        // Both factors are below 1.1 × 10⁹.
        old == new ? place : (place &* new &+ old / 2) / old
    }

    /// Returns the number of windows that fit into the carried pairs and `pairs` new ones: those that begin before pair
    /// number `pairs`.
    private static func windows(in pairs: Int, from place: Int64, scale: Int64) -> Int {
        let end = Int64(pairs) &* scale
        return end <= place ? 0 : Int((end &- place &+ self.billion &- 1) / self.billion)
    }
}
