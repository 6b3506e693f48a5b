import Foundation

/// Beeps of known frequencies, separated within one audio track.
struct Tones {
    private static let rate = 48_000.0
    /// Samples over which a tone is measured: 10 ms, in which tones of different multiples of 100 Hz do not affect each
    /// other.
    private static let window = 480

    private let samples: [Double]
    private let first: Double

    /// Decodes the audio of a playlist.
    init(_ path: String, _ media: Media) throws {
        let child = try Child(
            media.ffmpeg,
            [
                "-nostdin", "-v", "error", "-copyts", "-i", path, "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-f",
                "s16le", "-",
            ], readsOutput: false)
        let bytes = FileHandle(fileDescriptor: child.output, closeOnDealloc: false).readDataToEndOfFile()
        guard try child.wait(timeout: 30) == 0 else { throw Missing("ffmpeg \(path): \(child.errors)") }
        self.samples = stride(from: 0, to: bytes.count - 1, by: 2).map {
            Double(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32_768
        }
        self.first = try media.frameTimes(path, "a:0").first ?? 0
    }

    /// The highest amplitude of a tone, measured over 100 ms at a time from `start` seconds on and up to `end`; nil
    /// without audio.
    ///
    /// The long window separates tones that start or end meanwhile: a step of another tone, 600 Hz away, counts as
    /// 1/200 of it.
    func peak(_ hertz: Int, from start: Double = 0, to end: Double = .infinity) -> Double? {
        let (window, step) = (Self.window * 10, 0.001)
        let length = Double(window) / Self.rate
        return zip(0..., self.level(hertz, over: window)).lazy.filter { index, _ in
            let time = self.first + Double(index) * step
            return time >= start && time + length <= end
        }.map(\.1).max()
    }

    /// Amplitude of a tone, one value per millisecond.
    ///
    /// - Parameter window: Number of samples over which it is measured.
    func level(_ hertz: Int, over window: Int = Self.window) -> [Double] {
        var (sine, cosine) = ([0.0], [0.0])
        sine.reserveCapacity(self.samples.count + 1)
        cosine.reserveCapacity(self.samples.count + 1)
        for (index, sample) in self.samples.enumerated() {
            let turn = 2 * Double.pi * Double(hertz) * Double(index) / Self.rate
            sine.append((sine.last ?? 0) + sample * sin(turn))
            cosine.append((cosine.last ?? 0) + sample * cos(turn))
        }
        return stride(from: 0, to: max(0, self.samples.count - window), by: 48).map { start in
            let (real, imaginary) = (cosine[start + window] - cosine[start], sine[start + window] - sine[start])
            return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(window)
        }
    }

    /// Times in seconds at which a tone starts, after at least 300 ms without it.
    func onsets(_ hertz: Int) -> [Double] {
        let level = self.level(hertz)
        let threshold = (level.max() ?? 0) / 2
        var onsets: [Double] = []
        var quiet = 300
        for (index, value) in level.enumerated() {
            if value < threshold {
                quiet += 1
                continue
            }
            // The window reaches ahead: at its middle it contains half of the tone.
            if quiet >= 300 { onsets.append(self.first + Double(index) / 1000 + Double(Self.window) / 2 / Self.rate) }
            quiet = 0
        }
        return onsets
    }
}
