import Libc

/// Lowers steady noise such as hiss, hum and fans in interleaved stereo of 48 kHz. Used by one thread.
///
/// Each window of ``size`` pairs is transformed to frequencies, and each frequency is multiplied by a gain between ``least`` and 1, the
/// same for both channels. The level of the noise at each frequency is the lowest smoothed power of the last 1.5 to 3 s, times
/// ``bias``: between words, only noise is there (minimum statistics, R. Martin 2001). The gain is that of a Wiener filter whose
/// signal-to-noise ratio is smoothed over time (decision-directed, Y. Ephraim and D. Malah 1984), which prevents the tones that
/// simple spectral subtraction leaves behind.
///
/// Windows overlap by half. With gains of 1, the output is the input, ``latencyPairs`` later.
@safe
public final class NoiseReducer {
    /// Pairs per window, 21.3 ms.
    public static let size = 1024
    /// Number of pairs by which the output is late: output pair *n* is input pair *n* − `latencyPairs`. Output comes in steps of
    /// this length.
    public static let latencyPairs = size / 2
    /// Lowest gain: −18 dB.
    public static let least: Float = 0.126
    private static let mask = size - 1
    private static let bins = size / 2 + 1
    /// Steps after which the search for the lowest power begins anew: 1.5 s.
    private static let minimumSteps = 140
    /// Ratio of the mean power of noise to its lowest smoothed power.
    private static let bias: Float = 1.5
    /// Part of the last step's estimate in the signal-to-noise ratio.
    private static let memory: Float = 0.92
    /// Lowest signal-to-noise ratio, −25 dB.
    private static let leastRatio: Float = 0.003
    /// Power of a window below which it is digital silence, from which nothing is learned.
    private static let silence: Float = 1e-7

    private let window: [Float]
    /// Cosines and sines of the transform, and its order of indexes.
    private let turns: [SIMD2<Float>]
    private let order: [Int]
    /// The last ``size`` pairs, left channel as the first component, and the number of new pairs in their second half.
    private var recent = [SIMD2<Float>](repeating: .zero, count: size)
    private var filled = 0
    /// The spectrum of left + i · right.
    private var spectrum = [SIMD2<Float>](repeating: .zero, count: size)
    /// The second half of the last window's output.
    private var overlap = [SIMD2<Float>](repeating: .zero, count: size / 2)
    private var power = [Float](repeating: 0, count: bins)
    private var smoothed = [Float](repeating: 0, count: bins)
    /// Lowest smoothed power since the search before the last began, and since the last one began.
    private var lowest = [Float](repeating: 0, count: bins)
    private var nextLowest = [Float](repeating: 0, count: bins)
    /// Power of the last step's output.
    private var former = [Float](repeating: 0, count: bins)
    private var steps = 0
    /// Whether the window is filled: half of the first one is empty, from which nothing is learned.
    private var isFull = false

    public init() {
        let size = Float(Self.size)
        self.window = (0..<Self.size).map { sinf(.pi * (Float($0) + 0.5) / size) }
        self.turns = (0..<Self.size / 2).map {
            let angle = -2 * Float.pi * Float($0) / size
            return SIMD2(cosf(angle), sinf(angle))
        }
        self.order = (0..<Self.size).map { index in
            var (rest, reversed, bit) = (index, 0, 1)
            while bit < Self.size {
                reversed = reversed << 1 | rest & 1
                rest >>= 1
                bit <<= 1
            }
            return reversed
        }
    }

    /// Filters the next pairs and appends the output that is ready. Does not allocate if `output` has the capacity.
    ///
    /// - Parameter samples: Left, right, left, right …, without NaN.
    public func process(_ samples: [Float], into output: inout [Float]) {
        for pair in 0..<samples.count / 2 {
            self.recent[Self.latencyPairs + self.filled] = SIMD2(samples[pair * 2], samples[pair * 2 + 1])
            self.filled += 1
            if self.filled == Self.latencyPairs {
                self.filled = 0
                self.step(into: &output)
            }
        }
    }

