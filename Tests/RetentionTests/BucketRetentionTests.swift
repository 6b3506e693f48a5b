import MediaTypes
import Retention
import Synchronization
import Testing
import Upload

@Suite("gc: objects of ended rooms in a bucket")
struct BucketRetentionTests {
    private static let day = RoomsOnDisk.day

    /// A bucket in memory. It lists a few objects at a time.
    private final class Objects: RetainedBucket {
        private let objects: Mutex<[String: (bytes: [UInt8], modified: Int64)]>
        /// Whether it lists everything, whatever the prefix is.
        private let ignoresPrefix: Bool
        /// Names whose deletion or reading is refused.
        private let failing = Mutex<Set<String>>([])
        /// Names that are listed and cannot be found.
        private let gone = Mutex<Set<String>>([])
        /// Called after each deletion.
        private let deleted = Mutex<@Sendable (String, Objects) -> Void>({ _, _ in })

        init(ignoresPrefix: Bool = false) {
            self.objects = Mutex([:])
            self.ignoresPrefix = ignoresPrefix
        }

        func put(_ key: String, _ text: String = "x", age: Int64 = 30 * BucketRetentionTests.day) {
            self.objects.withLock { $0[key] = (Array(text.utf8), RoomsOnDisk.now - age) }
        }

        func drop(_ key: String) { self.objects.withLock { $0[key] = nil } }

        static let names = [
            "index.m3u8", "720p.m3u8", "720p-iframes.m3u8", "audio.m3u8", "720p-1.mp4", "720p-1-0.m4s",
            "audio-1-0.m4s", "720p-1-2-slate.m4s", "still.jpg", "still-2-0.jpg", "still.vtt",
        ]

        func room(
            _ prefix: String, room: String, ended: Bool = true, age: Int64 = 30 * BucketRetentionTests.day,
            type: String? = nil
        ) {
            for name in Self.names {
                let isMedia = name.hasSuffix(".m3u8") && name != "index.m3u8"
                let text =
                    isMedia
                    ? RoomsOnDisk.media(ended: ended, type: type)
                    : RoomsOnDisk.text(of: name, room: room, ended: ended)
                self.put(prefix + name, text, age: age)
            }
        }

        func fail(_ name: String) { _ = self.failing.withLock { $0.insert(name) } }
        func lose(_ name: String) { _ = self.gone.withLock { $0.insert(name) } }
        func afterDeletion(_ body: @escaping @Sendable (String, Objects) -> Void) {
            self.deleted.withLock { $0 = body }
        }
        var keys: Set<String> { self.objects.withLock { Set($0.keys) } }

        func page(prefix: String, after token: String?) async throws(MediaError) -> ObjectPage {
            let keys = self.objects.withLock { $0 }.filter { self.ignoresPrefix || $0.key.hasPrefix(prefix) }
                .map { StoredObject(key: $0.key, bytes: Int64($0.value.bytes.count), modified: $0.value.modified) }
                .filter { $0.key > token ?? "" }.sorted { $0.key < $1.key }
            let page = Array(keys.prefix(self.ignoresPrefix ? 1_000 : 3))
            return ObjectPage(page, next: page.count < keys.count ? page.last?.key : nil)
        }

        func read(_ name: String, prefix: String) async throws(MediaError) -> [UInt8]? {
            try self.check(prefix + name)
            if self.gone.withLock({ $0.contains(prefix + name) }) { return nil }
            return self.objects.withLock { $0[prefix + name]?.bytes }
        }

        func delete(_ name: String, prefix: String) async throws(MediaError) {
            try self.check(name)
            self.drop(prefix + name)
            self.deleted.withLock { $0 }(prefix + name, self)
        }

        private func check(_ name: String) throws(MediaError) {
            if self.failing.withLock({ $0.contains(name) }) {
                throw MediaError(.unavailable, "refused", at: "bucket", fix: "none")
            }
        }
    }

