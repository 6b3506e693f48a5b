import Dispatch
import HLS
import MediaTypes
import Synchronization
import Testing
import Upload

@Suite("Uploader: its life")
struct UploaderTests {
    private struct Stopped: MonotonicClock {
        func now() -> Int64 { 0 }
    }

    private struct Files: EmptyFiles {}

    private static func uploader(_ notify: @escaping Uploader.Notify = { _ in }) -> Uploader {
        Uploader(
            outputID: "x", target: HTTPOrigin(url: "http://127.0.0.1:1"), rules: UploadRules(), connections: 2,
            files: Files(), clock: Stopped(), notify: notify)
    }

    @Test("one that was never begun can be thrown away, and ended")
    func unused() async {
        _ = Self.uploader()
        let second = Self.uploader()
        #expect(await second.finish(by: 0) == .whole, "nothing was listed, so all of it is there")
        second.list(SimulatedOrigin.listing(through: 0, isFirst: true))
        #expect(second.statistics.waitingSlots == 1)
        #expect(await second.finish(by: 0) == .owed(isNoted: false))
    }

    @Test("a store that has all that was listed, and was told of no end, is owed that")
    func endless() {
        var queue = UploadQueue(rules: UploadRules())
        #expect(queue.isWhole, "nothing was listed")
        queue.list(SimulatedOrigin.listing(through: 0, isFirst: true), at: 0)
        func settle() {
            for _ in 0..<9 { for request in queue.next(at: 0) { queue.answered(request.id, .done, at: 0, jitter: 0) } }
        }
        settle()
        #expect(queue.isSettled && !queue.isWhole)
        queue.list(SimulatedOrigin.listing(through: 0, isFirst: false, isEnded: true), at: 0)
        #expect(!queue.isWhole)
        settle()
        #expect(queue.isSettled && queue.isWhole)
    }

    @Test("while a disk hangs listings do not heap up: it is asked for a whole one; the last of a room is always taken")
    func bounded() async {
        let uploader = Self.uploader()
        var refused: [Int64] = []
        for number in Int64(0)..<200 where !uploader.list(SimulatedOrigin.listing(through: number, isFirst: false)) {
            refused.append(number)
        }
        #expect(refused == [64, 129, 194] && uploader.statistics.waitingSlots == 5)
        for number in Int64(200)..<259 { uploader.list(SimulatedOrigin.listing(through: number, isFirst: false)) }
        #expect(uploader.statistics.waitingSlots == 64)
        #expect(uploader.list(SimulatedOrigin.listing(through: 259, isFirst: false, isEnded: true)))
        #expect(uploader.statistics.waitingSlots == 65)
    }

    @Test("an origin nobody listens at: what failed is told once, and the end does not wait beyond its time")
    func refused() async {
        let notices = Mutex<[UploadNotice]>([])
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        let uploader = Self.uploader { notice in
            notices.withLock { $0.append(notice) }
            tell.yield()
        }
        uploader.begin()
        uploader.put("thumb.jpg", [1], contentType: "image/jpeg")
        for await _ in told { break }
        #expect(uploader.statistics.isFailing)
        uploader.list(SimulatedOrigin.listing(through: 0, isFirst: true))
        #expect(await uploader.finish(by: 0) == .owed(isNoted: false))
        let unreachable = notices.withLock { $0 }.filter { if case .unreachable = $0 { true } else { false } }
        #expect(unreachable == [.unreachable("connection refused")])
    }

    /// A disk that answers nobody who reads until it is let go.
    private final class Hanging: EmptyFiles {
        let gate = DispatchSemaphore(value: 0)
        private let asked: @Sendable () -> Void

        init(asked: @escaping @Sendable () -> Void) { self.asked = asked }

        func bytes(of name: String) -> [UInt8]? {
            self.asked()
            self.gate.wait()
            self.gate.signal()
            return nil
        }
    }

    @Test("what was still being read when the time was over is owed, not given up as gone")
    func cutOff() async {
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        let files = Hanging { tell.yield() }
        let uploader = Uploader(
            outputID: "x", target: HTTPOrigin(url: "http://127.0.0.1:1"), rules: UploadRules(), connections: 2,
            files: files, clock: Stopped(), notify: { _ in })
        uploader.begin()
        uploader.list(SimulatedOrigin.listing(through: 0, isFirst: true))
        for await _ in told { break }
        #expect(await uploader.finish(by: 0) == .owed(isNoted: false))
        #expect(uploader.statistics.lost == 0 && uploader.statistics.waitingSlots == 1)
        #expect(uploader.statistics.failed == 0 && !uploader.statistics.isFailing, "it is no failure of the store")
        files.gate.signal()
    }

