import Foundation
import LibAV
import MediaTypes
import Testing

/// The published audio of a room, decoded, and the level of each tone in it.
struct PublishedAudio {
    /// Values per second of ``level(_:)``.
    static let rate = 100
    private static let sampleRate = 48_000
    /// 10 ms, in which tones of different multiples of 100 Hz do not affect each other.
    private static let window = Self.sampleRate / Self.rate

    /// Mean of left and right.
    private let samples: [Float]

    /// Decodes a playlist of an unencrypted room that has one initialization segment.
    init(_ directory: RoomDirectory, _ name: String = "audio.m3u8") async throws {
        let playlist = try directory.playlist(name)
        let text = try directory.text(of: name)
        try #require(!text.contains("#EXT-X-GAP"), "a segment is missing: \(text)")
        let map = try #require(playlist.segments.first?.map)
        try #require(playlist.segments.allSatisfy { $0.map == map })
        let bytes = try ([map] + playlist.segments.map(\.uri)).flatMap { try directory.bytes(of: $0) }
        let path = "\(directory.path)/decoded.mp4"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        self.samples = try await offPool {
            let file = try Demuxer.open(path: path, place: "test")
            let parameters = try #require(file.parameters.first { $0.kind == .audio })
            let decoder = try AudioDecoder.open(parameters, sampleRate: Self.sampleRate, place: "test")
            var samples: [Float] = []
            while let packet = file.next() {
                let isIntact = decoder.decode(packet) { block in
                    for pair in 0..<block.frames {
                        samples.append((block.samples[2 * pair] + block.samples[2 * pair + 1]) / 2)
                    }
                }
                try #require(isIntact)
            }
            return samples
        }
    }

    /// In seconds.
    var duration: Double { Double(self.samples.count) / Double(Self.sampleRate) }

    /// Amplitude of a tone, one value per 10 ms.
    func level(_ hertz: Int) -> [Double] {
        let turns = (0..<Self.window).map { 2 * Double.pi * Double(hertz * $0) / Double(Self.sampleRate) }
        let (sines, cosines) = (turns.map { sin($0) }, turns.map { cos($0) })
        return stride(from: 0, to: self.samples.count - Self.window + 1, by: Self.window).map { start in
            var (real, imaginary) = (0.0, 0.0)
            for index in 0..<Self.window {
                real += Double(self.samples[start + index]) * cosines[index]
                imaginary += Double(self.samples[start + index]) * sines[index]
            }
            return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(Self.window)
        }
    }
}