    private func step(into output: inout [Float]) {
        let half = Self.latencyPairs
        for index in 0..<Self.size { self.spectrum[index] = self.recent[index] * self.window[index] }
        for index in 0..<half { self.recent[index] = self.recent[half + index] }
        self.transform()
        self.weigh()
        // The inverse transform is the transform with real and imaginary parts exchanged.
        for index in 0..<Self.size { self.spectrum[index] = SIMD2(self.spectrum[index].y, self.spectrum[index].x) }
        self.transform()
        let scale = 1 / Float(Self.size)
        for index in 0..<half {
            let (first, second) = (self.spectrum[index], self.spectrum[half + index])
            let sum = self.overlap[index] + SIMD2(first.y, first.x) * (self.window[index] * scale)
            output.append(sum.x)
            output.append(sum.y)
            self.overlap[index] = SIMD2(second.y, second.x) * (self.window[half + index] * scale)
        }
    }

    /// Computes the discrete Fourier transform of ``spectrum`` in place, not scaled.
    private func transform() {
        unsafe self.spectrum.withUnsafeMutableBufferPointer { values in
            unsafe self.turns.withUnsafeBufferPointer { turns in
                // Both buffers and `order` have the lengths set in `init`; every index below is less than `size`.
                for index in 0..<Self.size {
                    let other = self.order[index]
                    if other > index { unsafe values.swapAt(index, other) }
                }
                var span = 1
                while span < Self.size {
                    let stride = Self.size / (2 * span)
                    for start in Swift.stride(from: 0, to: Self.size, by: 2 * span) {
                        for place in 0..<span {
                            let turn = unsafe turns[place &* stride]
                            let value = unsafe values[start &+ place &+ span]
                            let turned = SIMD2(
                                value.x * turn.x - value.y * turn.y, value.x * turn.y + value.y * turn.x)
                            let base = unsafe values[start &+ place]
                            unsafe values[start &+ place] = base + turned
                            unsafe values[start &+ place &+ span] = base - turned
                        }
                    }
                    span *= 2
                }
            }
        }
    }

    /// Learns the noise and multiplies each frequency by its gain.
    private func weigh() {
        var sum: Float = 0
        for bin in 0..<Self.bins {
            let (one, other) = (self.spectrum[bin], self.spectrum[(Self.size - bin) & Self.mask])
            // Both channels together; the small number prevents divisions by 0.
            let value = ((one * one).sum() + (other * other).sum()) / 2 + 1e-12
            self.power[bin] = value
            sum += value
        }
        if sum > Self.silence, self.isFull { self.learn() }
        self.isFull = true
        for bin in 0..<Self.bins {
            let noise = self.lowest[bin] * Self.bias + 1e-12
            let ratio =
                Self.memory * self.former[bin] / noise + (1 - Self.memory) * max(self.power[bin] / noise - 1, 0)
            let limited = max(ratio, Self.leastRatio)
            let gain = max(limited / (1 + limited), Self.least)
            self.former[bin] = gain * gain * self.power[bin]
            self.spectrum[bin] *= gain
            let mirrored = (Self.size - bin) & Self.mask
            if mirrored != bin { self.spectrum[mirrored] *= gain }
        }
    }

    private func learn() {
        let isFirst = self.steps == 0
        self.steps += 1
        let isNew = self.steps % Self.minimumSteps == 0
        for bin in 0..<Self.bins {
            let (below, above) = (self.power[max(0, bin - 1)], self.power[min(Self.bins - 1, bin + 1)])
            let value = 0.25 * below + 0.5 * self.power[bin] + 0.25 * above
            let smoothed = isFirst ? value : 0.8 * self.smoothed[bin] + 0.2 * value
            self.smoothed[bin] = smoothed
            self.nextLowest[bin] = isFirst ? smoothed : min(self.nextLowest[bin], smoothed)
            self.lowest[bin] = isFirst ? smoothed : min(self.lowest[bin], smoothed)
            if isNew {
                self.lowest[bin] = self.nextLowest[bin]
                self.nextLowest[bin] = smoothed
            }
        }
    }
}
