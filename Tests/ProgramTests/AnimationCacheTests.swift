import LibAV
import MediaTypes
import Program
import Testing
import Threading

/// A cache in a reference type: `#expect` cannot call mutating functions.
private final class TestCache {
    typealias Key = AnimationCache.Key

    private var cache: AnimationCache

    init(limit: Int) { self.cache = AnimationCache(limit: limit) }

    var bytes: Int { self.cache.bytes }
    var isEmpty: Bool { self.cache.isEmpty }

    func begin(_ key: Key) -> Bool { self.cache.begin(key) }
    func grow(_ key: Key, by bytes: Int, now: Int64) -> Bool { self.cache.grow(key, by: bytes, now: now) }
    func cancel(_ key: Key) { self.cache.cancel(key) }
    func clean(now: Int64, paths: Set<String>) { self.cache.clean(now: now, paths: paths) }
    func close() { self.cache.close() }

    func finish(_ key: Key, _ animation: RecordedAnimation, until: Int64) {
        self.cache.finish(key, animation, until: until)
    }

    /// The animation, for a play that ends at `until`.
    func find(_ key: Key, until: Int64 = 0) -> RecordedAnimation? { self.cache.find(key) { _ in until } }

    /// Records an animation of `bytes` bytes whose play ends at `until`.
    func record(_ key: Key, _ bytes: Int, until: Int64, now: Int64 = 0) -> Bool {
        guard self.begin(key), self.grow(key, by: bytes, now: now) else { return false }
        self.finish(key, AnimationCacheTests.animation(samples: 0), until: until)
        return true
    }

    /// Whether an animation is found for a play that ends at `until`.
    func has(_ key: Key, until: Int64 = 0) -> Bool { self.find(key, until: until) != nil }
}

@Suite("Cache of decoded animations: what is kept and for how long")
struct AnimationCacheTests {
    private static let second: Int64 = 1_000_000_000

    private static func key(_ path: String, width: Int = 64) throws -> AnimationCache.Key {
        AnimationCache.Key(
            path: path, version: try #require(FileVersion(path: "/")), alpha: .own, width: width, height: 64,
            hasAudio: true)
    }

    /// An animation that consists of audio only.
    fileprivate static func animation(samples: Int) -> RecordedAnimation {
        var animation = RecordedAnimation()
        animation.add([Float](repeating: 0, count: samples), at: 0)
        animation.videoEnd = Self.second
        return animation
    }

    @Test("an animation is found in the cache when its recording is finished, under its file, size and alpha only")
    func found() throws {
        let cache = TestCache(limit: 100)
        let (rose, wide) = (try Self.key("rose.webm"), try Self.key("rose.webm", width: 128))
        #expect(cache.begin(rose))
        #expect(!cache.has(rose, until: 0), "it is being recorded")
        #expect(!cache.begin(rose), "another play does not record it as well")
        #expect(cache.grow(rose, by: 40, now: 0) && cache.grow(rose, by: 40, now: 0))
        cache.finish(rose, Self.animation(samples: 7), until: Self.second)
        let found = cache.find(rose)
        #expect(found?.audio.first?.samples.count == 7)
        #expect(!cache.has(wide, until: 0))
        #expect(!cache.begin(rose) && cache.begin(wide))
        #expect(cache.bytes == 80)
    }

    @Test(
        "a full cache removes the animation that was played least recently, but none that is being played or recorded")
    func leastRecent() throws {
        let cache = TestCache(limit: 100)
        let keys = try ["a", "b", "c", "d", "e"].map { try Self.key($0) }
        #expect(cache.record(keys[0], 40, until: 1))
        #expect(cache.record(keys[1], 40, until: 2))
        #expect(cache.has(keys[0], until: 3))
        #expect(cache.record(keys[2], 40, until: 9, now: 5))
        #expect(!cache.has(keys[1], until: 9) && cache.bytes == 80)
        #expect(cache.has(keys[0], until: 9))
        #expect(!cache.record(keys[3], 40, until: 9, now: 6), "both others are being played")
        #expect(cache.bytes == 80)
        #expect(cache.begin(keys[3]) && cache.grow(keys[3], by: 60, now: 10))
        #expect(cache.bytes <= 100)
        #expect(!cache.record(keys[4], 60, until: 99, now: 10), "the other one is being recorded")
        cache.cancel(keys[3])
        #expect(cache.record(keys[4], 60, until: 99, now: 10))
    }

    @Test(
        "an animation that is larger than the cache is not recorded again, and removes none whose space would not suffice"
    )
    func tooLarge() throws {
        let cache = TestCache(limit: 100)
        let (small, large) = (try Self.key("small"), try Self.key("large"))
        #expect(cache.record(small, 30, until: 1))
        #expect(cache.begin(large))
        #expect(!cache.grow(large, by: 101, now: 2))
        #expect(cache.bytes == 30 && !cache.begin(large))
        #expect(cache.has(small, until: 3))
        #expect(!cache.grow(large, by: 1, now: 2), "it is not being recorded any more")
        let off = TestCache(limit: 0)
        #expect(!off.begin(small) && off.isEmpty)
    }

    @Test("an animation leaves the cache a minute after its last play, or when its overlay is removed")
    func cleaned() throws {
        let cache = TestCache(limit: 100)
        let keys = try ["a", "b", "c"].map { try Self.key($0) }
        #expect(cache.record(keys[0], 10, until: Self.second))
        #expect(cache.record(keys[1], 10, until: 2 * Self.second))
        #expect(cache.begin(keys[2]) && cache.grow(keys[2], by: 10, now: 0))
        cache.clean(now: 60 * Self.second, paths: ["a", "b", "c"])
        #expect(cache.bytes == 30)
        cache.clean(now: 61 * Self.second, paths: ["a", "b", "c"])
        #expect(cache.bytes == 20 && !cache.has(keys[0], until: 0))
        cache.clean(now: 61 * Self.second, paths: ["b"])
        #expect(cache.bytes == 10 && !cache.grow(keys[2], by: 1, now: 0))
        cache.finish(keys[2], Self.animation(samples: 0), until: 0)
        #expect(!cache.has(keys[2], until: 0), "its recording was cancelled")
        cache.close()
        #expect(cache.isEmpty && cache.bytes == 0 && !cache.begin(keys[0]))
    }
}
