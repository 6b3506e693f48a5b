import MediaTypes
import Room
import RoomSources
import Testing

@Suite("SourceHealth: problems of network, encoder and worker told apart")
struct SourceHealthNetworkTests {
    private static let ms: Int64 = 1_000_000
    private static let second: Int64 = 1_000_000_000

    /// A publisher described by the timestamps and arrival times of its packets, polled once a second.
    private struct Publisher {
        var meter = ArrivalMeter()
        var health: SourceHealth
        var conditions = SourceHealth.Conditions()
        var changes: [SourceHealth.Change] = []
        var causes: Set<SourceHealth.Cause> = []
        /// In milliseconds.
        private var stamp: Int64 = 0
        private var now: Int64 = 0
        private var arrived: Int64 = 0
        private var frames = 0

        init(bufferMs: Int64 = 200, _ change: (inout SourceHealth.Rules) -> Void = { _ in }) {
            var rules = SourceHealth.Rules()
            rules.jitterBuffer = bufferMs * SourceHealthNetworkTests.ms
            change(&rules)
            self.health = SourceHealth(rules: rules)
            self.conditions.buffered = bufferMs * SourceHealthNetworkTests.ms
        }

        /// - Parameters:
        ///   - picture: Milliseconds between the timestamps of two frames.
        ///   - gop: Frames from one key frame to the next.
        ///   - arrival: Arrival time of a timestamp, in milliseconds; never falls.
        mutating func run(
            _ seconds: Int64, picture: Int64 = 33, gop: Int = 60, bytes: Int = 8_000, hasAudio: Bool = true,
            arrival: (Int64) -> Int64 = { $0 }
        ) {
            let end = self.stamp + seconds * 1_000
            while self.stamp < end {
                let isPicture = self.stamp % picture == 0
                if isPicture || hasAudio && self.stamp % 21 == 0 {
                    self.arrived = max(self.arrived, arrival(self.stamp))
                    while self.arrived >= self.now + 1_000 { self.look() }
                    let time = (self.stamp * SourceHealthNetworkTests.ms, self.arrived * SourceHealthNetworkTests.ms)
                    if isPicture {
                        self.meter.note(
                            .video, isKey: self.frames % gop == 0, bytes: bytes, dts: time.0, at: time.1)
                        self.frames += 1
                    }
                    if hasAudio, self.stamp % 21 == 0 {
                        self.meter.note(.audio, isKey: true, bytes: 170, dts: time.0, at: time.1)
                    }
                }
                self.stamp += 1
            }
        }

        /// Nothing is sent.
        mutating func pause(_ milliseconds: Int64) { self.stamp += milliseconds }

        private mutating func look() {
            self.now += 1_000
            let now = self.now * SourceHealthNetworkTests.ms
            if let change = self.health.read(self.meter.take(now: now), self.conditions, now: now) {
                self.changes.append(change)
            }
            self.causes.formUnion(self.health.causes)
        }

        mutating func lookAgain(_ count: Int) { for _ in 0..<count { self.look() } }
    }

    @Test(
        "bursts that the jitter buffer absorbs raise no alert in two minutes",
        arguments: [(20, 200), (100, 200), (200, 200), (300, 340), (600, 1_500)] as [(Int64, Int64)])
    func absorbedBursts(burst: Int64, buffer: Int64) {
        var publisher = Publisher(bufferMs: buffer) { ($0.fps, $0.bitrate) = (30, 2_000_000) }
        publisher.run(120) { $0 / burst * burst + burst }
        #expect(publisher.changes.isEmpty, "\(publisher.changes)")
    }

