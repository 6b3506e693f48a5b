import Foundation
import Glibc
import Push

/// Position of a 1280x720 pattern in the frame: its own horizontal coordinate plus `offset`.
struct PatternPane {
    var offset: Int

    static let solo = PatternPane(offset: 0)
    /// The middle 640 columns of the pattern fill a half of the canvas.
    static let left = PatternPane(offset: -320)
    static let right = PatternPane(offset: 320)

    /// The burned-in counter, nil if it cannot be read, and whether the square in the middle is lit.
    func read(_ luma: UnsafeBufferPointer<UInt8>, width: Int) -> (counter: UInt16?, isFlash: Bool) {
        func mean(_ x: Int, _ y: Int) -> Int {
            var sum = 0
            for row in y - 2...y + 2 {
                for column in x - 2...x + 2 {
                    let index = row * width + column + self.offset
                    sum += luma.indices.contains(index) ? Int(luma[index]) : 0
                }
            }
            return sum / 25
        }
        return (PatternCode.read(width: 1280, height: 720, luma: mean), mean(640, 360) >= 126)
    }
}

/// Video and audio of an output, decoded by FFmpeg.
struct Decoded {
    /// For each pane, the counter and the flash of each frame.
    var panes: [[(counter: UInt16?, isFlash: Bool)]]
    /// Presentation time of each frame in seconds.
    var times: [Double]

    /// Decodes a video playlist with frames of 1280x720.
    init(_ path: String, _ panes: [PatternPane], _ media: Media) throws {
        // Both at the same time: each decodes everything on one core.
        let timing = try media.frameTiming(path, "v:0")
        let child = try Child(
            media.ffmpeg,
            [
                "-nostdin", "-v", "error", "-copyts", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough",
                "-pix_fmt", "gray",
                "-f", "rawvideo", "-",
            ], readsOutput: false)
        var frame = [UInt8](repeating: 0, count: 1280 * 720)
        var found: [[(counter: UInt16?, isFlash: Bool)]] = panes.map { _ in [] }
        while Self.fill(&frame, child.output) {
            frame.withUnsafeBufferPointer { luma in
                for (index, pane) in panes.enumerated() { found[index].append(pane.read(luma, width: 1280)) }
            }
        }
        guard try child.wait(timeout: 30) == 0 else { throw Missing("ffmpeg \(path): \(child.errors)") }
        self.panes = found
        self.times = try timing.wait()
    }

    /// Reads a whole frame; returns `false` at the end.
    static func fill(_ frame: inout [UInt8], _ file: Int32) -> Bool {
        frame.withUnsafeMutableBytes { bytes in
            var start = 0
            while start < bytes.count {
                let count = Glibc.read(file, bytes.baseAddress?.advanced(by: start), bytes.count - start)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                start += count
            }
            return true
        }
    }

    /// Times at which the square of pane `index` lights up.
    ///
    /// The first three frames of a publication do not count: their beep has lost its start, because FLV cannot signal an
    /// encoder's priming.
    func flashes(_ index: Int) -> [Double] {
        let frames = self.panes[index]
        return zip(frames.indices.dropFirst(), self.times.dropFirst()).compactMap { position, time in
            guard let counter = frames[position].counter, counter >= 3 else { return nil }
            return frames[position].isFlash && !frames[position - 1].isFlash ? time : nil
        }
    }

    /// Number of steps from one frame to the next, from `start` seconds after the first frame on, and number of those that
    /// advance the counter of pane `index` by one.
    func steps(_ index: Int, from start: Double = 0) -> (steps: Int, good: Int) {
        let frames = zip(self.times, self.panes[index]).drop { $0.0 < (self.times.first ?? 0) + start }.map(
            \.1.counter)
        let pairs = zip(frames, frames.dropFirst())
        return (max(0, frames.count - 1), pairs.count { before, after in before.map { $0 &+ 1 == after } ?? false })
    }
}

/// The audio of an output.
enum Beeps {
    /// Times in seconds at which it becomes loud after at least 300 ms of quiet.
    static func onsets(_ path: String, _ media: Media) throws -> [Double] {
        let child = try Child(
            media.ffmpeg,
            ["-nostdin", "-v", "error", "-copyts", "-i", path, "-map", "0:a:0", "-ac", "1", "-f", "s16le", "-"],
            readsOutput: false)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(child.output, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        guard try child.wait(timeout: 30) == 0 else { throw Missing("ffmpeg \(path): \(child.errors)") }
        let first = try media.frameTimes(path, "a:0").first ?? 0
        var onsets: [Double] = []
        var quiet = 0
        for index in 0..<bytes.count / 2 {
            let sample = Int16(bitPattern: UInt16(bytes[2 * index]) | UInt16(bytes[2 * index + 1]) << 8)
            if sample.magnitude > 4000 {
                if quiet >= 14_400 { onsets.append(first + Double(index) / 48_000) }
                quiet = 0
            } else {
                quiet += 1
            }
        }
        return onsets
    }
}

/// Audio against video: for each flash with a beep within 300 ms, the nearest beep minus the flash, in milliseconds.
struct LipSyncResult: CustomStringConvertible {
    var offsets: [Double]

    init(flashes: [Double], beeps: [Double]) {
        self.offsets = flashes.compactMap { flash in
            beeps.map { ($0 - flash) * 1000 }.min { abs($0) < abs($1) }
        }.filter { abs($0) < 300 }
    }

    var mean: Double { self.offsets.reduce(0, +) / Double(max(1, self.offsets.count)) }

    var description: String {
        func text(_ value: Double) -> String { String(format: "%.1f", value) }
        return "\(self.offsets.count) events, mean \(text(self.mean)) ms, min \(text(self.offsets.min() ?? 0)), "
            + "max \(text(self.offsets.max() ?? 0))"
    }
}
