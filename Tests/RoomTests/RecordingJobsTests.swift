import RoomOutputs
import Testing

@Suite("RecordingJobs: MP4 files made while the room runs")
struct RecordingJobsTests {
    @Test(
        "recordings are finished one after the other on one thread, which ends when none waits; then the next starts a new thread"
    )
    func turns() {
        var jobs = RecordingJobs()
        var starts = (0..<2).map { _ in jobs.add { _ in } }
        #expect(starts == [true, false], "the thread that works takes the second")
        let works = (0..<3).map { _ in jobs.next(at: 0) }
        #expect(works.map { $0 != nil } == [true, true, false])
        starts = [jobs.add { _ in }]
        #expect(starts == [true])
    }

    @Test("a job for a recording's files that has not started by the room's deadline is not started any more")
    func deadline() {
        var jobs = RecordingJobs()
        for _ in 0..<2 { _ = jobs.add { _ in } }
        jobs.deadline = 10
        #expect(!jobs.isOver(at: 10) && jobs.isOver(at: 11))
        let works = [Int64(10), 11].map { jobs.next(at: $0) }
        #expect(works.map { $0 != nil } == [true, false])
    }
}
