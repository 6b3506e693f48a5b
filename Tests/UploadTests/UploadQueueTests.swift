import HLS
import MediaTypes
import Packager
import Testing
import Upload

@Suite("Upload queue: DASH-IF live media ingest interface 2, rfc8216bis §6.2.1")
struct UploadQueueTests {
    private static let second = SimulatedOrigin.second

    private static func gaps(_ origin: SimulatedOrigin, _ name: String = "v.m3u8") -> [Int64] {
        let (first, rows, _) = origin.rows(name)
        return rows.enumerated().filter(\.element.isGap).map { first + Int64($0.offset) }
    }

    /// Numbers of the segments reported as lost.
    private static func lost(_ origin: SimulatedOrigin) -> [Int64] {
        origin.notices.compactMap { if case .lost(let number, _, _) = $0 { number } else { nil } }
    }

    @Test("a healthy store gets every segment before the playlist that names it, and no playlist has a gap")
    func inOrder() {
        var origin = SimulatedOrigin()
        origin.run(seconds: 20)
        #expect(Self.gaps(origin).isEmpty && origin.notices.isEmpty)
        #expect(origin.rows("v.m3u8").rows.count == 10 && origin.rows("a.m3u8").rows.count == 10)
        #expect(Array(origin.order.prefix(2).sorted()) == ["a-1.mp4", "v-1.mp4"], "initialization segments first")
        let documents = origin.order.filter { $0.hasSuffix(".m3u8") }
        #expect(
            Array(documents.prefix(4)) == ["a.m3u8", "v.m3u8", "v-iframes.m3u8", "index.m3u8"],
            "audio, video, then the multivariant playlist")
        #expect(documents.count(where: { $0 == "index.m3u8" }) == 1, "once: it does not change")
        #expect(origin.mostWaiting == 1)
        #expect(origin.mostInFlight <= 2, "one request per track")
    }

    @Test(
        "after an outage, lost segments are EXT-X-GAP, the live edge is listed within 3.5 s, and at most two segments queue up",
        arguments: [5.0, 20, 60], [SimulatedOrigin.Mood.refusing, .silent])
    func away(seconds: Double, mood: SimulatedOrigin.Mood) {
        var origin = SimulatedOrigin()
        origin.run(seconds: 11)
        let before = origin.rows("v.m3u8")
        origin.run(seconds: seconds, mood)
        #expect(origin.rows("v.m3u8").rows == before.rows, "nothing was accepted")
        let back = origin.now
        // An attempt in progress ends first.
        let notice = mood == .refusing ? 1.5 : 3.5
        origin.run(seconds: notice)
        // Only the newest segment may still be missing.
        let newest = origin.now / SimulatedOrigin.slotLength
        let next = origin.sightings.filter { $0.name == "v.m3u8" }.last?.next
        #expect(next.map { $0 >= newest } == true, "the live edge")
        let first = origin.sightings.first { $0.time > back && $0.name == "v.m3u8" }
        #expect(first != nil, "it is detected within its longest wait")
        let lost = Self.lost(origin)
        #expect(lost == Array(Set(lost)).sorted() && !lost.isEmpty)
        #expect(lost.count <= Int(seconds / 2) + 2, "no more than during the outage: \(lost)")
        let (start, rows, _) = origin.rows("v.m3u8")
        #expect(Self.gaps(origin) == lost.filter { $0 >= start && $0 < start + Int64(rows.count) })
        #expect(origin.mostWaiting <= 2, "segments are dropped as fast as they are added")
        #expect(origin.mostInFlight <= 4)
        let states = origin.notices.filter { if case .lost = $0 { false } else { true } }
        guard states.count == 2, case .unreachable = states.first, case .restored(_, let time) = states.last else {
            Issue.record("\(states)")
            return
        }
        #expect(time >= Int64(seconds - 4) * Self.second)
        origin.run(seconds: 40)
        #expect(Self.gaps(origin).isEmpty, "lost segments have left the window")
    }

    @Test("if the queue's patience exceeds the outage, no segment is lost and the queued ones arrive in order")
    func patient() {
        var rules = UploadRules()
        rules.patience = 15 * Self.second
        var origin = SimulatedOrigin(rules)
        origin.run(seconds: 7)
        origin.run(seconds: 9, .refusing)
        origin.run(seconds: 4)
        #expect(Self.lost(origin).isEmpty && Self.gaps(origin).isEmpty)
        #expect(origin.mostWaiting >= 4)
        let segments = origin.order.filter { $0.hasPrefix("v-1-") }
        #expect(segments == (0..<10).map { "v-1-\($0).m4s" })
    }

    @Test(
        "in an outage at most `mostSegments` segments are queued; the oldest are lost, and then the live edge is listed",
        arguments: [1, 3, 16])
    func bounded(most: Int) {
        var rules = UploadRules()
        rules.patience = 600 * Self.second
        rules.mostSegments = most
        var origin = SimulatedOrigin(rules)
        origin.run(seconds: 5)
        origin.run(seconds: 60, .silent)
        #expect(origin.mostWaiting <= most)
        // Number 2 was stored before the outage, and 32 is the newest.
        #expect(Self.lost(origin) == Array(3..<Int64(33 - most)))
        // The attempt in progress, then everything queued.
        origin.run(seconds: 6)
        let lost = Self.lost(origin)
        #expect(lost == Array(3..<Int64(3 + lost.count)))
        #expect(origin.rows("v.m3u8").first + Int64(origin.rows("v.m3u8").rows.count) >= 34)
    }

    @Test("if slate is configured, a lost segment is replaced by slate instead of a gap; the slate is deleted later")
    func slate() {
        var rules = UploadRules()
        rules.restamp = .slate
        rules.mostSegments = 40
        var origin = SimulatedOrigin(rules)
        origin.run(seconds: 7)
        origin.run(seconds: 20, .refusing)
        origin.run(seconds: 4)
        #expect(Self.gaps(origin).isEmpty)
        let slates = origin.rows("v.m3u8").rows.map(\.uri).filter { $0.hasSuffix("-slate.m4s") }
        #expect((8...11).contains(slates.count), "\(slates)")
        #expect(slates.allSatisfy { origin.stored[$0] == Array("slate".utf8) })
        let notices = origin.notices.filter { if case .lost(_, _, true) = $0 { true } else { false } }
        #expect(notices.count == slates.count)
        origin.run(seconds: 60)
        #expect(!origin.stored.keys.contains { $0.hasSuffix("-slate.m4s") }, "and it is deleted in time")
    }

    @Test("a segment file that does not exist becomes a gap at once")
    func absent() {
        var origin = SimulatedOrigin()
        origin.files = { $0 != "v-1-2.m4s" }
        origin.run(seconds: 9)
        #expect(Self.gaps(origin) == [2] && Self.gaps(origin, "a.m3u8").isEmpty)
        #expect(origin.notices == [.lost(mediaSequence: 2, tracks: ["v"], slate: false)])
    }

    @Test("with a store that takes three seconds for each request, at most two segments queue up")
    func slow() {
        var origin = SimulatedOrigin()
        origin.latency = 3 * Self.second
        origin.run(seconds: 30)
        #expect(origin.mostWaiting <= 2)
        #expect(origin.queue.waitingSegments <= 2)
    }

    @Test(
        "with a store that takes 300 ms for each request, every segment is listed within 1 s of its end"
    )
    func distant() {
        var origin = SimulatedOrigin()
        origin.latency = 300_000_000
        origin.run(seconds: 20)
        let lags = origin.sightings.filter { $0.name == "v.m3u8" }.dropFirst()
            .map { $0.time - ($0.next - 1) * SimulatedOrigin.slotLength }
        #expect(lags.count >= 8 && lags.allSatisfy { $0 < Self.second }, "\(lags)")
    }

    @Test(
        "segments that left the playlist are deleted after a while, unless deletion is off", arguments: [true, false])
    func deletes(isOn: Bool) {
        var rules = UploadRules()
        rules.deletes = isOn
        var origin = SimulatedOrigin(rules)
        origin.run(seconds: 120)
        let kept = origin.stored.keys.count { $0.hasPrefix("v-1-") }
        #expect(isOn ? (13...32).contains(kept) : kept == 60, "\(kept)")
        #expect(origin.stored["v-1.mp4"] != nil)
        for row in origin.rows("v.m3u8").rows { #expect(origin.stored[row.uri] != nil) }
    }

    /// A video-only room with another canvas from segment 3 to 8.
    private static func canvases(
        _ number: Int64, ticks: Int64 = 2_000, isGap: Bool = false, isEnded: Bool = false
    ) -> OutputListing {
        let segment = Segment(
            mediaSequence: number, uri: "v-1-\(number).m4s", start: number * 2_000,
            duration: MediaDuration(ticks: ticks, timescale: 1_000), programDate: number * SimulatedOrigin.slotLength,
            map: InitializationSegment(uri: (3...8).contains(number) ? "v-1-1.mp4" : "v-1.mp4"),
            discontinuity: number == 3 || number == 9, gap: isGap, byteCount: 100)
        let track = OutputListing.Track(
            name: "v", kind: .video, playlistName: "v.m3u8", contentType: "video/mp4", style: .live(windowSeconds: 6),
            targetDuration: 2, segments: [segment])
        return OutputListing(
            origin: 5, tracks: [track], multivariantName: "index.m3u8", multivariant: "#EXTM3U\n", isEnded: isEnded,
            nextMediaSequence: number + 1)
    }

    @Test("a segment cut short to 0.1 s may take longer than that to upload, and does not become a gap")
    func shortSegment() {
        var queue = UploadQueue(rules: UploadRules())
        queue.list(Self.canvases(0, ticks: 100), at: 0)
        var now: Int64 = 0
        for name in ["v-1.mp4", "v-1-0.m4s"] {
            let requests = queue.next(at: now)
            #expect(requests.map(\.name) == [name] && requests.allSatisfy { $0.timeout > 300_000_000 })
            now += 300_000_000
            #expect(queue.next(at: now).isEmpty, "nothing is dropped")
            for request in requests { queue.answered(request.id, .done, at: now, jitter: 0) }
        }
        let playlist = queue.next(at: now).first { $0.name == "v.m3u8" }
        guard case .put(.bytes(let bytes)) = playlist?.action else {
            Issue.record("no playlist")
            return
        }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("\nv-1-0.m4s\n") && !text.contains("#EXT-X-GAP"), "\(text)")
        #expect(queue.takeNotices().isEmpty)
    }

    @Test(
        "if the room returns to an earlier canvas, its initialization segment is stored, even if it is just being deleted",
        arguments: [false, true])
    func mapAgain(isUnderWay: Bool) {
        var queue = UploadQueue(rules: UploadRules())
        var stored: Set<String> = []
        var deletion: UploadRequest?
        // Only deletions take time.
        func work() {
            var requests = queue.next(at: 0)
            while !requests.isEmpty {
                for request in requests {
                    if case .delete = request.action {
                        deletion = request
                        continue
                    }
                    stored.insert(request.name)
                    queue.answered(request.id, .done, at: 0, jitter: 0)
                }
                requests = queue.next(at: 0)
            }
        }
        func delete() {
            guard let request = deletion else { return }
            deletion = nil
            stored.remove(request.name)
            queue.answered(request.id, .done, at: 0, jitter: 0)
            work()
        }
        for number in Int64(0)...8 {
            queue.list(Self.canvases(number), at: 0)
            work()
            while number < 8, deletion != nil { delete() }
        }
        #expect(deletion?.name == "v-1-2.m4s" && stored.contains("v-1.mp4"))
        if isUnderWay {
            delete()
            #expect(deletion?.name == "v-1.mp4")
        }
        queue.list(Self.canvases(9), at: 0)
        work()
        while deletion != nil { delete() }
        #expect(stored.isSuperset(of: ["v-1.mp4", "v-1-1.mp4", "v-1-9.m4s"]), "\(stored)")
        #expect(queue.isSettled && queue.takeNotices().isEmpty)
    }

    /// Performs all requests at once and returns their names in order.
    private static func work(
        _ queue: inout UploadQueue, _ outcome: (String) -> UploadOutcome = { _ in .done }
    ) -> [String] {
        var names: [String] = []
        var requests = queue.next(at: 0)
        while !requests.isEmpty {
            for request in requests {
                names.append(request.name)
                queue.answered(request.id, outcome(request.name), at: 0, jitter: 0)
            }
            requests = queue.next(at: 0)
        }
        return names
    }

    @Test(
        "an initialization segment that only gaps refer to is stored, also for a gap of an earlier worker",
        arguments: [false, true])
    func mapOfGaps(isRestarted: Bool) {
        var queue = UploadQueue(rules: UploadRules())
        for number in Int64(0)...2 {
            queue.list(Self.canvases(number), at: 0)
            _ = Self.work(&queue)
        }
        let last = Self.canvases(3, isGap: true, isEnded: true)
        queue.list(last, at: 0)
        #expect(!queue.isSettled)
        if isRestarted {
            // The first worker was killed before it sent anything of the last listing.
            let record = queue.record
            queue = UploadQueue(rules: UploadRules())
            queue.list(last, record: record, at: 0)
        }
        let names = Self.work(&queue)
        #expect(names.filter { $0.hasSuffix(".mp4") } == ["v-1-1.mp4"] && names.contains("v.m3u8"), "\(names)")
        #expect(queue.isWhole && queue.takeNotices().isEmpty)
    }

    @Test("the initialization segment of a gap is not retried if it has no file")
    func mapOfGapsWithoutFile() {
        var queue = UploadQueue(rules: UploadRules())
        queue.list(Self.canvases(3, isGap: true, isEnded: true), at: 0)
        let names = Self.work(&queue) { $0.hasSuffix(".mp4") ? .absent : .done }
        #expect(names.filter { $0.hasSuffix(".mp4") } == ["v-1-1.mp4"] && queue.isWhole, "\(names)")
    }

    @Test("after the room's end, the video and audio playlists get EXT-X-ENDLIST once all segments are stored")
    func end() {
        var origin = SimulatedOrigin()
        origin.run(seconds: 9)
        origin.end()
        #expect(!origin.queue.isSettled)
        origin.run(seconds: 1)
        #expect(origin.queue.isSettled)
        #expect(origin.rows("v.m3u8").isEnded && origin.rows("a.m3u8").isEnded)
    }

    @Test("EXT-X-ENDLIST is sent when a store that was down at the room's end returns")
    func endWhileAway() {
        var origin = SimulatedOrigin()
        origin.run(seconds: 9)
        origin.end()
        origin.run(seconds: 10, .refusing)
        #expect(!origin.queue.isSettled && !origin.rows("v.m3u8").isEnded)
        origin.run(seconds: 3)
        #expect(origin.queue.isSettled && origin.rows("v.m3u8").isEnded)
    }

    @Test(
        "after the room's end, queued segments are retried until the store accepts them and do not become gaps",
        arguments: [SimulatedOrigin.Mood.refusing, .silent])
    func lastSegments(mood: SimulatedOrigin.Mood) {
        var origin = SimulatedOrigin()
        origin.run(seconds: 9)
        // Down from shortly before the end: number 5 waits.
        origin.run(seconds: 1.5, mood)
        origin.end()
        origin.run(seconds: 20, mood)
        #expect(origin.queue.waitingSegments == 1 && !origin.queue.isSettled)
        let (number, record) = (Int64(5), origin.queue.record)
        #expect(record?.next == number, "a restarted worker starts with it")
        origin.run(seconds: 8)
        #expect(origin.queue.isSettled && origin.rows("v.m3u8").isEnded)
        #expect(Self.gaps(origin).isEmpty && Self.gaps(origin, "a.m3u8").isEmpty && Self.lost(origin).isEmpty)
        #expect(origin.rows("v.m3u8").rows.last?.uri == "v-1-\(number).m4s")
    }

    @Test("a new worker continues after the last segment that the earlier one stored, and keeps its gaps")
    func successor() throws {
        var first = SimulatedOrigin()
        first.files = { $0 != "v-1-6.m4s" }
        first.run(seconds: 20)
        let record = try #require(first.queue.record)
        let read = try #require(UploadRecord(text: record.text))
        #expect(read == record)
        var second = UploadQueue(rules: UploadRules())
        second.list(
            SimulatedOrigin.listing(through: 10, isFirst: true), record: read, at: 0)
        var requests = second.next(at: 0)
        #expect(requests.map(\.name).sorted() == ["a-1.mp4", "a.m3u8", "v-1.mp4"], "only number 10 is new")
        for request in requests { second.answered(request.id, .done, at: 0, jitter: 0) }
        requests = second.next(at: 0)
        #expect(Set(requests.map(\.name)) == ["a-1-10.m4s", "v-1-10.m4s", "v.m3u8"])
        let playlist = requests.first { $0.name == "v.m3u8" }
        guard case .put(.bytes(let bytes)) = playlist?.action else {
            Issue.record("no playlist")
            return
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.count(where: { $0 == "#EXT-X-GAP" }) == 1, "\(lines)")
        #expect(lines.contains("v-1-9.m4s") && !lines.contains("v-1-10.m4s"))
    }

    @Test(
        "objects that a worker did not delete are deleted by its successor, once its own playlists are there",
        arguments: [true, false])
    func leftovers(isKnown: Bool) throws {
        var first = SimulatedOrigin()
        first.run(seconds: 118)
        let record = try #require(first.queue.record)
        let read = try #require(UploadRecord(text: record.text))
        #expect(read == record && !read.leftovers.isEmpty)
        #expect(read.leftovers.allSatisfy { first.stored[$0] != nil }, "\(read.leftovers)")
        var queue = UploadQueue(rules: UploadRules())
        // Near the record, or so far beyond it that the store's playlists start again.
        let listing = SimulatedOrigin.listing(through: record.next + (isKnown ? 0 : 100), isFirst: true)
        queue.list(listing, record: read, at: 0)
        let passedOn = Set(queue.record?.leftovers ?? [])
        #expect(passedOn.isSuperset(of: read.leftovers), "also after a second kill")
        var taken: Set<String> = []
        var deleted: [String] = []
        for round in 0..<200 {
            let now = Int64(round) * 10_000_000
            for request in queue.next(at: now) {
                if case .delete = request.action {
                    #expect(taken.isSuperset(of: ["v.m3u8", "a.m3u8"]), "\(request.name) is deleted too early")
                    deleted.append(request.name)
                } else {
                    taken.insert(request.name)
                }
                queue.answered(request.id, .done, at: now, jitter: 0)
            }
        }
        let listed = Set(listing.tracks.flatMap { $0.segments.map(\.uri) })
        #expect(Set(deleted).isDisjoint(with: listed) && deleted.count == Set(deleted).count)
        #expect(Set(deleted).isSuperset(of: Set(read.leftovers).subtracting(listed)), "\(deleted)")
    }

    @Test("a deletion that the store refuses is not repeated at once, stays in the record and is no unfinished upload")
    func deleting() {
        let record = UploadRecord(origin: 5, next: 0, leftovers: ["old.m4s"])
        var queue = UploadQueue(rules: UploadRules())
        queue.list(SimulatedOrigin.listing(through: 0, isFirst: true, isEnded: true), record: record, at: 0)
        #expect(!queue.isDeleting, "playlists may name it")
        var asked = 0
        for _ in 0..<9 {
            for request in queue.next(at: 0) {
                guard request.action == .delete else {
                    queue.answered(request.id, .done, at: 0, jitter: 0)
                    continue
                }
                #expect(queue.isDeleting)
                asked += 1
                queue.answered(request.id, .failed("403"), at: 0, jitter: 0)
            }
        }
        #expect(asked == 1 && !queue.isDeleting && queue.isWhole)
        #expect(queue.record?.leftovers == ["old.m4s"], "it is retried")
    }

    @Test(
        "from an upload record only plain file names, at most 1,024, are read as objects to delete; none if deletion is off"
    )
    func noLeftovers() throws {
        let many = (0..<5_000).map { "/ 0 v-1-\($0).m4s\n" }.joined()
        let read = try #require(UploadRecord(text: "tandem-upload 1\n5 1\n/ 0 ../x\n/ 0 a/b\n\(many)"))
        #expect(read.leftovers.first == "v-1-0.m4s" && read.leftovers.count == 1_024)
        #expect(UploadRecord(text: "tandem-upload 1\n5 1\n/ 0\n") == nil)
        var rules = UploadRules()
        rules.deletes = false
        var queue = UploadQueue(rules: rules)
        queue.list(SimulatedOrigin.listing(through: 1, isFirst: true), record: read, at: 0)
        #expect(queue.record?.leftovers == [])
    }

    @Test("an upload record with another origin, or a damaged one, is ignored")
    func otherRecord() {
        for text in [
            "", "x", "tandem-upload 1\n", "tandem-upload 1\n5 -1\n", "tandem-upload 1\n5 1\nv\n",
            "tandem-upload 1\n5 1\nv x\n",
        ] {
            #expect(UploadRecord(text: text) == nil)
        }
        var queue = UploadQueue(rules: UploadRules())
        queue.list(
            SimulatedOrigin.listing(through: 10, isFirst: true), record: UploadRecord(origin: 6, next: 11), at: 0)
        // Like a new store: the newest segments, half of the allowed queue.
        #expect(queue.waitingSegments == 8)
    }

    @Test(
        "with the rules for an ended room, a store in unknown state is sent all listed segments, beyond `mostSegments`")
    func wholeDebt() {
        let listing = SimulatedOrigin.listing(through: 40, isFirst: true, isEnded: true)
        var rules = UploadRules()
        rules.mostSegments = 1
        rules = rules.settling(listing, within: 30 * Self.second)
        var queue = UploadQueue(rules: rules)
        queue.list(listing, at: 0)
        #expect(queue.waitingSegments == SimulatedOrigin.window + 1 && rules.patience == 30 * Self.second)
        #expect(queue.next(at: 0).allSatisfy { $0.name.hasSuffix("-1.mp4") })
        #expect(queue.record?.next == 28 && queue.takeNotices().isEmpty, "nothing is dropped")
    }

    @Test("a store's response without a request, or a second response to one, changes nothing")
    func strayAnswers() {
        var queue = UploadQueue(rules: UploadRules())
        queue.answered(7, .done, at: 0, jitter: 0)
        queue.list(SimulatedOrigin.listing(through: 0, isFirst: true), at: 0)
        let request = queue.next(at: 0)[0]
        queue.answered(request.id, .failed("x"), at: 0, jitter: 0)
        queue.answered(request.id, .done, at: 0, jitter: 0)
        #expect(queue.isFailing && queue.taken == 0)
        #expect(queue.next(at: 0).isEmpty, "it waits before it retries")
    }

    @Test(
        "of several waiting versions of a thumbnail only the newest is sent, one request at a time, and the room's end does not wait for it"
    )
    func extras() {
        var queue = UploadQueue(rules: UploadRules())
        queue.put("thumb.jpg", [1], contentType: "image/jpeg")
        let first = queue.next(at: 0)
        #expect(first.map(\.name) == ["thumb.jpg"] && first.first?.action == .put(.bytes([1])))
        queue.put("thumb.jpg", [2], contentType: "image/jpeg")
        queue.put("thumb.jpg", [3], contentType: "image/jpeg")
        #expect(queue.next(at: 0).isEmpty && queue.isSettled)
        queue.answered(first.first?.id ?? 0, .done, at: 0, jitter: 0)
        let second = queue.next(at: 0)
        #expect(second.map(\.action) == [.put(.bytes([3]))])
        queue.answered(second.first?.id ?? 0, .done, at: 0, jitter: 0)
        #expect(queue.next(at: 0).isEmpty)
    }

    @Test(
        "objects that are uploaded once are sent one at a time; while the store fails, the oldest beyond the limit are dropped"
    )
    func singles() {
        var queue = UploadQueue(rules: UploadRules())
        for number in 0..<100 {
            queue.put(single: "\(number).jpg", [1], contentType: "image/jpeg")
            let sent = queue.next(at: 0)
            #expect(sent.map(\.name) == ["\(number).jpg"] && queue.next(at: 0).isEmpty && queue.isSettled)
            queue.answered(sent.first?.id ?? 0, .done, at: 0, jitter: 0)
        }
        let most = UploadQueue.mostSingles
        for number in 0..<most { queue.put(single: "a\(number)", [1], contentType: "image/jpeg") }
        let first = queue.next(at: 0)
        #expect(first.map(\.name) == ["a0"])
        for number in 0..<most { queue.put(single: "b\(number)", [1], contentType: "image/jpeg") }
        queue.answered(first.first?.id ?? 0, .failed("status 503"), at: 0, jitter: 0)
        #expect(queue.next(at: 0).isEmpty && queue.waitingSingles == most && (queue.wake(after: 0) ?? 0) > 0)
        queue.put(single: "c", [1], contentType: "image/jpeg")
        #expect(queue.next(at: .max / 2).map(\.name) == ["b1"] && queue.waitingSingles == most)
    }
}
