import MediaTypes
import Room
import RoomAPI
import Testing

@Suite("JobProgress: an offline job that makes no progress")
struct JobProgressTests {
    private static func marks(
        tick: Int64 = 0, audio: Int64 = 0, decoded: Int64 = 0, coded: Int64 = 0
    ) -> JobProgress.Marks {
        JobProgress.Marks(tick: tick, audio: audio, decoded: decoded, coded: coded)
    }

    @Test("an offline job counts as stuck when ten checks in a row have found no progress since the check before them")
    func tenLooks() {
        var progress = JobProgress()
        let looks = (0..<12).map { _ in progress.looked(Self.marks(tick: 7)) }
        #expect(looks == Array(repeating: false, count: 10) + [true, true])
    }

    @Test(
        "a frame, audio, a decoded packet or an encoded packet counts as progress of an offline job",
        arguments: [
            Self.marks(tick: 1), Self.marks(audio: 1), Self.marks(decoded: 1), Self.marks(coded: 1),
        ])
    func movement(moved: JobProgress.Marks) {
        var progress = JobProgress()
        for _ in 0..<10 { _ = progress.looked(Self.marks()) }
        let isStill = progress.looked(moved)
        #expect(!isStill)
        let looks = (0..<10).map { _ in progress.looked(moved) }
        #expect(looks == Array(repeating: false, count: 9) + [true])
    }

    @Test(
        "the error of a stuck offline job names the store or the files that it waited for, or else has the code of an internal error"
    )
    func errors() {
        let store = JobProgress.error(.store("/srv/out"), tick: 3)
        #expect(store.code == .outputLost && store.what.contains("/srv/out") && store.what.contains("frame 3"))
        let files = JobProgress.error(.files(["a.mp4", "b.mp4"]), tick: 3)
        #expect(files.code == .notReadable && files.what.contains("a.mp4, b.mp4"))
        #expect(JobProgress.error(.itself, tick: 3).code == .internal)
    }
}
