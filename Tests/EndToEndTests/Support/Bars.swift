import Foundation
import LibAV
import TestSupport
import Testing

/// Eight color bars with known values, so that the output can be compared.
enum Bars {
    /// Red, green and blue, full range, from left to right: 100 % white, 75 % bars, black.
    static let colors: [(UInt8, UInt8, UInt8)] = [
        (255, 255, 255), (191, 191, 0), (0, 191, 191), (0, 191, 0), (191, 0, 191), (191, 0, 0), (0, 0, 191), (0, 0, 0),
    ]

    /// Writes one frame as raw RGB24.
    static func write(_ path: String, width: Int, height: Int) throws {
        var row: [UInt8] = []
        for x in 0..<width {
            let (red, green, blue) = self.colors[min(7, x * 8 / width)]
            row += [red, green, blue]
        }
        try Data((0..<height).flatMap { _ in row }).write(to: URL(fileURLWithPath: path))
    }

    /// Luma and chroma in the middle of each bar, in BT.709, limited range.
    static var expected: [[Int]] {
        self.colors.map { red, green, blue in
            let color = CanvasColor(red: red, green: green, blue: blue)
            return [Int(color.y), Int(color.cb), Int(color.cr)]
        }
    }
}

/// A canvas written by the `raw` output.
struct RawPicture {
    let width: Int
    let height: Int
    let bytes: [UInt8]

    /// All frames of a YUV4MPEG2 file.
    static func read(_ path: String, width: Int, height: Int) throws -> [RawPicture] {
        let data = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let size = width * height * 3 / 2
        var offset = (data.firstIndex(of: 10) ?? data.count) + 1
        var frames: [RawPicture] = []
        while offset + 6 + size <= data.count {
            frames.append(
                RawPicture(width: width, height: height, bytes: Array(data[(offset + 6)..<(offset + 6 + size)])))
            offset += 6 + size
        }
        return frames
    }

    /// Mean luma and chroma of the 8x8 samples around a point, in luma samples.
    func color(_ x: Int, _ y: Int) -> [Int] {
        [
            (0, self.width, 0), (self.width * self.height, self.width / 2, 1),
            (self.width * self.height * 5 / 4, self.width / 2, 1),
        ]
        .map { start, stride, shift in
            var sum = 0
            for row in ((y >> shift) - 4)..<((y >> shift) + 4) {
                for column in ((x >> shift) - 4)..<((x >> shift) + 4) {
                    let index = start + row * stride + column
                    sum += self.bytes.indices.contains(index) ? Int(self.bytes[index]) : 0
                }
            }
            return (sum + 32) / 64
        }
    }

    /// The color in the middle of bar `index` of eight.
    func bar(_ index: Int) -> [Int] { self.color((2 * index + 1) * self.width / 16, self.height / 2) }
}

extension Media {
    /// Runs ffmpeg. If it lacks the encoder, filter or pixel format, then the current test ends as skipped.
    func run(_ arguments: [String]) throws {
        let result = try Command.run(self.ffmpeg, ["-nostdin", "-v", "error", "-y"] + arguments)
        if result.code == 0 { return }
        let lacks = ["Unknown encoder", "No such filter", "ncompatible pixel format", "not support"]
        guard lacks.contains(where: { result.errors.contains($0) }) else {
            throw Missing("ffmpeg \(arguments.joined(separator: " ")): \(result.errors)")
        }
        try TestTool.skip("a feature of ffmpeg", result.errors.split(separator: "\n").joined(separator: "; "))
    }
}

/// One whole file on a small canvas, offline.
enum OneSource {
    static let size = (width: 640, height: 360)

    /// - Parameter pane: Members of the pane beside `uid`: JSON with a leading comma.
    private static func pipeline(_ path: String, raw: String, pane: String) -> String {
        """
        {
          "room": { "roomId": "e2e" }, "clock": "offline", "durationSeconds": 0.2,
          "sources": [{ "uid": "1001", "type": "file", "path": "\(path)" }],
          "canvas": { "width": \(self.size.width), "height": \(self.size.height), "backgroundColor": "#000000" },
          "scenes": [{ "sceneId": "scene", "panes": [{ "uid": "1001", "width": 640, "height": 360\(pane) }] }],
          "renditions": \(Rooms.small),
          "outputs": [{ "type": "raw", "path": "\(raw)" }]
        }
        """
    }

    /// Runs the job and reads its canvases.
    static func run(
        _ path: String, _ work: WorkDirectory, pane: String = ""
    ) throws -> [RawPicture] {
        let raw = work.path("canvas.y4m")
        let result = try Command.tandem(
            ["run", "-"],
            input: self.pipeline(path, raw: raw, pane: pane))
        try #require(result.code == 0, "\(result.errors)")
        return try RawPicture.read(raw, width: self.size.width, height: self.size.height)
    }
}
