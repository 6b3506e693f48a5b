import Foundation

/// Which share of each output frame has the color of a publisher, decoded by FFmpeg.
struct ColorShares {
    /// A color sent by only one publisher, which no card, overlay or background has.
    enum Color: String, CaseIterable {
        case yellow, magenta, lime

        /// Cb and Cr in BT.709, limited range.
        fileprivate var chroma: (blue: Int, red: Int) {
            switch self {
            case .yellow: (16, 138)
            case .magenta: (214, 230)
            case .lime: (42, 26)
            }
        }
    }

    /// Allowed distance of a sample from the color in Cb and in Cr: less than half of the distance between two colors.
    private static let tolerance = 40

    /// Presentation time of each frame in seconds.
    let times: [Double]
    /// For each frame the share of its chroma samples that have a color, 0 to 1.
    private let shares: [[Color: Double]]

    /// Decodes all of a video playlist.
    init(_ path: String, width: Int, height: Int, _ media: Media) throws {
        // Both at the same time: each decodes everything on one core.
        let timing = try media.frameTiming(path, "v:0")
        let child = try Child(
            media.ffmpeg,
            [
                "-nostdin", "-v", "error", "-copyts", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough",
                "-pix_fmt", "yuv420p", "-f", "rawvideo", "-",
            ], readsOutput: false)
        let (luma, chroma) = (width * height, width * height / 4)
        var frame = [UInt8](repeating: 0, count: luma + 2 * chroma)
        var shares: [[Color: Double]] = []
        while Decoded.fill(&frame, child.output) {
            var counts: [Color: Double] = [:]
            for index in luma..<luma + chroma {
                let (blue, red) = (Int(frame[index]), Int(frame[index + chroma]))
                for color in Color.allCases {
                    let (meantBlue, meantRed) = color.chroma
                    guard abs(blue - meantBlue) <= Self.tolerance, abs(red - meantRed) <= Self.tolerance else {
                        continue
                    }
                    counts[color, default: 0] += 1
                }
            }
            shares.append(counts.mapValues { $0 / Double(chroma) })
        }
        guard try child.wait(timeout: 30) == 0 else { throw Missing("ffmpeg \(path): \(child.errors)") }
        self.times = try timing.wait()
        self.shares = shares
        guard self.times.count == shares.count else {
            throw Missing("\(path) has \(shares.count) frames and \(self.times.count) times")
        }
    }

    /// Times of the frames in a span of which more than `share` has a color.
    func times(with color: Color, over share: Double, from start: Double = 0, to end: Double = .infinity) -> [Double] {
        zip(self.times, self.shares).filter { time, shares in
            time >= start && time < end && shares[color, default: 0] > share
        }.map(\.0)
    }
}
