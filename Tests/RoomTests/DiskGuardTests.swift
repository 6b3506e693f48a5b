import Packager
import PipelineSpec
import RoomOutputs
import Testing

@Suite("DiskGuard: what is stopped as the disk fills, and when it resumes")
struct DiskGuardTests {
    private static func look(_ disk: inout DiskGuard, used: Int64, free: Int64 = .max, reserve: Int64 = 0)
        -> [DiskGuard.Action]
    {
        disk.measured(Self.use(used, free: free), need: DiskGuard.Need(window: reserve), at: 0)
    }

    /// All directories are on one file system.
    private static func use(_ used: Int64, free: Int64 = .max) -> DiskUse {
        DiskUse([DiskUse.Volume([.live, .recording], used: used, free: free)])
    }

    private static func reading(_ used: Int64, _ capacity: Int64 = 1000) -> DiskGuard.Reading {
        DiskGuard.Reading(used: used, capacity: capacity)
    }

    @Test(
        "from 80 % disk use until below 75 % an alarm is set; 95 % stops recording once, and limits the live window until below 80 %"
    )
    func levels() {
        var disk = DiskGuard(limit: 1000)
        #expect(Self.look(&disk, used: 799) == [])
        #expect(Self.look(&disk, used: 800) == [.alarm(.low, was: .normal, Self.reading(800))])
        #expect(Self.look(&disk, used: 949) == [])
        #expect(
            Self.look(&disk, used: 950) == [
                .alarm(.critical, was: .low, Self.reading(950)), .stopRecording(Self.reading(950)), .limitWindow(true),
            ])
        #expect(Self.look(&disk, used: 1200) == [])
        // Values near a threshold do not toggle it.
        #expect(Self.look(&disk, used: 940) == [] && Self.look(&disk, used: 800) == [])
        #expect(
            Self.look(&disk, used: 799) == [.alarm(.low, was: .critical, Self.reading(799)), .limitWindow(false)])
        #expect(Self.look(&disk, used: 760) == [])
        #expect(Self.look(&disk, used: 749) == [.alarm(.normal, was: .low, Self.reading(749))])
        // There is space again, but the recording does not resume yet: no time has passed.
        #expect(
            Self.look(&disk, used: 990) == [.alarm(.critical, was: .normal, Self.reading(990)), .limitWindow(true)])
    }

    @Test(
        "clips are refused if their own disk or the live disk is full, or after a failed write, but not if only the recording disk is"
    )
    func clips() {
        var disk = DiskGuard(limit: nil)
        func look(live: Int64 = 100, clips: Int64 = 100) -> Bool {
            func volume(_ purpose: DiskUse.Purpose, _ used: Int64) -> DiskUse.Volume {
                DiskUse.Volume(purpose, used: used, free: 1000 - used)
            }
            let use = DiskUse([volume([.recording], 990), volume([.live], live), volume([.clips], clips)])
            _ = disk.measured(use, need: DiskGuard.Need(window: 0), at: 0)
            return disk.isFullForClips
        }
        #expect(!look() && disk.level == .critical)
        #expect(look(live: 950) && look(live: 800) && !look(live: 799))
        #expect(look(clips: 950) && look(clips: 800) && !look(clips: 799))
        _ = disk.failed(isFull: true, reason: "no space left", at: 0)
        #expect(disk.isFullForClips && look(), "for a while, whatever is measured")
    }

    @Test(
        "sources' own recordings are suspended at 95 % whatever the room's recording does, until less than 80 % is used"
    )
    func sourceRecordings() {
        var disk = DiskGuard(limit: 1000)
        // The room's recording has stopped for another reason before.
        disk.recordingStopped(at: 0)
        #expect(Self.look(&disk, used: 949).count == 1 && disk.fullForSources == nil)
        #expect(Self.look(&disk, used: 950).contains(.stopRecording(Self.reading(950))) == false)
        #expect(disk.fullForSources == Self.reading(950))
        disk.recordingBegan()
        _ = Self.look(&disk, used: 800)
        #expect(disk.fullForSources == Self.reading(950))
        _ = Self.look(&disk, used: 799)
        #expect(disk.fullForSources == nil)
    }

    @Test("without maxDiskBytes, or if the disk has less space than that, the disk's own free space counts")
    func disk() {
        for limit in [nil, 5000] as [Int64?] {
            var disk = DiskGuard(limit: limit)
            #expect(Self.look(&disk, used: 100, free: 900) == [])
            // Another process fills the disk.
            #expect(Self.look(&disk, used: 100, free: 4).count == 3)
            #expect(disk.level == .critical)
        }
        var idle = DiskGuard(limit: nil)
        #expect(Self.look(&idle, used: 0, free: 0).count == 3)
        var vast = DiskGuard(limit: nil)
        #expect(Self.look(&vast, used: .max / 2, free: .max) == [])
    }

    @Test(
        "recording stops if too little space is left for the live window, but not while a quarter of the disk or less is used"
    )
    func reserve() {
        var disk = DiskGuard(limit: 1000)
        #expect(Self.look(&disk, used: 250, reserve: 5000) == [])
        #expect(Self.look(&disk, used: 699, reserve: 300) == [])
        #expect(Self.look(&disk, used: 701, reserve: 300) == [.stopRecording(Self.reading(701))])
        #expect(Self.look(&disk, used: 720, reserve: 300) == [])
    }

    @Test(
        "recording resumes once there is space for two windows and writes succeed, ten seconds after it stopped at the earliest"
    )
    func resumed() {
        let second: Int64 = 1_000_000_000
        var disk = DiskGuard(limit: 1000)
        var segments = 0
        func look(_ used: Int64, at time: Int64) -> [DiskGuard.Action] {
            disk.measured(Self.use(used), need: DiskGuard.Need(window: 150, segments: segments), at: time * second)
        }
        #expect(look(960, at: 0).contains(.stopRecording(Self.reading(960))))
        // Below 95 %, and below 80 % with too little space beside a window.
        #expect(look(850, at: 20) == [])
        #expect(!look(750, at: 21).contains(.resumeRecording))
        #expect(look(700, at: 22) == [.alarm(.normal, was: .low, Self.reading(700)), .resumeRecording])
        segments += 1
        #expect(look(700, at: 23) == [])
        // The disk fills again, which is reported again. Resuming at once is too soon.
        #expect(
            look(855, at: 24) == [.alarm(.low, was: .normal, Self.reading(855)), .stopRecording(Self.reading(855))])
        #expect(look(600, at: 25) == [.alarm(.normal, was: .low, Self.reading(600))])
        #expect(look(600, at: 33) == [] && look(600, at: 34) == [.resumeRecording])
        segments += 1
        #expect(look(600, at: 35) == [])
        // The recording stopped for another reason and cannot resume; while writes fail nothing is retried.
        disk.recordingStopped(at: 40 * second)
        #expect(look(600, at: 49) == [] && look(600, at: 50) == [.resumeRecording])
        disk.recordingStopped(at: 51 * second)
        _ = disk.failed(isFull: false, reason: "read-only", at: 52 * second)
        #expect(look(600, at: 80) == [])
        _ = disk.written(at: 81 * second)
        #expect(look(600, at: 82) == [.resumeRecording])
    }

    @Test(
        "recording stops while there is still space for the MP4 files made from it, and does not resume into that reserve"
    )
    func movies() {
        let second: Int64 = 1_000_000_000
        var disk = DiskGuard(limit: nil)
        func look(_ used: Int64, movies: Int64, at time: Int64) -> [DiskGuard.Action] {
            disk.measured(
                Self.use(used, free: 1000 - used), need: DiskGuard.Need(window: 100, movies: movies), at: time * second)
        }
        // Half of the data is a rendition from which a file will be made.
        #expect(look(500, movies: 250, at: 0) == [])
        #expect(look(600, movies: 300, at: 1) == [])
        #expect(look(601, movies: 300, at: 2) == [.stopRecording(Self.reading(601))])
        // Two windows would fit beside the recording, but not beside those files as well.
        #expect(look(550, movies: 300, at: 30) == [])
        #expect(look(500, movies: 300, at: 31) == [.resumeRecording])
        // On a separate disk no window needs space.
        var apart = DiskGuard(limit: nil)
        func lookApart(_ recording: Int64) -> [DiskGuard.Action] {
            apart.measured(
                DiskUse([
                    DiskUse.Volume(.live, used: 10, free: 990),
                    DiskUse.Volume(.recording, used: recording, free: 1000 - recording),
                ]), need: DiskGuard.Need(window: 900, movies: recording / 2), at: 0)
        }
        #expect(lookApart(666) == [])
        #expect(lookApart(668) == [.stopRecording(Self.reading(668))])
    }

    @Test(
        "each file system counts separately, so only outputs on the full one are limited; with maxDiskBytes all count together"
    )
    func volumes() {
        let gib: Int64 = 1 << 30
        func look(_ disk: inout DiskGuard, live: (Int64, Int64), recording: (Int64, Int64), others: Int64 = 0)
            -> [DiskGuard.Action]
        {
            disk.measured(
                DiskUse(
                    [
                        DiskUse.Volume(.live, used: live.0, free: live.1),
                        DiskUse.Volume(.recording, used: recording.0, free: recording.1),
                    ], others: others), need: DiskGuard.Need(window: gib / 4), at: 0)
        }
        // A window in memory and a recording of many times its size on a disk, and the other way round.
        var disk = DiskGuard(limit: nil)
        #expect(look(&disk, live: (gib / 2, gib / 2), recording: (100 * gib, 1000 * gib)) == [])
        #expect(look(&disk, live: (5 * gib, 1000 * gib), recording: (gib, gib)) == [])
        let full = Self.reading(96, 100)
        #expect(
            look(&disk, live: (96, 4), recording: (gib, gib)) == [
                .alarm(.critical, was: .normal, full), .limitWindow(true),
            ])
        #expect(
            look(&disk, live: (5, 95), recording: (96, 4)) == [.stopRecording(full), .limitWindow(false)])
        // A failed write of the window does not affect the recording's disk.
        var other = DiskGuard(limit: nil)
        _ = look(&other, live: (gib, gib), recording: (gib, gib))
        let refused = other.failed(isFull: true, reason: "x", at: 0)
        #expect(refused == [.alarm(.critical, was: .normal, Self.reading(gib, 2 * gib)), .limitWindow(true)])
        // With a limit everything counts, stills in other directories too.
        var limited = DiskGuard(limit: 100)
        let both = look(&limited, live: (40, gib), recording: (50, gib), others: 6)
        #expect(both == [.alarm(.critical, was: .normal, full), .stopRecording(full), .limitWindow(true)])
    }

    @Test(
        "if recording stops after each resume, the wait doubles from 10 to 600 s; after a new segment it is 10 s again"
    )
    func backOff() {
        let second: Int64 = 1_000_000_000
        var disk = DiskGuard(limit: 1000)
        var segments = 0
        /// Seconds from a stop to the next attempt.
        func wait(from time: Int64) -> Int64? {
            disk.recordingStopped(at: time * second)
            return (0..<2_000).first { seconds in
                let need = DiskGuard.Need(window: 10, segments: segments)
                return disk.measured(Self.use(100), need: need, at: (time + seconds) * second) == [.resumeRecording]
            }
        }
        var now: Int64 = 0
        let waits = (0..<9).compactMap { _ in
            let seconds = wait(from: now)
            now += (seconds ?? 0) + 1
            return seconds
        }
        #expect(waits == [10, 20, 40, 80, 160, 320, 600, 600, 600])
        segments += 1
        #expect(wait(from: now) == 10 && wait(from: now + 20) == 20)
    }

    @Test("a recording that begins on a full disk is stopped again")
    func begun() {
        var disk = DiskGuard(limit: 1000)
        let first = Self.look(&disk, used: 960)
        #expect(first.contains(.stopRecording(Self.reading(960))))
        #expect(Self.look(&disk, used: 960) == [])
        disk.recordingBegan()
        #expect(Self.look(&disk, used: 960) == [.stopRecording(Self.reading(960))])
    }

    @Test("after a write that fails because the disk is full, the disk counts as critically full for ten seconds")
    func refused() {
        var disk = DiskGuard(limit: 1000)
        _ = Self.look(&disk, used: 100)
        let actions = disk.failed(isFull: true, reason: "no space", at: 0)
        #expect(
            actions == [
                .alarm(.critical, was: .normal, Self.reading(100)), .stopRecording(Self.reading(100)),
                .limitWindow(true),
            ])
        #expect(disk.failed(isFull: true, reason: "no space", at: 1) == [])
        let need = DiskGuard.Need(window: 0)
        #expect(disk.measured(Self.use(100), need: need, at: 10_000_000_000) == [])
        #expect(
            disk.measured(Self.use(100), need: need, at: 10_000_000_001) == [
                .alarm(.normal, was: .critical, Self.reading(100)), .limitWindow(false), .resumeRecording,
            ])
    }

    @Test("the message about a full disk has the directory, the free bytes and what was stopped")
    func message() {
        var disk = DiskGuard(limit: nil)
        func look(_ live: Int64, _ recording: Int64, at second: Int64) -> [DiskGuard.Action] {
            disk.measured(
                DiskUse([
                    DiskUse.Volume([.live, .clips], used: 100, free: live, path: "/live"),
                    DiskUse.Volume(.recording, used: 960, free: recording, path: "/rec"),
                ]), need: DiskGuard.Need(window: 0), at: second * 1_000_000_000)
        }
        _ = look(9_900, 240, at: 0)
        #expect(disk.message == "/rec: 240 bytes are free of 1200" && disk.stopped == [])
        _ = look(9_900, 40, at: 1)
        #expect(disk.message == "/rec: 40 bytes are free of 1000; the recording is suspended")
        _ = look(2, 9_000, at: 2)
        #expect(disk.stopped == [.recording, .window, .clips])
        #expect(
            disk.message
                == "/live: 2 bytes are free of 102; the recording is suspended, the window is limited to 10 segments, no clips are made"
        )
        _ = look(9_900, 9_000, at: 20)
        #expect(disk.level == .normal && disk.stopped == [])
    }

    @Test(
        "the alarm for a write that found no space shows the current free space, and clears ten seconds after the write"
    )
    func refusedNow() {
        var disk = DiskGuard(limit: nil)
        func look(_ free: Int64, at second: Int64) -> [DiskGuard.Action] {
            disk.measured(
                DiskUse([DiskUse.Volume([.live, .recording], used: 90, free: free, path: "/live")]),
                need: DiskGuard.Need(window: 0), at: second * 1_000_000_000)
        }
        // 9 % are used, measured before another process filled the disk.
        #expect(look(910, at: 0) == [])
        let actions = disk.failed(isFull: true, reason: "no space", free: 3, at: 0)
        let reading = DiskGuard.Reading(used: 90, capacity: 93, path: "/live")
        #expect(
            actions == [.alarm(.critical, was: .normal, reading), .stopRecording(reading), .limitWindow(true)])
        #expect(disk.message.hasPrefix("/live: a write found no space, 3 bytes are free; the recording is suspended"))
        // After space was freed the alarm has the new value at once, and clears ten seconds after the write.
        #expect(look(410, at: 9) == [] && disk.message.contains("410 bytes are free"))
        #expect(
            look(410, at: 10).contains(.alarm(.normal, was: .critical, .init(used: 90, capacity: 500, path: "/live"))))
        #expect(disk.message == "/live: 410 bytes are free of 500")
    }

    @Test(
        "writes that fail although the disk is not full are reported once as stalled; after more than 45 s the live window is limited"
    )
    func failing() {
        let second: Int64 = 1_000_000_000
        var disk = DiskGuard(limit: 1000)
        #expect(disk.written(at: 0) == [])
        #expect(!disk.isStalled)
        #expect(disk.failed(isFull: false, reason: "read-only", at: 0) == [.stalled(true, reason: "read-only")])
        #expect(disk.isStalled)
        for time in 1...45 { #expect(disk.failed(isFull: false, reason: "x", at: Int64(time) * second) == []) }
        #expect(disk.failed(isFull: false, reason: "x", at: 46 * second) == [.limitWindow(true)])
        #expect(disk.failed(isFull: false, reason: "x", at: 47 * second) == [])
        #expect(
            disk.written(at: 48 * second) == [
                .stalled(false, reason: "writing works again"), .limitWindow(false),
            ])
        #expect(disk.written(at: 49 * second) == [])
    }

    @Test(
        "the name prefixes of source recordings that count as a room's disk use have room id and uid, so rooms may share a directory"
    )
    func shared() throws {
        func names(_ room: String) throws -> [String: Set<String>] {
            let document = """
                { "room": { "roomId": "\(room)" }, "canvas": { "width": 320, "height": 180 },
                  "sources": [ { "uid": "1001", "streamKey": "k1", "record": true }, { "uid": "2002", "streamKey": "k2" } ],
                  "scenes": [ { "sceneId": "solo", "layout": "solo", "uids": ["1001"] } ],
                  "outputs": [ { "type": "hls", "path": "out" } ] }
                """
            return DiskState.recordings(of: try Pipeline.parse(document, checks: .none).result.get())
        }
        #expect(try names("a") == ["recordings": ["a-1001-"]])
        #expect(try names("a-b") == ["recordings": ["a-b-1001-"]])
    }
}
