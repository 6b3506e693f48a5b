import MediaTypes
import Retention
import Synchronization
import Testing
import Upload

@Suite("gc: objects of ended rooms in a bucket")
struct BucketRetentionTests {
    private static let day = RoomsOnDisk.day
    private static let rule = RetentionRule(after: 7 * day, now: RoomsOnDisk.now)

    /// A bucket in memory.
    private final class Objects: RetainedBucket {
        private let objects: Mutex<[String: (bytes: [UInt8], modified: Int64)]>
        /// Whether it lists everything, whatever the prefix is.
        private let ignoresPrefix: Bool
        private let failing: Mutex<String?>

        init(ignoresPrefix: Bool = false) {
            self.objects = Mutex([:])
            self.ignoresPrefix = ignoresPrefix
            self.failing = Mutex(nil)
        }

        func put(_ key: String, _ text: String = "x", age: Int64 = 30 * BucketRetentionTests.day) {
            self.objects.withLock { $0[key] = (Array(text.utf8), RoomsOnDisk.now - age) }
        }

        func room(_ prefix: String, room: String, ended: Bool = true, age: Int64 = 30 * BucketRetentionTests.day) {
            self.put("\(prefix)index.m3u8", RoomsOnDisk.multivariant(room), age: age)
            for name in ["720p.m3u8", "720p-iframes.m3u8", "audio.m3u8"] {
                self.put(prefix + name, RoomsOnDisk.media(ended: ended), age: age)
            }
            for name in ["720p-1.mp4", "720p-1-0.m4s", "audio-1-0.m4s", "thumb.jpg", "thumb.vtt"] {
                self.put(prefix + name, age: age)
            }
        }

        func fail(deleting name: String?) { self.failing.withLock { $0 = name } }
        var keys: Set<String> { self.objects.withLock { Set($0.keys) } }

        func list(prefix: String) async throws(MediaError) -> [StoredObject] {
            self.objects.withLock { $0 }.filter { self.ignoresPrefix || $0.key.hasPrefix(prefix) }
                .map { StoredObject(key: $0.key, bytes: Int64($0.value.bytes.count), modified: $0.value.modified) }
                .sorted { $0.key < $1.key }
        }

        func read(_ name: String, prefix: String) async throws(MediaError) -> [UInt8]? {
            self.objects.withLock { $0[prefix + name]?.bytes }
        }

        func delete(_ name: String, prefix: String) async throws(MediaError) {
            if self.failing.withLock({ $0 == name }) {
                throw MediaError(.unavailable, "refused", at: "bucket", fix: "none")
            }
            self.objects.withLock { $0[prefix + name] = nil }
        }
    }

    private static func everything(ignoresPrefix: Bool = false) -> Objects {
        let bucket = Objects(ignoresPrefix: ignoresPrefix)
        bucket.room("live/a/", room: "a")
        bucket.room("live/young/", room: "young", age: 6 * Self.day)
        bucket.room("live/on-air/", room: "on-air", ended: false)
        // One playlist of the end has not arrived.
        bucket.room("live/half/", room: "half")
        bucket.put("live/half/audio.m3u8", RoomsOnDisk.media(ended: false))
        // Begins: there are segments, and no playlist yet.
        bucket.put("live/begins/720p-1-0.m4s")
        bucket.room("elsewhere/a/", room: "a")
        bucket.room("live/film/", room: "film")
        bucket.put("live/film/index.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n720p.m3u8\n")
        bucket.put("live/a/readme.txt")
        return bucket
    }

    @Test("only ended rooms below the prefix go, when they are old enough", arguments: [false, true])
    func all(ignoresPrefix: Bool) async throws {
        let bucket = Self.everything(ignoresPrefix: ignoresPrefix)
        let before = bucket.keys
        let rooms = BucketRetention(bucket, prefix: "live/", rule: Self.rule)
        let findings = try await rooms.find()
        let verdicts = Dictionary(uniqueKeysWithValues: findings.map { ($0.path, $0.verdict) })
        #expect(Set(verdicts.keys) == ["live/a/", "live/young/", "live/on-air/", "live/half/"])
        #expect(verdicts["live/a/"] == .remove)
        #expect(verdicts["live/young/"]?.reason.hasPrefix("removed after") == true)
        for path in ["live/on-air/", "live/half/"] { #expect(verdicts[path]?.reason == "the playlists have not ended") }
        let finding = try #require(findings.first)
        #expect(finding.files == 9 && finding.others == 1 && finding.room == "a")
        let removal = await rooms.remove(finding)
        #expect(removal.problem == nil && removal.files == 9)
        #expect(bucket.keys == before.filter { !$0.hasPrefix("live/a/") || $0 == "live/a/readme.txt" })
    }

    @Test("killed before any deletion, the next run finds the room as an ended one or not at all, and finishes")
    func killed() async throws {
        for step in 0...9 {
            let bucket = Self.everything()
            let others = bucket.keys.filter { !$0.hasPrefix("live/a/") || $0 == "live/a/readme.txt" }
            let rooms = BucketRetention(bucket, prefix: "live/", rule: Self.rule)
            let finding = try #require(try await rooms.find().first)
            let count = Mutex(0)
            let removal = await rooms.remove(finding) { _ in
                count.withLock { count in
                    count += 1
                    return count <= step
                }
            }
            #expect(removal.files == step && (removal.problem == nil) == (step == 9))
            let again = try await rooms.find().first { $0.path == "live/a/" }
            #expect((again == nil) == (step == 9), "\(step)")
            if let again {
                #expect(again.isRemovable && again.files == 9 - step, "\(step): \(again)")
                let rest = await rooms.remove(again)
                #expect(rest.problem == nil)
            }
            #expect(bucket.keys == others, "\(step)")
        }
    }

    @Test("a room that has changed since it was found stays; a refused deletion is reported")
    func changed() async throws {
        let bucket = Self.everything()
        let rooms = BucketRetention(bucket, prefix: "live/", rule: Self.rule)
        let finding = try #require(try await rooms.find().first)
        bucket.put("live/a/720p-2-0.m4s", age: 0)
        let removal = await rooms.remove(finding)
        #expect(removal.files == 0 && removal.problem?.contains("changed") == true)
        let later = Self.everything()
        later.fail(deleting: "720p.m3u8")
        let refused = await BucketRetention(later, prefix: "live/", rule: Self.rule).remove(finding)
        #expect(refused.problem?.contains("refused") == true && refused.files > 0)
        #expect(later.keys.contains("live/a/index.m3u8"))
    }
}
