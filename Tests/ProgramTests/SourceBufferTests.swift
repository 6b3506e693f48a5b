import Dispatch
import LibAV
import MediaTypes
import Program
import Synchronization
import TestSupport
import Testing

@Suite("SourceBuffer: the frame that a tick shows, waiting for files, lip sync")
struct SourceBufferTests {
    private let interval: Int64 = 33_333_333

    private func picture() throws -> Picture { try PictureCanvas.open(width: 16, height: 16, fill: .black).finish() }

    private func buffer() -> SourceBuffer { SourceBuffer(source: SourceID(uid: "a"), isPaced: false) }

    @Test("before a source's first frame, no frame is shown; then its newest frame is repeated")
    func emptyAndRepeated() throws {
        let buffer = self.buffer()
        #expect(buffer.select(at: 0, interval: self.interval) == nil)
        buffer.push(try self.picture(), time: 0, arrival: nil)
        #expect(buffer.select(at: 0, interval: self.interval)?.isFresh == true)
        #expect(buffer.select(at: self.interval, interval: self.interval)?.isFresh == false)
    }

    @Test(
        "a source with the program's rate shows every frame once at each of 34 phases, despite whole-millisecond timestamps",
        arguments: 0..<34)
    func everyPictureOnce(phaseMs: Int64) throws {
        let buffer = self.buffer()
        let picture = try self.picture()
        var shown: [Int64] = []
        for tick in 0..<300 {
            // Six frames ahead, as with a jitter buffer of 200 ms.
            if tick == 0 { for frame in 0..<6 { self.push(frame, phaseMs, picture, buffer) } }
            self.push(tick + 6, phaseMs, picture, buffer)
            if let selection = buffer.select(at: Int64(tick) * self.interval, interval: self.interval),
                selection.isFresh
            {
                shown.append(selection.time)
            }
        }
        let steps = zip(shown, shown.dropFirst()).map { $1 - $0 }
        #expect(steps.allSatisfy { $0 >= 33_000_000 && $0 <= 34_000_000 }, "a frame was skipped")
        #expect(shown.count >= 299)
    }

    @Test("no frame of a kicked publisher is shown, but the next publisher's is")
    func banished() throws {
        let buffer = self.buffer()
        let picture = try self.picture()
        buffer.setStatus(.live, at: 0)
        self.push(0, 0, picture, buffer)
        #expect(buffer.select(at: 0, interval: self.interval) != nil)
        self.push(1, 0, picture, buffer)
        buffer.banish()
        #expect(buffer.select(at: self.interval, interval: self.interval) == nil && buffer.snapshot == nil)
        // The frame that the decoder was working on.
        self.push(2, 0, picture, buffer)
        #expect(buffer.select(at: 2 * self.interval, interval: self.interval) == nil)
        buffer.setStatus(.lost, at: 3 * self.interval)
        #expect(buffer.select(at: 3 * self.interval, interval: self.interval) == nil)
        buffer.setStatus(.live, at: 4 * self.interval)
        self.push(4, 0, picture, buffer)
        #expect(buffer.select(at: 4 * self.interval, interval: self.interval)?.isFresh == true)
    }

