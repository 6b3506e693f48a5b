/// Stretches interleaved stereo by parts per billion, so that a source whose clock runs fast or slow stays in step.
///
/// A windowed sinc (``DriftFilter``) is read at a place that moves a little faster or slower than the input. The place is
/// an exact fraction: at a constant ratio, any length of input gives the output it should give to within one pair, after
/// hours as after a second. It goes on across calls and changes of ratio, so neither can be heard. At 0 from the
/// start, the output is the input bit for bit, ``latencyPairs`` later.
///
/// Invariant (1): `carry` holds the last ``DriftFilter/taps`` − 1 pairs of the input.
/// Invariant (2): the next output's window begins `place / scale` pairs into `carry`, where `scale` is 10⁹ plus the
/// ratio of the last call; it never begins before it.
@safe
public struct DriftResampler: Sendable {
    /// Pairs of delay between input and output.
    public static let latencyPairs = DriftFilter.taps / 2
    /// The largest ratio that is obeyed, in parts per billion either way: four times what a publisher's clock is off by.
    public static let limit = 2_000_000

    /// Parts of one second in a second: what a ratio is counted in.
    private static let billion: Int64 = 1_000_000_000
    /// Pairs that are worked on at once; longer input is taken in pieces of this size, that stay in the cache.
    private static let piecePairs = 1024
    private static let carryPairs = DriftFilter.taps - 1

    /// Carried pairs, and behind them room for a piece of input.
    private var carry: [Float]
    private var place: Int64 = 0
    private var scale = billion

    public init() {
        self.carry = [Float](repeating: 0, count: (Self.carryPairs + Self.piecePairs) * 2)
    }

    /// Forgets the input so far, as if nothing had come yet. No allocation.
    public mutating func reset() {
        for index in self.carry.indices { self.carry[index] = 0 }
        self.place = 0
        self.scale = Self.billion
    }

    /// Pairs the next call gives for `inputPairs` pairs at that ratio.
    public func outputPairs(for inputPairs: Int, partsPerBillion: Int) -> Int {
        let scale = Self.scale(partsPerBillion)
        let place = Self.rescale(self.place, from: self.scale, to: scale)
        return Self.windows(in: inputPairs, from: place, scale: scale)
    }

    /// Replaces `output` by what `input` gives. No allocation once `output` has the capacity.
    ///
    /// - Parameters:
    ///   - input: Interleaved stereo, any number of pairs.
    ///   - partsPerBillion: Above 0 there is more output than input, below 0 less. Cut to ±``limit``.
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

    /// Writes what `input` gives to the beginning of `output`. No allocation.
    ///
    /// - Parameters:
    ///   - input: Interleaved stereo, any number of pairs.
    ///   - output: Room for ``outputPairs(for:partsPerBillion:)`` pairs; what does not fit is left out.
    ///   - partsPerBillion: Above 0 there is more output than input, below 0 less. Cut to ±``limit``.
    /// - Returns: How many pairs were written.
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
            // `taken + piece` ≤ pairs, and a piece fits behind the carried pairs.
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
            // `piece` is at most piecePairs long: it fits behind the carried pairs.
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

    /// The same place counted in other parts, to the nearest: less than 10⁻⁹ of a pair off.
    private static func rescale(_ place: Int64, from old: Int64, to new: Int64) -> Int64 {
        // Both factors are below 1.1 × 10⁹.
        old == new ? place : (place &* new &+ old / 2) / old
    }

    /// Windows that lie within the carried pairs and `pairs` more: those that begin before pair number `pairs`.
    private static func windows(in pairs: Int, from place: Int64, scale: Int64) -> Int {
        let end = Int64(pairs) &* scale
        return end <= place ? 0 : Int((end &- place &+ self.billion &- 1) / self.billion)
    }
}