    /// A place that nobody listens at; tells which objects were to go there.
    private struct Place: UploadTarget {
        let name: String
        let asked: @Sendable (String) -> Void

        var shown: String { self.name }

        func request(_ head: ObjectRequest, at now: Int64) -> (url: String, fields: [(name: String, value: String)]) {
            self.asked("\(self.name) \(head.name)")
            return ("http://127.0.0.1:1/\(head.name)", head.fields)
        }

        func isSame(as other: any UploadTarget) -> Bool { self.shown == other.shown }
    }

    @Test("keys that are renewed while it runs sign what is sent from then on")
    func renewed() async {
        let (told, tell) = AsyncStream.makeStream(of: String.self)
        let uploader = Uploader(
            outputID: "x", target: Place(name: "old") { tell.yield($0) }, rules: UploadRules(), connections: 2,
            files: Files(), clock: Stopped(), notify: { _ in })
        var asked = told.makeAsyncIterator()
        uploader.begin()
        uploader.put("a.jpg", [1], contentType: "image/jpeg")
        #expect(await asked.next() == "old a.jpg")
        uploader.replace(Place(name: "new") { tell.yield($0) })
        #expect(uploader.target.shown == "new")
        uploader.put("b.jpg", [1], contentType: "image/jpeg")
        #expect(await asked.next() == "new b.jpg")
        _ = await uploader.finish(by: 0)
    }

    /// A directory that keeps notes, or does not any more.
    private final class Notes: EmptyFiles {
        private let kept = Mutex<(record: UploadRecord?, isFull: Bool, isDurable: Bool)>((nil, false, false))

        func record() -> UploadRecord? { self.kept.withLock(\.record) }
        var isDurable: Bool { self.kept.withLock(\.isDurable) }
        func keep(_ record: UploadRecord, durable: Bool) -> Bool {
            self.kept.withLock { kept in
                if !kept.isFull { (kept.record, kept.isDurable) = (record, durable) }
                return !kept.isFull
            }
        }
        func forget() { self.kept.withLock { ($0.record, $0.isDurable) = (nil, false) } }
        func fill() { self.kept.withLock { $0.isFull = true } }
    }

    @Test("what is owed at the end is noted, whatever was noted before, and who cannot note it says so")
    func noted() async {
        func uploader(_ files: Notes) -> Uploader {
            Uploader(
                outputID: "x", target: HTTPOrigin(url: "http://127.0.0.1:1"), rules: UploadRules(), connections: 2,
                files: files, clock: Stopped(), notify: { _ in })
        }
        let files = Notes()
        // The queue never came to know of it.
        let late = uploader(files)
        late.list(SimulatedOrigin.listing(through: 7, isFirst: true, isEnded: true))
        #expect(await late.finish(by: 0, isLast: false) == .owed(isNoted: false), "a successor is told everything")
        #expect(await late.finish(by: 0) == .owed(isNoted: true))
        #expect(files.record() == UploadRecord(origin: 5, next: 0) && files.isDurable)
        // It came to know, and noted it; somebody has taken the note away.
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        let known = Uploader(
            outputID: "x", target: HTTPOrigin(url: "http://127.0.0.1:1"), rules: UploadRules(), connections: 2,
            files: files, clock: Stopped(), notify: { _ in tell.yield() })
        known.begin()
        known.list(SimulatedOrigin.listing(through: 7, isFirst: true))
        for await _ in told { break }
        #expect(await known.finish(by: 0, isLast: false) == .owed(isNoted: true))
        let note = files.record()
        files.forget()
        #expect(await known.finish(by: 0) == .owed(isNoted: true) && files.record() == note && note != nil)
        #expect(files.isDurable, "nobody would find it out again")
        files.fill()
        #expect(await late.finish(by: 0) == .owed(isNoted: true), "an older note is a note")
        files.forget()
        #expect(await late.finish(by: 0) == .owed(isNoted: false))
    }
}