    private static func everything(ignoresPrefix: Bool = false) -> Objects {
        let bucket = Objects(ignoresPrefix: ignoresPrefix)
        bucket.room("live/a/", room: "a")
        bucket.room("live/young/", room: "young", age: 6 * Self.day)
        bucket.room("live/on-air/", room: "on-air", ended: false)
        // One of the ended playlists has not been uploaded.
        bucket.room("live/half/", room: "half")
        bucket.put("live/half/audio.m3u8", RoomsOnDisk.media(ended: false))
        // The room is just starting: it has segments, but no playlist yet.
        bucket.put("live/begins/720p-1-0.m4s")
        bucket.room("elsewhere/a/", room: "a")
        bucket.room("live/film/", room: "film")
        bucket.put("live/film/index.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n720p.m3u8\n")
        for name in Self.foreign { bucket.put("live/a/\(name)") }
        return bucket
    }

    /// Objects of other programs in the place of the room.
    private static let foreign = [
        "readme.txt", "poster.jpg", "concert-2024.mp4", "other-1-0.m4s", ".upload-cdn.tmp", "720p-1-0.ts",
    ]

    private static func retention(_ bucket: Objects, recordingsAfter: Int64? = nil) -> BucketRetention {
        BucketRetention(
            bucket, prefix: "live/",
            rule: RetentionRule(after: 7 * Self.day, recordingsAfter: recordingsAfter, now: RoomsOnDisk.now))
    }

    private static func findings(_ rooms: BucketRetention) async throws -> [Finding] {
        var findings: [Finding] = []
        try await rooms.find { findings.append($0) }
        return findings.sorted { $0.path < $1.path }
    }

    /// The verdict about the room at `live/a/`.
    private static func verdict(_ bucket: Objects, recordingsAfter: Int64? = nil) async throws -> Finding.Verdict? {
        try await Self.findings(Self.retention(bucket, recordingsAfter: recordingsAfter))
            .first { $0.path == "live/a/" }?.verdict
    }

