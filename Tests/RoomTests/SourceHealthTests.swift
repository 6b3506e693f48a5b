import MediaTypes
import Room
import RoomSources
import Testing

@Suite("SourceHealth: alert levels of a source, with causes")
struct SourceHealthTests {
    static let ms: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000

    /// A publisher with a clock of its own, polled once a second.
    struct Feed {
        var meter = ArrivalMeter()
        var health: SourceHealth
        var now: Int64 = 0
        var conditions = SourceHealth.Conditions()
        var changes: [SourceHealth.Change] = []

        init(_ change: (inout SourceHealth.Rules) -> Void = { _ in }) {
            var rules = SourceHealth.Rules()
            change(&rules)
            self.health = SourceHealth(rules: rules)
        }

        var levels: [SourceHealth.Level] { self.changes.map(\.to) }

        /// - Parameters:
        ///   - fps: Evenly spaced frames per second; 0: no video.
        ///   - bytes: Bytes of each frame.
        ///   - key: Seconds between key frames.
        ///   - late: Added to the arrival times of audio, in milliseconds.
        ///   - renumbered: Added to the timestamps of audio, in milliseconds.
        mutating func run(
            _ seconds: Int, fps: Int = 30, bytes: Int = 8_000, key: Int = 2, late: Int64 = 0, hasAudio: Bool = true,
            renumbered: Int64 = 0
        ) {
            for _ in 0..<seconds {
                let start = self.now
                for index in 0..<fps {
                    let at = start + Int64(index) * SourceHealthTests.second / Int64(fps)
                    let isKey = index == 0 && start / SourceHealthTests.second % Int64(key) == 0
                    self.meter.note(.video, isKey: isKey, bytes: bytes, dts: at, at: at)
                }
                if hasAudio {
                    for index in 0..<47 {
                        let at = start + Int64(index) * SourceHealthTests.second / 47
                        self.meter.note(
                            .audio, isKey: true, bytes: 170, dts: at + renumbered * SourceHealthTests.ms,
                            at: at + late * SourceHealthTests.ms)
                    }
                }
                self.now = start + SourceHealthTests.second
                self.look()
            }
        }

        mutating func look() {
            let reading = self.meter.take(now: self.now)
            if let change = self.health.read(reading, self.conditions, now: self.now) { self.changes.append(change) }
        }
    }

    @Test("an offset of Int64.min between audio and video gives alert_3 for skew, without a trap")
    func farthestApart() {
        var health = SourceHealth(rules: SourceHealth.Rules())
        var reading = ArrivalMeter.Reading()
        reading.span = Self.second
        reading.frames = 30
        reading.audioPackets = 47
        reading.videoDelay = 0
        reading.audioDelay = 0
        for index in Int64(1)...5 { _ = health.read(reading, SourceHealth.Conditions(), now: index * Self.second) }
        #expect(health.level == .normal)
        reading.videoDelay = .min
        _ = health.read(reading, SourceHealth.Conditions(), now: 6 * Self.second)
        #expect(health.level == .alert3 && health.causes == [.skew])
    }

    @Test("a source with regular packets raises no alert", arguments: [15, 25, 30, 60])
    func normal(fps: Int) {
        var feed = Feed()
        feed.run(120, fps: fps)
        #expect(feed.changes.isEmpty)
        #expect(abs(feed.health.figures.fps - Int64(fps) * 1_000) < 300)
    }

