import Foundation
import Testing

import LibAV

@Suite("gzip: RFC 1952, RFC 1951")
struct GzipTests {
    /// The bytes that gzip(1) decompresses.
    private static func decoded(_ bytes: [UInt8]) throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).gz")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gzip", "-dc", file.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return [UInt8](data)
    }

    @Test(
        "gzip(1) restores texts that Tandem's gzip compressed or stored",
        arguments: ["", "a", "ab", "abc", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", String(repeating: "x", count: 100_000)])
    func texts(text: String) throws {
        #expect(try Self.decoded(Gzip.encode(Array(text.utf8))) == Array(text.utf8))
        #expect(try Self.decoded(Gzip.stored(Array(text.utf8))) == Array(text.utf8))
    }

    @Test(
        "gzip(1) restores random bytes with repetitions up to 64 KiB apart that Tandem's gzip compressed or stored",
        arguments: [1, 2, 3, 4, 5])
    func bytes(seed: UInt64) throws {
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var input: [UInt8] = []
        while input.count < 120_000 {
            if input.isEmpty || next(3) == 0 {
                for _ in 0..<next(40) { input.append(UInt8(next(256))) }
            } else {
                // A copy from up to two windows back.
                let start = max(0, input.count - 1 - next(65_536))
                let count = min(next(600), input.count - start)
                input += input[start..<start + count]
            }
        }
        #expect(try Self.decoded(Gzip.encode(input)) == input)
        #expect(try Self.decoded(Gzip.stored(input)) == input, "two blocks that are not compressed")
    }

    @Test("gzip compresses a playlist to less than a quarter")
    func size() {
        let text = (0..<60).map { index in
            "#EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:\(index).123Z\n#EXTINF:2.13333,\n720p-1-\(index).m4s\n"
        }.joined()
        #expect(Gzip.encode(Array(text.utf8)).count < text.utf8.count / 4)
    }
}