    @Test(
        "a gap is reported with its length, the length that is tolerated, and whether the network or the publisher caused it"
    )
    func gapMessage() {
        var held = Publisher { $0.fps = 30 }
        held.run(10)
        held.run(5) { (10_200..<10_900).contains($0) ? 10_900 : $0 }
        #expect(held.health.findings.map(\.cause) == [.gap] && held.health.level == .alert2)
        // The frame of 10,197 ms arrived before the gap, that of 10,230 ms at 10,900 ms.
        #expect(
            held.health.findings[0].message
                == "the media had a gap of 703 ms, but 233 ms are tolerated; the network delayed it")
        var paused = Publisher { $0.fps = 30 }
        paused.run(10)
        paused.pause(700)
        paused.run(5)
        #expect(paused.health.findings[0].message.hasSuffix("are tolerated; none was sent"))
        #expect(paused.health.findings[0].message.hasPrefix("the media had a gap of 7"))
    }

    @Test(
        "frames that arrive late and then at 1.5 times their rate do not raise the frame rate that is expected of the encoder"
    )
    func catchingUp() {
        var publisher = Publisher()
        publisher.run(60) {
            switch $0 {
            case ..<20_000: $0
            case ..<26_000: $0 + ($0 - 20_000) / 2
            case ..<35_000: $0 + 3_000 - ($0 - 26_000) / 3
            default: $0
            }
        }
        #expect(!publisher.causes.contains(.fps))
    }

    @Test(
        "a gap of 700 ms in a source's packets gives the alert level of the configured thresholds",
        arguments: [
            ([50, 300, 800], .alert2), ([0, 100, 200], .alert3), ([600, 700, 800], .normal),
            ([400, 500, 600], .alert1),
        ] as [([Int64], SourceHealth.Level)])
    func settable(bounds: [Int64], level: SourceHealth.Level) {
        var publisher = Publisher {
            $0.fps = 30
            $0.gap = bounds.map { $0 * Self.ms }
        }
        publisher.run(10)
        publisher.run(5) { (10_200..<10_900).contains($0) ? 10_900 : $0 }
        #expect(publisher.health.level == level)
    }

    @Test(
        "a gap of 700 ms raises no alert with a jitter buffer of 720 ms; more than twice that buffer of waiting media does"
    )
    func deeper() {
        var publisher = Publisher(bufferMs: 720) { $0.fps = 30 }
        publisher.conditions.depth = 720 * Self.ms
        publisher.run(10)
        publisher.run(20) { (10_200..<10_900).contains($0) ? 10_900 : $0 }
        #expect(publisher.changes.isEmpty)
        publisher.conditions.buffered = 1_500 * Self.ms
        publisher.run(5)
        #expect(publisher.health.causes == [.jitterBuffer], "twice as much waits as that buffer holds")
    }

    @Test(
        "a static screen at 1 or 2 fps raises no alert if the pipeline declares a variable frame rate; a gap still does",
        arguments: [500, 1_000] as [Int64], [true, false])
    func staticScreen(picture: Int64, hasAudio: Bool) {
        var publisher = Publisher { ($0.variableFrameRate, $0.bitrate, $0.fps) = (true, 2_000_000, 30) }
        publisher.run(10, hasAudio: hasAudio)
        publisher.run(120, picture: picture, bytes: 1_000, hasAudio: hasAudio) { $0 / 150 * 150 + 150 }
        publisher.run(20, hasAudio: hasAudio)
        #expect(publisher.changes.isEmpty, "\(publisher.changes)")
        // What it has sent still has to arrive.
        publisher.run(5, hasAudio: hasAudio) { (150_200..<151_100).contains($0) ? 151_100 : $0 }
        #expect(publisher.causes.contains(.gap))
    }

    @Test("a source that returns has no alert two seconds later, and its absence raises no alert afterwards")
    func back() {
        var publisher = Publisher { ($0.fps, $0.bitrate) = (30, 1_500_000) }
        publisher.run(20)
        publisher.pause(5_000)
        publisher.conditions.isAbsent = true
        publisher.lookAgain(5)
        #expect(publisher.health.causes == [.absent])
        publisher.conditions.isAbsent = false
        publisher.run(2)
        #expect(publisher.health.level == .normal && publisher.changes.map(\.to) == [.alert3, .normal])
        publisher.run(30)
        #expect(publisher.changes.count == 2, "\(publisher.changes)")
    }

    @Test("two causes of alerts of a source at once are listed with their own levels, the worst first")
    func everyCause() {
        var publisher = Publisher { ($0.fps, $0.bitrate) = (30, 2_048_000) }
        publisher.run(20, picture: 99, gop: 30, bytes: 6_000)
        #expect(
            publisher.health.causes == [.fps, .bitrate] && publisher.health.findings.map(\.level) == [.alert3, .alert1])
        #expect(
            publisher.health.findings[0].message
                == "its encoder sends 10.1 frames per second, but 30.0 are expected")
        #expect(
            publisher.health.findings[1].message.contains("23 % of the expected bit rate"),
            "\(publisher.health.findings)")
    }

    @Test(
        "a network that delivers media at 85 % of real time or slower is reported as slow, not the encoder; at 98 % nothing is reported",
        arguments: [(98, nil), (85, .alert1), (70, .alert2), (40, .alert3)] as [(Int64, SourceHealth.Level?)])
    func slowNetwork(percent: Int64, level: SourceHealth.Level?) {
        var publisher = Publisher { ($0.fps, $0.bitrate) = (30, 1_500_000) }
        publisher.run(20)
        publisher.run(8) { 20_000 + ($0 - 20_000) * 100 / percent }
        #expect(publisher.health.findings.map(\.cause) == (level == nil ? [] : [.network]))
        #expect(publisher.health.findings.first?.level == level)
        if level != nil {
            #expect(publisher.health.findings[0].message.hasPrefix("its network is too slow: \(percent / 10)"))
        }
    }

    @Test(
        "an encoder that sends 25 or fewer of 30 frames per second is reported as slow, not the network; at 27 nothing is reported",
        arguments: [(37, nil), (40, .alert1), (50, .alert2), (100, .alert3)] as [(Int64, SourceHealth.Level?)])
    func slowEncoder(picture: Int64, level: SourceHealth.Level?) {
        var publisher = Publisher { $0.fps = 30 }
        publisher.run(20)
        // Frames lie anywhere between two bursts, like the audio: neither track is always the later one.
        publisher.run(15, picture: picture, gop: 30) { $0 / 70 * 70 + 70 }
        #expect(publisher.health.findings.map(\.cause) == (level == nil ? [] : [.fps]))
        #expect(publisher.health.findings.first?.level == level)
    }

    @Test(
        "irregular arrivals while the worker is behind raise no alert about the publisher, then or later; the lag itself is reported"
    )
    func worker() {
        var publisher = Publisher { ($0.fps, $0.bitrate) = (30, 1_500_000) }
        publisher.run(20)
        publisher.conditions.isWorkerBehind = true
        publisher.run(20) { $0 / 900 * 900 + 900 }
        #expect(publisher.changes.isEmpty)
        publisher.conditions.isWorkerBehind = false
        publisher.run(20)
        #expect(publisher.changes.isEmpty)
        publisher.conditions.lag = 150 * Self.ms
        publisher.run(3) { $0 / 900 * 900 + 900 }
        #expect(publisher.health.causes == [.workerLag])
        #expect(publisher.health.findings[0].message == "the program is 150 ms behind its clock")
    }

    @Test(
        "packet timestamps of Int64.min, Int64.max and beside them do not trap the measurement of a source",
        arguments: [Int64.min, -1, .max])
    func extremes(time: Int64) {
        var publisher = Publisher { ($0.fps, $0.bitrate) = (30, 1) }
        publisher.run(5)
        for dts in [time, 0, time &+ 1, time &- 1, 1] {
            publisher.meter.note(.video, isKey: true, bytes: .max / 1_000, dts: dts, at: 5_000 * Self.ms)
        }
        publisher.lookAgain(4)
        #expect(publisher.health.figures.fps >= 0)
    }
}
