import Glibc
import Ingest
import MediaTypes
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

/// Without sockets and real time: which options are set on a channel, and when.
@Suite("A publisher's socket and the read timer: SO_RCVLOWAT")
struct PacedSocketTests {
    /// Time that the test advances, also on the event loop.
    private final class Steps: MonotonicClock {
        private let time = Atomic<Int64>(0)

        func now() -> Int64 { self.time.load(ordering: .relaxed) }

        func advance(_ milliseconds: Int64, _ loop: EmbeddedEventLoop) {
            self.time.add(milliseconds * 1_000_000, ordering: .relaxed)
            loop.advanceTime(by: .milliseconds(milliseconds))
        }
    }

    private let clock = Steps()
    private let grid = ReadTimer()
    private let loop = EmbeddedEventLoop()

    private func reading(
        _ channel: EmbeddedChannel, number: Int = 0, patience: ReadDelayLimits = .usual
    ) -> PacedReading {
        PacedReading(channel, number: number, patience: patience, grid: self.grid, clock: self.clock)
    }

    /// The mark that was set last; nil: none was set.
    private static func mark(_ channel: EmbeddedChannel) -> Int? {
        for (option, value) in channel.options {
            guard let option = option as? ChannelOptions.Types.SocketOption, option.optionName.rawValue == SO_RCVLOWAT
            else { continue }
            return (value as? SocketOptionValue).map { Int($0) }
        }
        return nil
    }

    /// Three seconds at 2 Mbit/s, each frame with its audio.
    private func warm(_ reading: PacedReading, isAway: Bool = false) {
        for _ in 0..<75 {
            self.clock.advance(40, self.loop)
            reading.received(10_000, missing: 0, isAway: isAway, at: self.clock.now())
        }
    }

    @Test("the read timer runs while sockets are registered, and passes its turn number to each of them")
    func turns() {
        var turns: [Int] = []
        #expect(!self.grid.isRunning)
        let note = { (turn: Int) -> Int in
            turns.append(turn)
            return 1
        }
        self.grid.join(1, on: self.loop, note)
        self.grid.join(2, on: self.loop) { [grid] _ in
            grid.leave(2)
            return 1
        }
        #expect(self.grid.isRunning)
        self.clock.advance(60, self.loop)
        #expect(turns == [1, 2, 3])
        self.grid.leave(1)
        #expect(!self.grid.isRunning)
        self.clock.advance(60, self.loop)
        #expect(turns.count == 3)
        self.grid.join(3, on: self.loop, note)
        self.clock.advance(20, self.loop)
        #expect(turns.count == 4, "it starts again")
    }

    @Test("the read timer skips the turns that no socket needs, and counts them")
    func skippedTurns() {
        var turns: [Int] = []
        self.grid.join(1, on: self.loop) {
            turns.append($0)
            return 3
        }
        self.clock.advance(19, self.loop)
        #expect(turns == [1])
        self.clock.advance(2 * 19, self.loop)
        #expect(turns == [1])
        self.clock.advance(19, self.loop)
        #expect(turns == [1, 4])
        var others: [Int] = []
        self.grid.join(2, on: self.loop) {
            others.append($0)
            return 2
        }
        self.clock.advance(5 * 19, self.loop)
        #expect(turns == [1, 4, 7, 9] && others == [7, 9], "the smallest number counts")
        self.grid.leave(1)
        self.grid.leave(2)
        #expect(!self.grid.isRunning)
    }

    @Test("bytes wait for the read delay plus at most one timer turn; the end of the publication resets SO_RCVLOWAT")
    func onAir() throws {
        let channel = EmbeddedChannel(loop: self.loop)
        let reading = self.reading(channel)
        #expect(Self.mark(channel) == nil)
        self.warm(reading)
        #expect(Self.mark(channel) == 4_096)
        self.clock.advance(39, self.loop)
        #expect(Self.mark(channel) == 4_096)
        self.clock.advance(21, self.loop)
        #expect(Self.mark(channel) == 1, "the data has waited")
        reading.received(200, missing: 0, isAway: false, at: self.clock.now())
        #expect(Self.mark(channel) == 4_096)
        reading.end()
        #expect(Self.mark(channel) == 1)
        #expect(!self.grid.isRunning)
        self.clock.advance(100, self.loop)
        reading.received(10_000, missing: 0, isAway: false, at: self.clock.now())
        #expect(Self.mark(channel) == 1, "it has ended")
        _ = try channel.finish()
    }