    @Test(
        "in a bucket, only ended rooms below the prefix may be removed when old enough, also if the service ignores the prefix",
        arguments: [false, true])
    func all(ignoresPrefix: Bool) async throws {
        let bucket = Self.everything(ignoresPrefix: ignoresPrefix)
        let before = bucket.keys
        let rooms = Self.retention(bucket)
        let findings = try await Self.findings(rooms)
        let verdicts = Dictionary(uniqueKeysWithValues: findings.map { ($0.path, $0.verdict) })
        #expect(Set(verdicts.keys) == ["live/a/", "live/young/", "live/on-air/", "live/half/"])
        #expect(verdicts["live/a/"] == .remove)
        #expect(verdicts["live/young/"]?.reason.hasPrefix("removed after") == true)
        for path in ["live/on-air/", "live/half/"] { #expect(verdicts[path]?.reason == "the playlists have not ended") }
        let finding = try #require(findings.first)
        #expect(finding.files == Objects.names.count && finding.others == Self.foreign.count && finding.room == "a")
        let removal = await rooms.remove(finding)
        #expect(removal.problem == nil && removal.files == Objects.names.count)
        let foreign = Set(Self.foreign.map { "live/a/\($0)" })
        #expect(bucket.keys == before.filter { !$0.hasPrefix("live/a/") || foreign.contains($0) })
    }

    @Test("wherever a removal from a bucket is killed, the next run finds the rest of the ended room and removes it")
    func killed() async throws {
        let whole = Objects.names.count
        for step in 0...whole {
            let bucket = Self.everything()
            let foreign = Set(Self.foreign.map { "live/a/\($0)" })
            let others = bucket.keys.filter { !$0.hasPrefix("live/a/") || foreign.contains($0) }
            let rooms = Self.retention(bucket)
            let finding = try #require(try await Self.findings(rooms).first)
            let count = Mutex(0)
            let removal = await rooms.remove(finding) { _ in
                count.withLock { count in
                    count += 1
                    return count <= step
                }
            }
            #expect(removal.files == step && (removal.problem == nil) == (step == whole))
            let again = try await Self.findings(rooms).first { $0.path == "live/a/" }
            #expect((again == nil) == (step == whole), "\(step)")
            if let again {
                #expect(again.isRemovable && again.files == whole - step, "\(step): \(again)")
                let rest = await rooms.remove(again)
                #expect(rest.problem == nil)
            }
            #expect(bucket.keys == others, "\(step)")
        }
    }

    @Test("a room in a bucket that has changed since it was found is kept; a refused deletion is reported")
    func changed() async throws {
        let bucket = Self.everything()
        let rooms = Self.retention(bucket)
        let finding = try #require(try await Self.findings(rooms).first)
        bucket.put("live/a/720p-2-0.m4s", age: 0)
        let removal = await rooms.remove(finding)
        #expect(removal.files == 0 && removal.problem?.contains("changed") == true)
        let later = Self.everything()
        later.fail("720p.m3u8")
        let refused = await Self.retention(later).remove(finding)
        #expect(refused.problem?.contains("refused") == true && refused.files > 0)
        #expect(later.keys.contains("live/a/index.m3u8"))
    }

    @Test(
        "a room in a bucket that is started again during its removal keeps the playlists that are not yet removed and its new objects",
        arguments: [
            // A playlist that is still to be deleted; a new name; a name that another program could have.
            ("720p-1-0.m4s", "720p.m3u8"), ("720p-1-0.m4s", "720p-2-0.m4s"), ("still.vtt", "zzz.bin"),
            ("720p-iframes.m3u8", "audio.m3u8"),
        ])
    func startedAgain(after: String, stored: String) async throws {
        let bucket = Self.everything()
        let rooms = Self.retention(bucket)
        let finding = try #require(try await Self.findings(rooms).first)
        bucket.afterDeletion { key, bucket in
            if key == "live/a/\(after)" { bucket.put("live/a/\(stored)", "new", age: 0) }
        }
        let removal = await rooms.remove(finding)
        #expect(removal.problem != nil && removal.files < finding.files)
        let kept = [stored, "index.m3u8", "720p.m3u8", "audio.m3u8"].map { "live/a/\($0)" }
        #expect(bucket.keys.isSuperset(of: kept))
    }

    @Test("a room in a bucket is kept if a playlist is listed but does not exist, or its media has no playlist")
    func missing() async throws {
        let lost = Self.everything()
        lost.lose("live/a/audio.m3u8")
        #expect(try await Self.verdict(lost)?.reason.hasPrefix("audio.m3u8 is listed but does not exist") == true)
        let bucket = Self.everything()
        bucket.drop("live/a/audio.m3u8")
        #expect(try await Self.verdict(bucket)?.reason == "audio.m3u8 is missing, but the room still has media")
    }

    @Test("gc with a prefix that selects only some of a room's objects in a bucket finds no room")
    func part() async throws {
        let bucket = Self.everything()
        let rule = RetentionRule(after: 7 * Self.day, now: RoomsOnDisk.now)
        let rooms = BucketRetention(bucket, prefix: "live/a/i", rule: rule)
        #expect(try await Self.findings(rooms).isEmpty)
        let whole = BucketRetention(bucket, prefix: "live/a", rule: rule)
        #expect(try await Self.findings(whole).map(\.path) == ["live/a/"])
    }

    @Test("recordings in a bucket are kept unless an age for recordings is given")
    func recordings() async throws {
        for type in ["VOD", "EVENT"] {
            let bucket = Objects()
            bucket.room("live/a/", room: "a", type: type)
            let kept = try await Self.verdict(bucket)
            #expect(kept?.reason == "recordings are kept unless --recordings-older-than is given", "\(type)")
            #expect(try await Self.verdict(bucket, recordingsAfter: 30 * Self.day) == .remove)
        }
        let bucket = Objects()
        bucket.room("live/a/", room: "a")
        bucket.put("live/a/720p.mp4")
        bucket.put("live/a/other.mp4")
        bucket.put("live/a/recording.json", RoomsOnDisk.manifest("a", ["720p.mp4", "720p.m3u8"]))
        #expect(try await Self.verdict(bucket)?.reason.hasPrefix("recordings are kept") == true)
        let rooms = Self.retention(bucket, recordingsAfter: Self.day)
        let finding = try #require(try await Self.findings(rooms).first)
        #expect(finding.isRemovable && finding.files == Objects.names.count + 2 && finding.others == 1)
        let removal = await rooms.remove(finding)
        #expect(removal.problem == nil && bucket.keys == ["live/a/other.mp4"])
    }

    @Test("an object in a bucket that cannot be read is reported, and the gc run continues")
    func unreadable() async throws {
        let bucket = Self.everything()
        bucket.fail("live/half/720p.m3u8")
        let findings = try await Self.findings(Self.retention(bucket))
        let half = findings.first { $0.path == "live/half/" }
        #expect(half?.verdict == .skip("it cannot be read: refused") && half?.isSkipped == true)
        #expect(findings.contains { $0.path == "live/a/" && $0.isRemovable } && findings.count == 4)
    }

    @Test(
        "a live room whose prefix is inside that of an ended room is found separately, and kept when the ended one is removed"
    )
    func nested() async throws {
        let bucket = Objects()
        bucket.room("live/a/", room: "outer")
        bucket.room("live/a/b/", room: "inner", ended: false)
        let rooms = Self.retention(bucket)
        let findings = try await Self.findings(rooms)
        #expect(findings.map(\.room) == ["outer", "inner"] && findings.map(\.isRemovable) == [true, false])
        #expect(findings.map(\.files) == [Objects.names.count, Objects.names.count])
        let removal = await rooms.remove(findings[0])
        #expect(removal.problem == nil && bucket.keys.count == Objects.names.count)
    }

    /// A bucket whose service answers with the same page, whatever is asked for.
    private struct Repeating: RetainedBucket {
        let answer: ObjectPage
        func page(prefix: String, after token: String?) async throws(MediaError) -> ObjectPage { self.answer }
        func read(_ name: String, prefix: String) async throws(MediaError) -> [UInt8]? { nil }
        func delete(_ name: String, prefix: String) async throws(MediaError) {}
    }

    @Test(
        "a bucket listing that repeats itself, has more than 100 empty pages in a row, or is not in order is an error",
        arguments: [
            ObjectPage([], next: "t"), ObjectPage([StoredObject(key: "a", bytes: 1, modified: 1)], next: "t"),
            ObjectPage(["b", "a"].map { StoredObject(key: $0, bytes: 1, modified: 1) }, next: nil),
        ])
    func repeated(page: ObjectPage) async {
        let rooms = BucketRetention(
            Repeating(answer: page), prefix: "", rule: RetentionRule(after: 60, now: RoomsOnDisk.now))
        await #expect(throws: MediaError.self) { try await rooms.find { _ in } }
    }

    @Test("the sizes of a room's objects in a bucket are added up without overflow")
    func sizes() async throws {
        let objects = ["a-1-0.m4s", "a-1-1.m4s"].map { StoredObject(key: $0, bytes: .max, modified: 1) }
        let playlists = ["a.m3u8", "index.m3u8"].map { StoredObject(key: $0, bytes: 1, modified: 1) }
        let rooms = BucketRetention(
            Fixed(objects: objects + playlists), prefix: "", rule: RetentionRule(after: 60, now: RoomsOnDisk.now))
        let finding = try #require(try await Self.findings(rooms).first)
        #expect(finding.bytes == .max && finding.files == 4 && finding.isRemovable && finding.path == ".")
    }

    private struct Fixed: RetainedBucket {
        let objects: [StoredObject]
        func page(prefix: String, after token: String?) async throws(MediaError) -> ObjectPage {
            ObjectPage(self.objects, next: nil)
        }
        func read(_ name: String, prefix: String) async throws(MediaError) -> [UInt8]? {
            Array(
                (name == "index.m3u8"
                    ? RoomsOnDisk.multivariant("a").replacing("720p", with: "a").replacing("audio.m3u8", with: "a.m3u8")
                    : RoomsOnDisk.media(ended: true)).utf8)
        }
        func delete(_ name: String, prefix: String) async throws(MediaError) {}
    }
}
