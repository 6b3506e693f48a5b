import Control
import MediaTypes
import RoomOutputs
import Synchronization
import Testing

@Suite("ClipJobs: running and waiting clips, and their end with the room")
struct ClipJobsTests {
    private static let over = MediaError(.unfinished, "over", at: "clip", fix: "none")

    /// Reserves a clip and adds its job, which always fails. Releasing its segments calls `released` with the clip's name.
    private static func add(
        _ name: String?, to jobs: inout ClipJobs, _ released: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(ControlFailure) -> (clip: ClipJobs.Clip, starts: Bool) {
        let clip = try jobs.promise(name: name, rendition: "r", range: 0..<1, incarnation: 1)
        let work = ClipJobs.Work(id: clip.id, release: { released(clip.name) }) { _ throws(MediaError) in
            throw Self.over
        }
        return (clip, try jobs.add(work))
    }

    @Test(
        "clips are made one after the other on one thread, which ends when no clip waits; then the next clip starts a new thread"
    )
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

    @Test("closing fails waiting clips, lets the running clip go on, and refuses new ones")
    func close() throws {
        let released = Mutex<[String]>([])
        var jobs = ClipJobs(roomID: "1")
        for name in ["first", "second"] {
            _ = try Self.add(name, to: &jobs) { name in released.withLock { $0.append(name) } }
        }
        let next = jobs.next()
        let working = try #require(next)
        #expect(!jobs.isClosed)
        let given = jobs.close(hasEnded: true)
        #expect(jobs.isClosed)
        #expect(given.map(\.clip?.name) == ["second"] && given.map(\.clip?.state) == [.failed])
        for given in given { given.work.release() }
        #expect(released.withLock { $0 } == ["second"])
        // The running job goes on until its next check.
        #expect(jobs.clip(working.id)?.state == .working)
        #expect(jobs.finish(working.id, .failure(Self.over))?.state == .failed)
        #expect(jobs.next() == nil)
        #expect(throws: ControlFailure.self) { try Self.add("third", to: &jobs) }
    }

    @Test(
        "if another worker continues the room, waiting clips fail and new requests are refused, each with that as the reason"
    )
    func replaced() throws {
        var jobs = ClipJobs(roomID: "1")
        _ = try Self.add("first", to: &jobs)
        let reason = try #require(jobs.close(hasEnded: false).first?.clip?.reason)
        #expect(reason.contains("the worker is being replaced") && reason.contains("request the clip again"))
        let refusal = #expect(throws: ControlFailure.self) { try Self.add("second", to: &jobs) }
        #expect(refusal?.what == "the worker is being replaced" && refusal?.status == 410)
    }

    @Test("a clip that was accepted before closing is refused and forgotten if its job is added after closing")
    func late() throws {
        var jobs = ClipJobs(roomID: "1")
        let clip = try jobs.promise(name: "first", rendition: "r", range: 0..<1, incarnation: 1)
        #expect(jobs.close(hasEnded: true).isEmpty)
        let work = ClipJobs.Work(id: clip.id, release: {}) { _ throws(MediaError) in throw Self.over }
        #expect(throws: ControlFailure.self) { try jobs.add(work) }
        #expect(jobs.clips.isEmpty)
    }

    @Test(
        "a full disk fails waiting clips with its reason; the running clip goes on, and new clips are accepted")
    func full() throws {
        var jobs = ClipJobs(roomID: "1")
        for name in ["first", "second"] { _ = try Self.add(name, to: &jobs) }
        _ = jobs.next()
        let given = jobs.giveUpWaiting(MediaError(.diskFull, "full", at: "clip", fix: "none"))
        #expect(given.map(\.clip?.name) == ["second"] && given.first?.clip?.reason?.contains("full") == true)
        #expect(jobs.clips.map(\.state) == [.working, .failed] && !jobs.isClosed)
        // A request made when there is space again is accepted, and runs on the same thread.
        #expect(try !Self.add("third", to: &jobs).starts)
    }

    @Test(
        "a fifth clip is refused while four wait; the name of a waiting clip is refused, and that of a failed clip is accepted"
    )
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

    @Test("clips without a name get one with the room's id, so that two rooms can share a directory")
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