    /// A reader of the source that learns how far it was read.
    private final class Watcher: SourceSubscriber {
        private let state = Mutex(Int64?.none)

        var readUntil: Int64? { self.state.withLock { $0 } }
        func receive(_ item: SourceItem) {}
        func noteRead(until time: Int64?) { self.state.withLock { $0 = time } }
    }

    @Test(
        "a hidden source that becomes visible is read within one timer turn; while hidden, its readers get the time of its last read"
    )
    func comesIntoSight() throws {
        let channel = EmbeddedChannel(loop: self.loop)
        let (hub, watcher) = (SourceHub(source: SourceID(uid: "1")), Watcher())
        let token = hub.subscribe(watcher)
        hub.setPatient(true, for: token)
        let reading = PacedReading(
            channel, number: 0, patience: .usual, grid: self.grid, clock: self.clock, hub: hub)
        self.warm(reading, isAway: true)
        #expect(Self.mark(channel) == ReadScheduler.distantBytes)
        #expect(watcher.readUntil == self.clock.now())
        let read = watcher.readUntil
        self.clock.advance(19, self.loop)
        #expect(reading.isAway)
        #expect(watcher.readUntil == read)
        hub.setPatient(false, for: token)
        self.clock.advance(19, self.loop)
        #expect(Self.mark(channel) == 1)
        #expect(!reading.isAway)
        #expect(watcher.readUntil == nil)
        reading.received(10_000, missing: 0, isAway: true, at: self.clock.now())
        #expect(watcher.readUntil == self.clock.now())
        reading.isPaused = true
        #expect(watcher.readUntil == nil, "a pause is not a read")
        reading.received(10_000, missing: 0, isAway: true, at: self.clock.now())
        reading.end()
        #expect(watcher.readUntil == nil)
        _ = try channel.finish()
    }

    @Test("a hundred sources that are not shown are read four times a second each, evenly spread over the turns")
    func away() throws {
        let channels = (0..<100).map { _ in EmbeddedChannel(loop: self.loop) }
        let readings = channels.enumerated().map { self.reading($1, number: $0) }
        for _ in 0..<75 {
            self.clock.advance(40, self.loop)
            for reading in readings { reading.received(10_000, missing: 0, isAway: true, at: self.clock.now()) }
        }
        var reads = [Int](repeating: 0, count: 100)
        for _ in 0..<52 {
            self.clock.advance(19, self.loop)
            var atOnce = 0
            // There is no socket to read: the mark is set instead.
            for (index, channel) in channels.enumerated() where Self.mark(channel) == 1 {
                readings[index].received(5_000, missing: 77, isAway: true, at: self.clock.now())
                reads[index] += 1
                atOnce += 1
            }
            #expect((7...8).contains(atOnce))
        }
        #expect(reads.allSatisfy { $0 == 4 })
        for channel in channels { _ = try channel.finish() }
    }

    @Test("the timer does not read a paused socket")
    func paused() throws {
        let channel = EmbeddedChannel(loop: self.loop)
        let reading = self.reading(channel)
        self.warm(reading, isAway: true)
        reading.isPaused = true
        self.clock.advance(300, self.loop)
        #expect(Self.mark(channel) == ReadScheduler.distantBytes)
        reading.isPaused = false
        self.clock.advance(250, self.loop)
        #expect(Self.mark(channel) == 1)
        _ = try channel.finish()
    }

    @Test("a socket closed while registered leaves the timer without an error")
    func closed() throws {
        let channel = EmbeddedChannel(loop: self.loop)
        // Like a socket's channel.
        channel.allowOptionsWhenClosed = false
        let reading = self.reading(channel)
        self.warm(reading)
        try channel.close().wait()
        self.clock.advance(100, self.loop)
        #expect(!self.grid.isRunning)
        reading.received(1, missing: 0, isAway: false, at: self.clock.now())
        reading.end()
    }

    @Test("with a read delay of 0, the ingest server uses neither SO_RCVLOWAT nor the timer")
    func impatient() throws {
        let channel = EmbeddedChannel(loop: self.loop)
        let reading = self.reading(channel, patience: ReadDelayLimits(jitterBuffer: 0))
        self.warm(reading)
        #expect(Self.mark(channel) == nil)
        #expect(!self.grid.isRunning)
        let sizes = channel.options.compactMap { ($0.value as? FixedSizeRecvByteBufferAllocator)?.capacity }
        #expect(sizes == [ReadScheduler.readBytes])
        _ = try channel.finish()
    }
}
