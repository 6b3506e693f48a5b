import Testing
import Upload

@Suite("Sprite sheets at a store")
struct UploadSpritesTests {
    private static let second = SimulatedOrigin.second

    private static func update(_ text: UInt8, _ changed: [String], gone: [String] = []) -> SpriteUpdate {
        SpriteUpdate(index: "s.vtt", text: [text], directory: "pictures/", changed: changed, gone: gone, interval: 5)
    }

    /// Sends all requests, each answered by the store, until there are no more. Returns the requests.
    private static func settle(_ queue: inout UploadQueue) -> [UploadRequest] {
        var all: [UploadRequest] = []
        for _ in 0..<100 {
            let requests = queue.next(at: 0)
            if requests.isEmpty { break }
            for request in requests { queue.answered(request.id, .done, at: 0, jitter: 0) }
            all += requests
        }
        return all
    }

    @Test(
        "only the newest sprite index is sent, after every sheet it names; a sheet that changed meanwhile is sent again"
    )
    func order() throws {
        var queue = UploadQueue(rules: UploadRules())
        queue.put(Self.update(1, ["s-0.jpg", "s-1.jpg"]))
        let first = try #require(queue.next(at: 0).first)
        #expect(first.name == "s-0.jpg" && first.contentType == "image/jpeg" && first.cacheControl == "max-age=5")
        #expect(first.action == .put(.fileIn(directory: "pictures/")))
        queue.put(Self.update(2, ["s-1.jpg"]))
        #expect(queue.next(at: 0).isEmpty, "one at a time")
        queue.answered(first.id, .done, at: 0, jitter: 0)
        let second = try #require(queue.next(at: 0).first)
        #expect(second.name == "s-1.jpg")
        queue.put(Self.update(3, ["s-1.jpg"]))
        queue.answered(second.id, .done, at: 0, jitter: 0)
        let again = queue.next(at: 0)
        #expect(again.map(\.name) == ["s-1.jpg"] && !queue.isSettled)
        queue.answered(again.first?.id ?? 0, .done, at: 0, jitter: 0)
        let index = queue.next(at: 0)
        #expect(index.map(\.name) == ["s.vtt"] && index.first?.contentType == "text/vtt")
        #expect(index.first?.action == .put(.bytes([3])))
        #expect(!queue.isSettled, "the end of a room waits for it")
        queue.answered(index.first?.id ?? 0, .done, at: 0, jitter: 0)
        #expect(queue.isSettled && queue.next(at: 0).isEmpty)
    }

    @Test(
        "a sprite sheet that the store refused is retried before the index is sent; a sheet without a file is skipped")
    func failures() throws {
        var queue = UploadQueue(rules: UploadRules())
        queue.put(Self.update(1, ["s-0.jpg", "s-1.jpg"]))
        let first = try #require(queue.next(at: 0).first)
        queue.answered(first.id, .failed("status 503"), at: 0, jitter: 500)
        #expect(queue.isFailing && queue.next(at: 0).isEmpty)
        let wake = try #require(queue.wake(after: 0))
        #expect(wake > 0 && wake <= Self.second)
        let again = try #require(queue.next(at: wake).first)
        #expect(again.name == "s-0.jpg")
        queue.answered(again.id, .absent, at: wake, jitter: 0)
        let second = try #require(queue.next(at: wake).first)
        #expect(second.name == "s-1.jpg")
        queue.answered(second.id, .done, at: wake, jitter: 0)
        #expect(queue.next(at: wake).map(\.name) == ["s.vtt"])
    }

    @Test(
        "a sprite sheet no longer in the index is not sent, and is deleted from the store unless deletion is off",
        arguments: [true, false])
    func gone(deletes: Bool) {
        var rules = UploadRules()
        rules.deletes = deletes
        var queue = UploadQueue(rules: rules)
        queue.put(Self.update(1, ["s-0.jpg", "s-1.jpg", "s-2.jpg"]))
        queue.put(Self.update(2, ["s-3.jpg"], gone: ["s-0.jpg", "s-1.jpg"]))
        let requests = Self.settle(&queue)
        let (sent, deleted) = (requests.filter { $0.action != .delete }, requests.filter { $0.action == .delete })
        #expect(sent.map(\.name) == ["s-2.jpg", "s-3.jpg", "s.vtt"])
        #expect(deleted.map(\.name) == (deletes ? ["s-0.jpg", "s-1.jpg"] : []))
    }

    @Test("a sprite sheet whose upload is not answered delays no media")
    func besideMedia() {
        var queue = UploadQueue(rules: UploadRules())
        queue.put(Self.update(1, ["s-0.jpg"]))
        #expect(queue.next(at: 0).map(\.name) == ["s-0.jpg"])
        queue.list(SimulatedOrigin.listing(through: 0, isFirst: true), at: 0)
        let names = Self.settle(&queue).map(\.name)
        #expect(names.contains("v-1-0.m4s") && names.contains("v.m3u8") && names.contains("index.m3u8"))
        #expect(!names.contains("s.vtt") && !queue.isSettled)
    }

    @Test("60 waiting sprite sheets are sent one after another, then the index")
    func many() {
        var queue = UploadQueue(rules: UploadRules())
        let sheets = (0..<60).map { "s-\($0).jpg" }
        queue.put(Self.update(1, sheets))
        #expect(Self.settle(&queue).map(\.name) == sheets + ["s.vtt"])
    }
}
