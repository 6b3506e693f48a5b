/// Ring buffer of a source's audio on the program's sample grid: the last seconds, at absolute sample positions.
///
/// Positions are sample pairs since the room's `origin`. Positions that are not in the buffer read as silence, apart from
/// fade-outs.
package struct AudioRing: Sendable {
    /// Usual capacity in pairs: 5.4 s at 48 kHz, more than any jitter buffer.
    package static let capacity = 1 << 18
    /// A block that should start within this many pairs (30 ms at 48 kHz) of the end of the previous one is appended to
    /// it: millisecond timestamps and imprecise encoders jitter, and every correction is audible.
    package static let continuity: Int64 = 1440

    private var samples: [Float] = []
    /// Positions that contain samples: `start ..< end`.
    package private(set) var start: Int64 = 0
    package private(set) var end: Int64 = 0

    /// Length in pairs of fade-in, fade-out and cross-fade at a seam; 0: hard cuts, and every sample is kept unchanged.
    private let fade: Int64
    /// Remaining pairs over which the last output sample fades out if no audio follows; 0: the output was silent.
    private var dying: Int64 = 0
    /// Position where audio last began after inserted silence, and from which it fades in; `nil` after the fade-in.
    private var risesAt: Int64?
    /// Position where the most recently written fade-in begins; `nil` before the first one, and after earlier audio has
    /// replaced everything in the buffer.
    private var risen: Int64?
    /// The last sample pair that the program read.
    private var last: (Float, Float) = (0, 0)

    /// The program has read everything before this position.
    private var heard = Int64.min
    /// Whether the next block must begin with a seam, because the block that should have was too late to be heard.
    private var owesSeam = false

    /// Capacity of this buffer, in pairs.
    private let size: Int

    /// Creates an empty buffer.
    ///
    /// - Parameters:
    ///   - fade: Length of fades in pairs; 240 pairs are 5 ms at 48 kHz, short but without an audible click.
    ///   - size: Capacity in pairs; a power of two.
    package init(fade: Int64 = 0, size: Int = Self.capacity) {
        self.fade = max(0, fade)
        self.size = size
    }

    /// Writes `block` (interleaved stereo) at about `position`; see ``continuity``. A block that is as long as the
    /// buffer or longer is ignored.
    ///
    /// - Parameter restart: The source's clock was mapped anew, so the block does not continue what came before. With a
    ///   fade, the block replaces the samples from `position` on, with a cross-fade at its beginning; without a fade,
    ///   existing samples stay.
    /// - Returns: The actual position of the block's first pair.
    @discardableResult
    package mutating func write(_ block: [Float], at position: Int64, restart: Bool = false) -> Int64 {
        let pairs = Int64(block.count / 2)
        guard pairs > 0, pairs < Int64(self.size) else { return position }
        if self.samples.isEmpty { self.samples = [Float](repeating: 0, count: self.size * 2) }
        let isSeam = restart || self.owesSeam
        self.owesSeam = false
        var at = position
        if self.end == self.start {
            (self.start, self.end) = (at, at)
        } else if !isSeam, abs(position &- self.end) <= Self.continuity {
            at = self.end
        } else if position > self.end {
            if self.fade > 0, self.heard > max(self.start, self.end &- self.fade), self.heard <= self.end {
                self.dieAway(before: position)
            } else {
                self.fadeOut(until: self.end)
                self.fillSilence(to: position)
            }
            self.risesAt = self.fade > 0 && self.start < self.end ? position : nil
        } else if isSeam, self.fade > 0 {
            if position > self.start || position &+ pairs > self.heard {
                return self.crossOver(to: block, at: position)
            }
            self.owesSeam = true
        }
        // A block that begins before the end keeps the existing samples and adds only the new ones.
        let skip = max(0, self.end &- at)
        guard skip < pairs else { return at }
        var index = Int(skip) * 2
        var write = Int(truncatingIfNeeded: (at &+ skip) & Int64(self.size - 1)) * 2
        while index + 1 < block.count {
            self.samples[write] = block[index]
            self.samples[write + 1] = block[index + 1]
            index += 2
            write = (write + 2) & (self.size * 2 - 1)
        }
        self.rise(from: at &+ skip, to: at &+ pairs)
        self.end = at &+ pairs
        self.start = max(self.start, self.end &- Int64(self.size))
        return at
    }

    /// Fades in the part of the newly written audio that lies within the fade after ``risesAt``.
    private mutating func rise(from first: Int64, to end: Int64) {
        guard let begin = self.risesAt else { return }
        for pair in first..<max(first, min(end, begin &+ self.fade)) {
            let gain = Float(max(0, pair &- begin)) / Float(self.fade)
            self.samples[self.index(pair)] *= gain
            self.samples[self.index(pair) + 1] *= gain
        }
        if end >= begin &+ self.fade { self.risesAt = nil }
        self.risen = begin
    }

    /// Replaces existing samples with `block` from `position` on. `position` lies inside the existing range, or before
    /// all of it if the block can still be heard. Without this, samples that a wrong timestamp has put far ahead would
    /// block all audio until then.
    private mutating func crossOver(to block: [Float], at position: Int64) -> Int64 {
        let pairs = Int64(block.count / 2)
        // Earlier positions have been read already.
        let seam = max(position, self.heard)
        var crossed = min(self.fade, self.end &- seam, position &+ pairs &- seam)
        if position < self.start {
            // The existing samples begin later and do not belong here any more.
            (crossed, self.start) = (0, position)
            (self.risesAt, self.risen) = (nil, nil)
        }
        for pair in 0..<pairs {
            let inside = position &+ pair &- seam
            let isCrossing = inside >= 0 && inside < crossed
            let gain = isCrossing ? Float(inside) / Float(crossed) : 1
            let write = self.index(position &+ pair)
            for channel in 0..<2 {
                let old = isCrossing ? self.samples[write + channel] : 0
                self.samples[write + channel] = old * (1 - gain) + block[Int(pair) * 2 + channel] * gain
            }
        }
        self.end = position &+ pairs
        self.start = max(self.start, self.end &- Int64(self.size))
        return position
    }

    /// Fades out the samples before `position`.
    private mutating func fadeOut(until position: Int64) {
        let from = max(self.start, position &- self.fade)
        guard from < position else { return }
        for pair in from..<position {
            let gain = Float(position &- pair) / Float(self.fade)
            self.samples[self.index(pair)] *= gain
            self.samples[self.index(pair) + 1] *= gain
        }
    }

    /// Extends the buffer up to `position` with a fade-out of the last sample and then silence. Used if less than a
    /// fade's length of the audio is still unread.
    private mutating func dieAway(before position: Int64) {
        let end = self.end
        let last = self.index(end &- 1)
        let pair = (self.samples[last], self.samples[last + 1])
        self.fillSilence(to: position)
        // If the silence is longer than the buffer, the fade-out happens when it is read.
        guard self.start < end else { return }
        for place in end..<min(position, end &+ self.fade) {
            let gain = Float(end &+ self.fade &- place &- 1) / Float(self.fade)
            let write = self.index(place)
            (self.samples[write], self.samples[write + 1]) = (pair.0 * gain, pair.1 * gain)
        }
    }

    private func index(_ position: Int64) -> Int {
        Int(truncatingIfNeeded: position & Int64(self.size - 1)) * 2
    }

    /// Reads `range` for the program, which reads every position once: like ``read(_:into:)``, but audio that ends is
    /// faded out, and audio that returns is faded in.
    ///
    /// - Returns: 0 if the whole range is silent because the buffer has no audio for it; otherwise more than 0.
    package mutating func take(_ range: Range<Int64>, into target: inout [Float]) -> Int {
        let count = self.read(range, into: &target)
        self.heard = range.upperBound
        guard self.fade > 0 else { return count }
        let from = max(range.lowerBound, self.start), to = min(range.upperBound, self.end)
        guard to > from else {
            return self.letDie(in: &target, at: 0)
        }
        let (first, last) = (Int(from &- range.lowerBound), Int(to &- range.lowerBound))
        if first > 0 { _ = self.letDie(in: &target, at: 0, before: first) }
        // If audio begins in this range or later and was written with a fade-in, only silence precedes it.
        if self.dying == 0 || first > 0, self.risen.map({ $0 < from }) ?? true {
            self.ramp(&target, from: first, pairs: min(Int(self.fade), last - first), rises: true)
        }
        self.dying = self.fade
        if to < range.upperBound {
            if to &- from >= self.fade {
                self.ramp(&target, from: last - Int(self.fade), pairs: Int(self.fade), rises: false)
                self.dying = 0
            } else {
                // The audio is too short to fade out in: its last sample fades out after it.
                self.keep(target, last)
                return last + self.letDie(in: &target, at: last)
            }
        }
        self.keep(target, last)
        return count
    }

    private mutating func keep(_ target: [Float], _ end: Int) {
        if end > 0, end * 2 <= target.count { self.last = (target[end * 2 - 2], target[end * 2 - 1]) }
    }

    /// Fades out the last sample of audio that has ended, over this block and the next ones.
    ///
    /// - Returns: Number of pairs that were written.
    private mutating func letDie(in target: inout [Float], at first: Int, before end: Int = .max) -> Int {
        let count = max(0, min(Int(self.dying), min(end, target.count / 2) - first))
        for pair in first..<first + count {
            self.dying -= 1
            let gain = Float(self.dying) / Float(self.fade)
            target[pair * 2] = self.last.0 * gain
            target[pair * 2 + 1] = self.last.1 * gain
        }
        return count
    }

    private func ramp(_ target: inout [Float], from first: Int, pairs: Int, rises: Bool) {
        for pair in 0..<pairs where (first + pair) * 2 + 1 < target.count {
            let gain = Float(rises ? pair : pairs - pair) / Float(max(1, pairs))
            target[(first + pair) * 2] *= gain
            target[(first + pair) * 2 + 1] *= gain
        }
    }

    private mutating func fillSilence(to position: Int64) {
        if position &- self.end >= Int64(self.size) {
            (self.start, self.end) = (position, position)
            return
        }
        while self.end < position {
            let write = Int(truncatingIfNeeded: self.end & Int64(self.size - 1)) * 2
            self.samples[write] = 0
            self.samples[write + 1] = 0
            self.end += 1
        }
        self.start = max(self.start, self.end &- Int64(self.size))
    }

    /// Copies the pairs of `range` into `target` (interleaved stereo, 2 floats per pair); missing pairs become silence.
    ///
    /// - Returns: Number of pairs of the range that existed.
    package func read(_ range: Range<Int64>, into target: inout [Float]) -> Int {
        let from = max(range.lowerBound, self.start), to = min(range.upperBound, self.end)
        for index in target.indices { target[index] = 0 }
        guard to > from, !self.samples.isEmpty else { return 0 }
        var write = Int(from &- range.lowerBound) * 2
        var read = Int(truncatingIfNeeded: from & Int64(self.size - 1)) * 2
        for _ in 0..<Int(to &- from) where write + 1 < target.count {
            target[write] = self.samples[read]
            target[write + 1] = self.samples[read + 1]
            write += 2
            read = (read + 2) & (self.size * 2 - 1)
        }
        return Int(to &- from)
    }
}
