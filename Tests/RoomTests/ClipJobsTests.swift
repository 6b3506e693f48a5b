import Control
import MediaTypes
import RoomOutputs
import Synchronization
import Testing

@Suite("Clips that are being made, and that wait, when the room is over")
struct ClipJobsTests {
    private static let over = MediaError(.unfinished, "over", at: "clip", fix: "none")

    /// Promises a clip and adds its work, which gives its name to `released`.
    private static func add(
        _ name: String?, to jobs: inout ClipJobs, _ released: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(ControlFailure) -> (clip: ClipJobs.Clip, starts: Bool) {
        let clip = try jobs.promise(name: name, rendition: "r", range: 0..<1, incarnation: 1)
        let work = ClipJobs.Work(id: clip.id, release: { released(clip.name) }) { _ throws(MediaError) in
            throw Self.over
        }
        return (clip, try jobs.add(work))
    }

    @Test("one thread makes them one after the other, and another is started when it has ended")
    func turns() throws {
        var jobs = ClipJobs(roomID: "1")
        let first = try Self.add("first", to: &jobs)
        let second = try Self.add("second", to: &jobs)
        #expect(first.starts && !second.starts)
        #expect(jobs.next()?.id == first.clip.id)
        #expect(jobs.clips.map(\.state) == [.working, .pending])
        #expect(jobs.finish(first.clip.id, .failure(Self.over))?.state == .failed)
        #expect(jobs.next()?.id == second.clip.id)
        _ = jobs.finish(second.clip.id, .failure(Self.over))
        #expect(jobs.next() == nil)
        #expect(try Self.add("third", to: &jobs).starts)
    }

    @Test("what waits is given up when the room is over, what is being made is told, and none is taken any more")
    func close() throws {
        let released = Mutex<[String]>([])
        var jobs = ClipJobs(roomID: "1")
        for name in ["first", "second"] {
            _ = try Self.add(name, to: &jobs) { name in released.withLock { $0.append(name) } }
        }
        let next = jobs.next()
        let working = try #require(next)
        #expect(!jobs.isClosed)
        let given = jobs.close()
        #expect(jobs.isClosed)
        #expect(given.map(\.clip?.name) == ["second"] && given.map(\.clip?.state) == [.failed])
        for given in given { given.work.release() }
        #expect(released.withLock { $0 } == ["second"])
        // Its work goes on until it looks.
        #expect(jobs.clip(working.id)?.state == .working)
        #expect(jobs.finish(working.id, .failure(Self.over))?.state == .failed)
        #expect(jobs.next() == nil)
        #expect(throws: ControlFailure.self) { try Self.add("third", to: &jobs) }
    }

    @Test("a clip whose work is ready after the room's end is forgotten")
    func late() throws {
        var jobs = ClipJobs(roomID: "1")
        let clip = try jobs.promise(name: "first", rendition: "r", range: 0..<1, incarnation: 1)
        #expect(jobs.close().isEmpty)
        let work = ClipJobs.Work(id: clip.id, release: {}) { _ throws(MediaError) in throw Self.over }
        #expect(throws: ControlFailure.self) { try jobs.add(work) }
        #expect(jobs.clips.isEmpty)
    }

    @Test("a disk that fills takes what waits, and what is held for it; what is being made goes on until it looks")
    func full() throws {
        var jobs = ClipJobs(roomID: "1")
        for name in ["first", "second"] { _ = try Self.add(name, to: &jobs) }
        _ = jobs.next()
        let given = jobs.giveUpWaiting(MediaError(.diskFull, "full", at: "clip", fix: "none"))
        #expect(given.map(\.clip?.name) == ["second"] && given.first?.clip?.reason?.contains("full") == true)
        #expect(jobs.clips.map(\.state) == [.working, .failed] && !jobs.isClosed)
        // A request that comes when there is space again is taken, by the same thread.
        #expect(try !Self.add("third", to: &jobs).starts)
    }

    @Test("as many as may wait are taken, and a name again only after its clip has failed")
    func limits() throws {
        var jobs = ClipJobs(roomID: "1")
        let first = try Self.add("first", to: &jobs).clip
        #expect(throws: ControlFailure.self) { try Self.add("first", to: &jobs) }
        for name in ["second", "third", "fourth"] { _ = try Self.add(name, to: &jobs) }
        #expect(throws: ControlFailure.self) { try Self.add("fifth", to: &jobs) }
        _ = jobs.next()
        _ = jobs.finish(first.id, .failure(Self.over))
        #expect(try Self.add("first", to: &jobs).clip.id != first.id)
        jobs.withdraw(first.id)
        #expect(jobs.clip(first.id) == nil)
    }

    @Test("two rooms whose clips lie in one directory give them different names")
    func names() throws {
        var names: [String] = []
        for room in ["88231", "88232"] {
            var jobs = ClipJobs(roomID: room)
            let clip = try jobs.promise(name: nil, rendition: "r", range: 0..<1, incarnation: 2)
            #expect(clip.id == "clip-2-1")
            names.append(clip.name)
        }
        #expect(names == ["clip-88231-2-1", "clip-88232-2-1"])
    }
}