    @Test(
        "the frame rate is compared with the declared one, or else with the one reached before",
        arguments: [(28, .normal), (25, .alert1), (20, .alert2), (10, .alert3)] as [(Int, SourceHealth.Level)])
    func fps(fps: Int, level: SourceHealth.Level) {
        var stated = Feed { $0.fps = 30 }
        stated.run(20, fps: fps)
        #expect(stated.health.level == level)
        var learned = Feed()
        learned.run(14, fps: 30)
        learned.run(20, fps: fps)
        #expect(learned.health.level == level)
        if level > .normal { #expect(learned.health.causes.contains(.fps)) }
    }

    @Test("a gap of 1.5 s raises alert_3 at once; the level falls 10 s after the gap has left the window of 5 s")
    func hysteresis() {
        var feed = Feed()
        feed.run(10)
        // 1.5 s without packets, and then as before.
        feed.now += 1_500 * Self.ms
        feed.look()
        #expect(feed.levels == [.alert3] && feed.changes[0].causes.contains(.gap))
        // The gap ends in the first of these seconds, so it is in the window for five readings.
        feed.run(15)
        #expect(feed.health.level == .alert3, "five seconds of the window and ten of hysteresis")
        feed.run(1)
        #expect(feed.health.level == .normal && feed.health.causes.isEmpty)
        feed.run(10)
        #expect(feed.levels == [.alert3, .normal])
    }

    @Test("video that falls to 1 fps raises alert_3 unless the pipeline declares a variable frame rate")
    func stillScreen() {
        var screen = Feed { $0.variableFrameRate = true }
        screen.run(5)
        screen.run(20, fps: 1, key: 2)
        #expect(screen.changes.isEmpty)
        var camera = Feed()
        camera.run(14)
        camera.run(10, fps: 1)
        #expect(camera.health.level == .alert3)
    }

    @Test(
        "with a variable frame rate, too rare key frames raise an alert for moving video, and none after a still screen"
    )
    func stillScreenKeys() {
        var screen = Feed { $0.variableFrameRate = true }
        screen.run(5)
        screen.run(20, fps: 0)
        // It moves again, and its encoder counts frames: the next key frame is a second away.
        screen.run(1, key: 1_000)
        screen.run(10)
        #expect(screen.changes.isEmpty)
        screen.run(8, key: 1_000)
        #expect(screen.levels == [.alert1] && screen.changes.first?.causes == [.keyInterval])
    }

    @Test(
        "a low bit rate, rare key frames, a long jitter buffer, decode errors, worker lag and absence each raise an alert with its cause"
    )
    func others() {
        var thin = Feed { $0.bitrate = 2_048_000 }
        thin.run(10, bytes: 4_000)
        #expect(thin.levels == [.alert1] && thin.changes[0].causes == [.bitrate])
        var keys = Feed()
        keys.run(20, key: 6)
        #expect(keys.levels == [.alert1] && keys.changes[0].causes == [.keyInterval])
        var buffer = Feed()
        buffer.conditions.buffered = 401 * Self.ms
        buffer.run(5)
        #expect(buffer.levels == [.alert1] && buffer.changes[0].causes == [.jitterBuffer])
        var damage = Feed()
        damage.run(6)
        damage.conditions.damaged = 1
        damage.run(1)
        #expect(damage.levels == [.alert1] && damage.changes[0].causes == [.decodeErrors])
        damage.conditions.damaged = 6
        damage.run(1)
        #expect(damage.levels == [.alert1, .alert2])
        var lag = Feed()
        lag.conditions.lag = 150 * Self.ms
        lag.run(1)
        #expect(lag.levels == [.alert2] && lag.changes[0].causes == [.workerLag])
        lag.conditions.lag = 500 * Self.ms
        lag.run(1)
        #expect(lag.levels == [.alert2, .alert3])
        var gone = Feed()
        gone.run(6)
        gone.conditions.isAbsent = true
        gone.look()
        #expect(gone.levels == [.alert3] && gone.changes[0].causes == [.absent])
    }

    @Test("twelve seconds after a source is gone, its alerts are cleared")
    func given() throws {
        var feed = Feed()
        feed.run(6)
        feed.conditions = try #require(SourceHealth.Conditions(.reconnecting))
        feed.look()
        #expect(feed.levels == [.alert3])
        feed.meter = ArrivalMeter()
        feed.conditions = try #require(SourceHealth.Conditions(.gone))
        for _ in 0..<12 {
            feed.now += Self.second
            feed.look()
        }
        #expect(feed.levels == [.alert3, .normal] && feed.health.causes.isEmpty)
    }

    @Test("a source that is idle, connected, publishing or ended is not checked for alerts")
    func early() {
        for state in [SourceStateMachine.State.idle, .connected, .publishing, .ended] {
            #expect(SourceHealth.Conditions(state) == nil)
        }
    }

    @Test(
        "an offset between audio and video that grows by 100 ms or more raises an alert; a constant one or a growth of 60 ms does not",
        arguments: [(60, .normal), (100, .alert1), (200, .alert2), (400, .alert3)] as [(Int64, SourceHealth.Level)])
    func skew(late: Int64, level: SourceHealth.Level) {
        var feed = Feed()
        feed.run(10, late: 300)
        #expect(feed.changes.isEmpty, "a publisher that always sends its audio late is normal")
        feed.run(10, late: 300 + late)
        #expect(feed.health.level == level, "\(feed.health.figures)")
        if level > .normal { #expect(feed.health.causes == [.skew]) }
    }

    @Test(
        "a jump of the audio timestamps by an hour raises no alert; audio that is sent 200 ms later after it does",
        arguments: [-3_600_000, 3_600_000] as [Int64])
    func renumbered(by jump: Int64) {
        var feed = Feed()
        feed.run(12)
        feed.run(20, renumbered: jump)
        #expect(feed.changes.isEmpty, "\(feed.changes)")
        feed.run(6, late: 200, renumbered: jump)
        #expect(feed.levels == [.alert2] && feed.changes.first?.causes == [.skew])
    }

    @Test("bursts at the start and after a gap do not raise the expected frame rate")
    func bursts() {
        var feed = Feed()
        feed.run(1, fps: 200)
        feed.run(30)
        #expect(feed.changes.isEmpty)
        feed.now += 900 * Self.ms
        feed.look()
        feed.run(1, fps: 57)
        feed.run(40)
        #expect(feed.levels == [.alert2, .normal])
    }

    @Test("a new publication is not compared with the frame rate of the previous one")
    func again() {
        var feed = Feed()
        feed.run(10, fps: 60)
        feed.health.begin()
        feed.meter = ArrivalMeter()
        feed.run(30, fps: 30)
        #expect(feed.health.level == .normal)
    }
}
