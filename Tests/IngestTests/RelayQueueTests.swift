import Ingest
import MediaKernels
import MediaTypes
import Testing

@Suite("Relay queue: a slow receiver misses whole GOPs")
struct RelayQueueTests {
    static let second: Int64 = 1_000_000_000

    /// Pushes letters (see ``SourceHubTests/letters(_:)``) at given seconds.
    static func push(_ letters: String, _ queue: inout RelayQueue, at time: Int64, bytes: Int = 1) {
        for letter in letters {
            switch letter {
            case "C": queue.push(.configuration(SourceHubTests.video), now: time)
            case "D": queue.push(.configuration(SourceHubTests.audio), now: time)
            case "K": queue.push(SourceHubTests.packet(.video, at: 0, isKey: true, bytes: bytes), now: time)
            case "v": queue.push(SourceHubTests.packet(.video, at: 0, bytes: bytes), now: time)
            case "a": queue.push(SourceHubTests.packet(.audio, at: 0, bytes: bytes), now: time)
            default: queue.push(.end, now: time)
            }
        }
    }

    static func drain(_ queue: inout RelayQueue) -> String {
        var items: [SourceItem] = []
        while let item = queue.pop() { items.append(item) }
        return SourceHubTests.letters(items)
    }

    @Test(
        "a receiver that keeps up gets everything from the first key frame",
        arguments: [
            ("CDKvavKa", "CDKvavKa", 0), ("CDvavKv", "CDKv", 3), ("Daa", "Daa", 0), ("CKvECvKv", "CKvECKv", 1),
            ("CKvEDaa", "CKvEDaa", 0),
        ])
    func keepsUp(sent: String, expected: String, dropped: Int) {
        var queue = RelayQueue()
        Self.push(sent, &queue, at: 0)
        #expect(Self.drain(&queue) == expected)
        #expect(queue.dropped == dropped)
    }

    @Test("if a packet waits for more than three seconds, all packets before the newest key frame are dropped")
    func skipsToNewestKey() {
        var queue = RelayQueue()
        Self.push("CDKva", &queue, at: 0)
        Self.push("Kva", &queue, at: Self.second)
        Self.push("Kva", &queue, at: 2 * Self.second)
        Self.push("v", &queue, at: 3 * Self.second)
        #expect(queue.dropped == 0, "three seconds are not too long yet")
        Self.push("a", &queue, at: 3 * Self.second + 1)
        #expect(Self.drain(&queue) == "CDKvava", "configurations stay")
        #expect(queue.dropped == 6)
    }

    @Test("a GOP that waits for more than three seconds is dropped whole, and nothing is sent until the next key frame")
    func longGOP() {
        var queue = RelayQueue()
        Self.push("CDKvv", &queue, at: 0)
        Self.push("va", &queue, at: 4 * Self.second)
        #expect(Self.drain(&queue) == "CD")
        Self.push("vava", &queue, at: 5 * Self.second)
        #expect(queue.isEmpty)
        Self.push("Kva", &queue, at: 6 * Self.second)
        #expect(Self.drain(&queue) == "Kva")
        #expect(queue.dropped == 9)
    }

    @Test("if no key frame comes, audio and video are sent to a relay's receiver after a limited wait")
    func noKeys() {
        var queue = RelayQueue()
        Self.push("CD", &queue, at: 0)
        #expect(Self.drain(&queue) == "CD")
        Self.push(String(repeating: "va", count: RelayQueue.keyPatience), &queue, at: Self.second)
        #expect(queue.isEmpty && queue.dropped == 2 * RelayQueue.keyPatience)
        Self.push("vav", &queue, at: 2 * Self.second)
        #expect(Self.drain(&queue) == "vav")
        // A key frame in between: after the next gap the queue waits for a later one.
        Self.push("Cv", &queue, at: 3 * Self.second)
        Self.push("KvC", &queue, at: 3 * Self.second)
        Self.push(String(repeating: "v", count: RelayQueue.keyPatience), &queue, at: 3 * Self.second)
        #expect(Self.drain(&queue) == "CKvC")
    }

    @Test("the relay queue drops packets over its limit in bytes")
    func bytes() {
        var queue = RelayQueue()
        // Their memory blocks are up to a fifth larger.
        Self.push("CKv", &queue, at: 0, bytes: 6 << 20)
        Self.push("v", &queue, at: 1, bytes: 2 << 20)
        #expect(queue.dropped == 0)
        Self.push("v", &queue, at: 2, bytes: 6 << 20)
        #expect(Self.drain(&queue) == "C")
    }

    @Test("of thousands of unread configurations and stream ends, only the last ones stay queued")
    func configurationStorm() {
        var queue = RelayQueue()
        Self.push("CDKv", &queue, at: 0)
        for _ in 0..<50_000 {
            Self.push("D", &queue, at: 1)
            #expect(queue.count <= RelayQueue.maximumMarks + 4)
        }
        Self.push("v", &queue, at: 2)
        Self.push("Kv", &queue, at: 3)
        var left = Self.drain(&queue)
        #expect(left.hasSuffix("Kv") && left.hasPrefix("CD") && left.dropFirst().dropLast(2).allSatisfy { $0 == "D" })
        // Endless publications that are not read: the last end stays, and the configurations after it.
        for _ in 0..<10_000 {
            Self.push("ECDKv", &queue, at: 4)
            #expect(queue.count <= 3 * RelayQueue.maximumMarks)
        }
        left = Self.drain(&queue)
        #expect(left.hasPrefix("ECD") && left.hasSuffix("ECDKv"), "\(left)")
    }

    @Test("configurations in the relay queue count with their size against its limit in bytes")
    func heavyConfigurations() {
        var queue = RelayQueue()
        Self.push("CKv", &queue, at: 0)
        for index in 0..<30 {
            let record = [UInt8](repeating: UInt8(index), count: 1 << 20)
            queue.push(.configuration(CodecParameters(codec: .aac, configuration: record)), now: 1)
        }
        #expect(queue.configured.reduce(0) { $0 + $1.configuration.count } <= RelayQueue.maximumBytes)
        #expect(queue.configured.last?.configuration.first == 29)
    }

    @Test("an audio-only queue drops audio that waited too long, and continues without a key frame")
    func audioAlone() {
        var queue = RelayQueue()
        Self.push("Da", &queue, at: 0)
        Self.push("a", &queue, at: 4 * Self.second)
        Self.push("a", &queue, at: 4 * Self.second)
        #expect(Self.drain(&queue) == "Da")
    }

    @Test("for random input, the first frame after a video configuration is a key frame")
    func property() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var queue = RelayQueue()
            var sent = ""
            var time: Int64 = 0
            for _ in 0..<400 {
                time += Int64.random(in: 0...200_000_000, using: &random)
                Self.push(String("CDEKvvvvvvaaaa".randomElement(using: &random) ?? "v"), &queue, at: time)
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    if let item = queue.pop() { sent += SourceHubTests.letters([item]) }
                }
                #expect(queue.count < 400)
            }
            // All frames have one time, so gaps are not visible here.
            for publication in sent.split(separator: "E") where publication.contains("C") {
                let frames = publication.drop { $0 != "C" }.filter { "CKv".contains($0) }
                for (before, after) in zip(frames, frames.dropFirst()) where after == "v" {
                    #expect(before != "C", "\(sent)")
                }
            }
        }
    }
}
