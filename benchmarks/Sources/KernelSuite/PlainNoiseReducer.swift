#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The noise reducer in its simplest form, in double precision: each channel is transformed by itself, by a recursive
/// transform that computes its sines anew.
package struct PlainNoiseReducer {
    private struct Complex {
        var real = 0.0
        var imaginary = 0.0

        var power: Double { self.real * self.real + self.imaginary * self.imaginary }
    }

    private static let size = 1_024
    private static let half = size / 2
    private static let bins = half + 1

    private var pending: [Float] = []
    /// By channel.
    private var recent = [[Double]](repeating: [Double](repeating: 0, count: size), count: 2)
    private var overlap = [[Double]](repeating: [Double](repeating: 0, count: half), count: 2)
    private var smoothed = [Double](repeating: 0, count: bins)
    private var lowest = [Double](repeating: 0, count: bins)
    private var nextLowest = [Double](repeating: 0, count: bins)
    private var former = [Double](repeating: 0, count: bins)
    private var windows = 0
    private var learned = 0

    package init() {}

    package mutating func processed(_ samples: [Float]) -> [Float] {
        self.pending += samples
        var output: [Float] = []
        while self.pending.count >= Self.size {
            output += self.step(Array(self.pending[..<Self.size]))
            self.pending.removeFirst(Self.size)
        }
        return output
    }

    private mutating func step(_ samples: [Float]) -> [Float] {
        let window = (0..<Self.size).map { sin(Double.pi * (Double($0) + 0.5) / Double(Self.size)) }
        var spectra: [[Complex]] = []
        for channel in 0..<2 {
            let new = (0..<Self.half).map { Double(samples[2 * $0 + channel]) }
            self.recent[channel] = Array(self.recent[channel][Self.half...]) + new
            spectra.append(
                Self.transformed(zip(self.recent[channel], window).map { Complex(real: $0 * $1) }, sign: -1))
        }
        let power = (0..<Self.bins).map { spectra[0][$0].power + spectra[1][$0].power + 1e-12 }
        self.windows += 1
        if self.windows > 1, power.reduce(0, +) > 1e-7 { self.learn(power) }
        let gains = self.gains(power)
        var output = [Float](repeating: 0, count: Self.size)
        for channel in 0..<2 {
            let filtered = (0..<Self.size).map { index -> Complex in
                let gain = gains[min(index, Self.size - index)]
                let value = spectra[channel][index]
                return Complex(real: value.real * gain, imaginary: value.imaginary * gain)
            }
            let audio = zip(Self.transformed(filtered, sign: 1), window).map { $0.real / Double(Self.size) * $1 }
            for pair in 0..<Self.half { output[2 * pair + channel] = Float(self.overlap[channel][pair] + audio[pair]) }
            self.overlap[channel] = Array(audio[Self.half...])
        }
        return output
    }

    /// The lowest smoothed power of the last 140 to 280 windows.
    private mutating func learn(_ power: [Double]) {
        self.learned += 1
        for bin in 0..<Self.bins {
            let value =
                power[max(0, bin - 1)] / 4 + power[bin] / 2 + power[min(Self.bins - 1, bin + 1)] / 4
            self.smoothed[bin] = self.learned == 1 ? value : 0.8 * self.smoothed[bin] + 0.2 * value
            self.nextLowest[bin] = self.learned == 1 ? value : min(self.nextLowest[bin], self.smoothed[bin])
            self.lowest[bin] = self.learned == 1 ? value : min(self.lowest[bin], self.smoothed[bin])
        }
        guard self.learned % 140 == 0 else { return }
        (self.lowest, self.nextLowest) = (self.nextLowest, self.smoothed)
    }

    private mutating func gains(_ power: [Double]) -> [Double] {
        (0..<Self.bins).map { bin in
            let noise = self.lowest[bin] * 1.5 + 1e-12
            let ratio = max(0.92 * self.former[bin] / noise + 0.08 * max(power[bin] / noise - 1, 0), 0.003)
            let gain = max(ratio / (1 + ratio), 0.126)
            self.former[bin] = gain * gain * power[bin]
            return gain
        }
    }

    /// The discrete Fourier transform, not scaled; the inverse one with `sign` 1.
    private static func transformed(_ values: [Complex], sign: Double) -> [Complex] {
        let count = values.count
        guard count > 1 else { return values }
        let even = self.transformed(stride(from: 0, to: count, by: 2).map { values[$0] }, sign: sign)
        let odd = self.transformed(stride(from: 1, to: count, by: 2).map { values[$0] }, sign: sign)
        var result = [Complex](repeating: Complex(), count: count)
        for index in 0..<count / 2 {
            let angle = sign * 2 * Double.pi * Double(index) / Double(count)
            let (cosine, sine) = (cos(angle), sin(angle))
            let turned = Complex(
                real: odd[index].real * cosine - odd[index].imaginary * sine,
                imaginary: odd[index].real * sine + odd[index].imaginary * cosine)
            result[index] = Complex(
                real: even[index].real + turned.real, imaginary: even[index].imaginary + turned.imaginary)
            result[index + count / 2] = Complex(
                real: even[index].real - turned.real, imaginary: even[index].imaginary - turned.imaginary)
        }
        return result
    }
}