    @Test(
        "the last frame of a silent publisher is stale after its hold time, also once the publisher is lost"
    )
    func silent() throws {
        let buffer = self.buffer()
        let second: Int64 = 1_000_000_000
        let source = ProgramStage.Source(
            buffer: buffer, name: "a", volume: 1, hold: 4 * second, stalledHold: second, placeholder: nil)
        buffer.setStatus(.live, at: 0)
        buffer.push(try self.picture(), time: 0, arrival: nil)
        _ = buffer.select(at: 0, interval: self.interval)
        func isStale(at time: Int64) throws -> Bool {
            source.isStale(try #require(buffer.select(at: time, interval: self.interval)), at: time)
        }
        #expect(try !isStale(at: 9 * second), "it sends audio")
        buffer.setSilent(since: 9 * second)
        #expect(try !isStale(at: 10 * second))
        #expect(try isStale(at: 10 * second + 1))
        buffer.setStatus(.lost, at: 11 * second)
        #expect(try isStale(at: 11 * second + 1), "the hold of a lost publisher does not restart")
        buffer.push(try self.picture(), time: 12 * second, arrival: nil)
        #expect(try !isStale(at: 12 * second))
        #expect(try !isStale(at: 12 * second + second / 2))
    }

    @Test("a file reader that is as far ahead as allowed continues while the program waits for more audio")
    func longTicks() throws {
        let buffer = SourceBuffer(source: SourceID(uid: "a"), isPaced: true)
        buffer.setTracks(video: true, audio: true)
        buffer.setStatus(.live, at: 0)
        let picture = try self.picture()
        for frame in 1...3 { self.push(frame, 0, picture, buffer) }
        buffer.push([Float](repeating: 0, count: 2 * 5_000), at: 0, restart: true)
        /// The number of checks until the reader may continue; it is stopped at the second one.
        func looks() -> Int {
            var looks = 0
            buffer.waitUntilWanted(
                {
                    looks += 1
                    return looks > 1
                }, audioWantedUntil: { 0 })
            return looks
        }
        #expect(looks() == 2, "it is as far ahead as allowed")
        buffer.waitUntilReady(for: 0, audioPosition: 6_000) { true }
        #expect(looks() == 1)
        buffer.push([Float](repeating: 0, count: 2 * 1_000), at: 5_000, restart: false)
        #expect(looks() == 2)
        var isReady = true
        buffer.waitUntilReady(for: 0, audioPosition: 6_000) {
            isReady = false
            return true
        }
        #expect(isReady)
    }

    @Test("the offline program is woken only when its tick's audio and frame are there")
    func wokenOnce() throws {
        let buffer = SourceBuffer(source: SourceID(uid: "a"), isPaced: true)
        buffer.setTracks(video: true, audio: true)
        buffer.setStatus(.live, at: 0)
        let looks = Mutex(0)
        let (waits, isServed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let start = ContinuousClock.now
        DispatchQueue(label: "program").async {
            buffer.waitUntilReady(for: 0, audioPosition: 4_000) {
                looks.withLock { $0 += 1 }
                waits.signal()
                return false
            }
            isServed.signal()
        }
        // It checks once more for earlier items.
        for _ in 0..<2 { waits.wait(for: "the program checks") }
        for block in Int64(0)..<400 {
            buffer.push([Float](repeating: 0, count: 2 * 10), at: block * 10, restart: block == 0)
        }
        self.push(1, 0, try self.picture(), buffer)
        isServed.wait(for: "the tick is served")
        // Without a wake-up it checks ten times a second.
        let mostLooks = 3 + Int((ContinuousClock.now - start) / .milliseconds(100))
        #expect(looks.withLock { $0 } <= mostLooks)
    }

    @Test("the first frame of a publisher that returns is shown at the tick nearest to its time", arguments: 0..<34)
    func nearestAfterReturn(phaseMs: Int64) throws {
        let buffer = self.buffer()
        let picture = try self.picture()
        buffer.setStatus(.live, at: 0)
        buffer.push(picture, time: 0, arrival: nil)
        buffer.setStatus(.lost, at: 1)
        buffer.setStatus(.live, at: 2)
        #expect(buffer.select(at: 0, interval: self.interval)?.isFresh == true)
        buffer.push(picture, time: 30 * self.interval + phaseMs * 1_000_000, arrival: nil)
        let fresh = (29...32).first {
            buffer.select(at: $0 * self.interval, interval: self.interval)?.isFresh == true
        }
        #expect(fresh == (phaseMs * 1_000_000 > self.interval / 2 ? 31 : 30))
    }

    private func push(_ frame: Int, _ phaseMs: Int64, _ picture: Picture, _ buffer: SourceBuffer) {
        let ms = (Int64(frame) * 1000 + 15) / 30 + phaseMs
        buffer.push(picture, time: ms * 1_000_000, arrival: nil)
    }

    @Test("lip sync is measured only while the source is visible")
    func lipSyncOfTheSeen() throws {
        let buffer = self.buffer()
        let dark = try self.picture()
        let lit = try PictureCanvas.open(width: 16, height: 16, fill: .white).finish()
        let cases: [(second: Int64, late: Int64, isSeen: Bool, isHidden: Bool)] = [
            (1, 0, true, false), (2, 6, false, false), (3, 1, true, false), (4, 6, true, true), (5, 0, true, false),
        ]
        for (second, late, isSeen, isHidden) in cases {
            let time = second * 1_000_000_000
            buffer.need.setHidden(isHidden)
            buffer.push(dark, time: time - 500_000_000, arrival: nil)
            _ = buffer.select(at: time - 500_000_000, interval: self.interval, isSeen: isSeen)
            buffer.push([Float](repeating: 0.5, count: 2 * 480), at: second * 48_000, restart: second == 1)
            buffer.push(lit, time: time, arrival: nil)
            _ = buffer.select(at: time + late * self.interval, interval: self.interval, isSeen: isSeen)
        }
        #expect(buffer.lipSync.offsets == [0, -self.interval, 0])
    }

    @Test("if ten frames wait after a stall, the tick shows the current one and not the oldest")
    func catchesUp() throws {
        let buffer = self.buffer()
        let picture = try self.picture()
        for frame in 0..<10 { buffer.push(picture, time: Int64(frame) * self.interval, arrival: nil) }
        let selection = buffer.select(at: 9 * self.interval, interval: self.interval)
        #expect(selection?.time == 9 * self.interval)
    }

    @Test("a source faster than real time keeps a limited number of frames")
    func isBounded() throws {
        let buffer = self.buffer()
        let picture = try self.picture()
        for frame in 0..<500 { buffer.push(picture, time: Int64(frame) * self.interval, arrival: nil) }
        #expect(buffer.droppedPictures == 500 - SourceBuffer.pictureLimit)
    }
}
