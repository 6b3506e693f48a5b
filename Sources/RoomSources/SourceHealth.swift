package import Events
import MediaTypes

/// How well a source's media arrives: one of four levels, with its causes. Pure; times are in nanoseconds.
///
/// Each cause has its own level. The level of the source is that of its worst cause. A level rises at once. It falls when
/// nothing as bad was found for ``Rules/clearAfter``. When media returns after an absence, the measurement restarts.
///
/// The network and the publisher's encoder are distinguished by comparing timestamps with arrivals. A slow encoder
/// sends few frames per second of its own timestamps. A slow network delivers less than one second of timestamps per
/// second.
///
/// While the worker itself is behind, arrivals are not judged. New findings are then only ``Cause/absent`` and, if the program
/// lags by 100 ms or more, ``Cause/workerLag``.
package struct SourceHealth: Sendable {
    package typealias Finding = HealthFinding
    package typealias Level = HealthFinding.Level
    package typealias Cause = HealthFinding.Cause

    /// The limits by which the health of a source is judged. Times are in nanoseconds.
    package struct Rules: Sendable, Equatable {
        /// Expected frame rate in frames per second; nil for the best rate that the publication itself has reached.
        package var fps: Int?
        /// Whether the publisher may send no frames while the image does not move.
        package var variableFrameRate = false
        /// Expected bit rate of the video in bit/s; nil if no bit rate is expected.
        package var bitrate: Int?
        package var jitterBuffer: Int64 = 200_000_000
        package var window: Int64 = 5_000_000_000
        package var clearAfter: Int64 = 10_000_000_000
        /// Lower limits of a gap for the three alert levels. Only the part of a gap that the jitter buffer does not
        /// absorb counts.
        package var gap: [Int64] = [50_000_000, 300_000_000, 800_000_000]
        /// Upper limits for the three alert levels: percent of the expected frame rate, by the publisher's own
        /// timestamps.
        package var fpsPercent: [Int64] = [90, 75, 50]
        /// Upper limits for the three alert levels: percent of real time at which media arrives.
        package var networkPercent: [Int64] = [90, 75, 50]
        /// Lower limits for the three alert levels: percent of the packets that the network loses.
        package var lossPercent: [Int64] = [5, 10, 15]
        /// Percent of the expected bit rate below which the level is alert 1.
        package var bitratePercent: Int64 = 60
        package var skew: [Int64] = [80_000_000, 150_000_000, 300_000_000]
        /// Time between key frames above which the level is alert 1.
        package var keyInterval: Int64 = 4_000_000_000

        package init() {}
    }

    /// Counters of a publisher's connection that numbers its packets.
    package struct Packets: Sendable, Equatable {
        /// Packets that were sent, without retransmissions.
        package var sent: Int64 = 0
        /// Packets that the network lost, including those that were received later by retransmission.
        package var lost: Int64 = 0
        /// Frames that are missing because packets of them, or of a frame before them, are.
        package var missing: Int64 = 0

        package init() {}

        /// The increase since an earlier count; 0 for counters that have restarted.
        func since(_ earlier: Packets) -> Packets {
            var increase = Packets()
            increase.sent = max(0, self.sent &- earlier.sent)
            increase.lost = max(0, self.lost &- earlier.lost)
            increase.missing = max(0, self.missing &- earlier.missing)
            return increase
        }
    }

    /// Facts besides the arrivals that the health of the source depends on.
    package struct Conditions: Sendable {
        /// Whether the source is lost or stalled, so that its last frame or a placeholder is on air.
        package var isAbsent = false
        /// Number of damaged packets since the source was added.
        package var damaged = 0
        /// How far the program is behind its clock, in nanoseconds.
        package var lag: Int64 = 0
        /// Whether the program or an encoder of the worker lags, which can distort its measurements of publishers.
        package var isWorkerBehind = false
        /// How long packets wait before they are due, in nanoseconds: the current jitter buffer, and a backlog that is
        /// being reduced. nil if unknown.
        package var buffered: Int64?
        /// Current depth of the jitter buffer, which network jitter may have increased; nil for the configured depth.
        package var depth: Int64?
        /// Whether the publisher sends key frames on request, as browsers do. Then the time between them is no problem.
        package var answersKeyFrameRequests = false
        /// How much later the video's timestamps were moved than the audio's since the publication began, because sender
        /// reports have told when both were captured; in nanoseconds.
        package var realigned: Int64 = 0
        /// Counters of the connection; nil if it does not number its packets.
        package var packets: Packets?

        package init() {}

        /// What the health of a source in this state depends on besides its arrivals; nil in states in which health is not
        /// judged: before a source is live, and after a file has ended.
        package init?(_ state: SourceStateMachine.State) {
            switch state {
            case .live: break
            case .stalled, .lost, .reconnecting: self.isAbsent = true
            // The room no longer waits for the source. Earlier findings clear with time.
            case .gone: break
            case .idle, .connected, .publishing, .ended: return nil
            }
        }
    }

    /// The values that were measured in the window.
    package struct Figures: Sendable, Equatable {
        /// Received frames per second, in thousandths.
        package var fps: Int64 = 0
        /// Received bit rate of the video in bit/s.
        package var bitrate: Int64 = 0
        package var gap: Int64 = 0
        /// Frames per second of the publisher's own timestamps, in thousandths; nil if the timestamps cannot be used.
        package var sentFps: Int64?
        /// Media time that arrives per second of real time, in thousandths; nil if the timestamps cannot be used.
        package var pace: Int64?
        /// How far audio and video have moved apart since the publication began, or since its timestamps last jumped,
        /// after which the tracks are aligned again.
        package var skew: Int64 = 0
        /// Longest keyframe interval. With ``Rules/variableFrameRate``, times without motion are left out.
        package var keyGap: Int64 = 0
        package var damaged = 0

        package init() {}
    }

    /// A change of the source's health level.
    package struct Change: Sendable, Equatable {
        package var from: Level
        package var to: Level
        /// The current causes, the worst first.
        package var causes: [Cause]
    }

    private struct Entry: Sendable {
        var time: Int64
        var reading: ArrivalMeter.Reading
        var damaged: Int
        /// The longest gap in excess of what the jitter buffer absorbed.
        var gap = Gap()
        var packets = Packets()
    }

    private struct Gap: Sendable {
        /// Length of the gap; ``absorbed`` is the part that the jitter buffer absorbed, and ``excess`` the rest.
        var length: Int64 = 0
        var absorbed: Int64 = 0
        var excess: Int64 = 0
        /// Whether more than half of the gap is not in the timestamps: the network delayed media that was sent in time.
        var isHeldUp = false
        /// Whether frames are missing because the network lost packets of them.
        var isLoss = false
    }

    private struct Verdict: Sendable {
        var time: Int64
        var findings: [Finding]
    }

    /// Lower limits of the program's lag for alert 2 and alert 3, in nanoseconds.
    private static let lagBounds: [Int64] = [100_000_000, 400_000_000]
    /// Least number of packets per track from which the skew between audio and video is measured.
    private static let fewest = 20
    /// Media that is late by no more than what is buffered, or by no more than this if that is less, does not indicate a
    /// slow network.
    private static let mostAbsorbed: Int64 = 500_000_000
    /// If sender reports move audio and video against each other by more than this, then a new baseline is needed.
    private static let mostRealigned: UInt64 = 20_000_000
    /// Least number of packets from which the share of lost ones is computed: two seconds of audio.
    private static let fewestSent: Int64 = 100
    /// Least length of the measured time from which arrivals are judged, in nanoseconds.
    private static let shortest: Int64 = 2_000_000_000

    /// The limits. A change applies from the next reading on.
    package var rules: Rules
    private var entries: [Entry] = []
    private var verdicts: [Verdict] = []
    private var damaged = 0
    /// The best frame rate that the publication has reached, in thousandths of frames per second.
    private var best: Int64 = 0
    /// When the first reading of the publication was taken; nil before that.
    private var began: Int64?
    /// Delay of the video less that of the audio when it was first measured since the timestamps last jumped, with which
    /// later measurements are compared; nil before that.
    private var baseline: Int64?
    /// ``Conditions/realigned`` when the measurement of the skew began.
    private var realigned: Int64 = 0
    /// ``Conditions/packets`` of the last reading; nil before the first one.
    private var packets: Packets?
    private var wasAbsent = false
    /// Whether the worker was behind at the last reading.
    private var wasBehind = false
    /// Current problems, the worst first; each cause occurs once.
    package private(set) var findings: [Finding] = []
    package var level: Level { self.findings.first?.level ?? .normal }
    package var causes: [Cause] { self.findings.map(\.cause) }
    package private(set) var figures = Figures()

    package init(rules: Rules) { self.rules = rules }

    /// Starts the measurement of a new publication, whose normal values are not known yet. The level continues from the
    /// previous publication.
    package mutating func begin() {
        self.entries = []
        self.best = 0
        self.began = nil
        self.baseline = nil
        self.realigned = 0
        self.packets = nil
        self.figures = Figures()
    }

    /// Updates the health with a new reading.
    ///
    /// - Parameter reading: Measurements of the arrivals since the last call; nil if no packet has arrived yet.
    ///
    /// - Returns: The change of the level; nil if it is unchanged.
    package mutating func read(
        _ reading: ArrivalMeter.Reading?, _ conditions: Conditions, now: Int64
    ) -> Change? {
        let before = self.level
        let isBack = self.wasAbsent && !conditions.isAbsent && reading.map { $0.frames + $0.audioPackets > 0 } ?? false
        if conditions.isAbsent { self.wasAbsent = true }
        // The first reading after an absence includes the time of the absence.
        if isBack { (self.entries, self.verdicts, self.wasAbsent) = ([], [], false) }
        let isBehind = conditions.isWorkerBehind || conditions.lag >= Self.lagBounds[0]
        // The worker itself may have caused what was measured while it was behind. The first reading afterwards
        // includes the end of that time, so a new window begins after it.
        let isMeasuredLate = isBehind || self.wasBehind
        self.wasBehind = isBehind
        if isMeasuredLate { self.entries = [] }
        let packets = conditions.packets.map { $0.since(self.packets ?? $0) } ?? Packets()
        self.packets = conditions.packets
        if var reading, !isBack, !isMeasuredLate {
            if self.began == nil { self.began = now }
            if (conditions.realigned &- self.realigned).magnitude > Self.mostRealigned {
                reading.isRenumbered = true
                self.realigned = conditions.realigned
            }
            if reading.isRenumbered { self.baseline = nil }
            self.entries.append(
                Entry(
                    time: now, reading: reading, damaged: max(0, conditions.damaged - self.damaged),
                    gap: self.gap(in: reading, conditions, missing: packets.missing), packets: packets))
        }
        self.damaged = conditions.damaged
        self.entries.removeAll { now &- $0.time >= self.rules.window }
        let span = self.entries.reduce(0) { $0 + $1.reading.span }
        var found: [Finding] = []
        if conditions.isAbsent {
            found.append(Finding(cause: .absent, level: .alert3, message: "no media arrives"))
        } else if span >= Self.shortest {
            self.measure(span, now)
            found = self.judge(conditions)
        }
        let lagLevel = Self.level(conditions.lag, [.max] + Self.lagBounds)
        if lagLevel > .normal {
            let message = "the program is \(conditions.lag / 1_000_000) ms behind its clock"
            found.append(Finding(cause: .workerLag, level: lagLevel, message: message))
        }
        self.verdicts.append(Verdict(time: now, findings: found))
        self.verdicts.removeAll { now &- $0.time > self.rules.clearAfter }
        self.findings = self.held
        return self.level == before ? nil : Change(from: before, to: self.level, causes: self.causes)
    }

    /// The worst finding of each cause within ``Rules/clearAfter``. Of equally bad findings, the newest.
    private var held: [Finding] {
        var worst: [Cause: Finding] = [:]
        for verdict in self.verdicts {
            for finding in verdict.findings where finding.level >= worst[finding.cause]?.level ?? .normal {
                worst[finding.cause] = finding
            }
        }
        return Cause.allCases.compactMap { worst[$0] }.filter { $0.level > .normal }
            .enumerated().sorted { ($1.element.level, $0.offset) < ($0.element.level, $1.offset) }.map(\.element)
    }

    /// The longest gap in a reading, and how much of it the jitter buffer absorbed at that time.
    ///
    /// - Parameter missing: Number of frames that are missing because packets were lost.
    private func gap(in reading: ArrivalMeter.Reading, _ conditions: Conditions, missing: Int64) -> Gap {
        let expected = self.expectedFps
        let interval = expected > 0 ? TimeMath.scale(1_000, by: TimeMath.nanoseconds, over: expected) : 40_000_000
        var gap = Gap()
        let isVideo: Bool
        if self.rules.variableFrameRate {
            // If the image does not move, then no frames are sent; but frames that were sent must not be delayed.
            isVideo = reading.videoHeld > reading.audioGap
            gap.length = isVideo ? reading.videoHeld &+ interval : reading.audioPackets > 0 ? reading.audioGap : 0
        } else {
            isVideo = self.hasFrames || reading.frames > 0
            gap.length = isVideo ? reading.videoGap : reading.audioGap
        }
        let held = isVideo ? reading.videoHeld : reading.audioHeld
        gap.isHeldUp = held > gap.length / 2
        let buffer = max(0, conditions.buffered ?? self.rules.jitterBuffer)
        // The frame interval of a stream with a low frame rate is not a gap.
        let ordinary = self.rules.variableFrameRate ? 0 : interval &+ interval &* 3 / 2
        gap.absorbed = max(buffer &+ interval, ordinary)
        gap.excess = gap.length &- gap.absorbed
        // No buffer replaces frames that are missing.
        if missing > 0, isVideo, ordinary > 0, reading.pictureStep &- ordinary > max(0, gap.excess) {
            gap = Gap(length: reading.pictureStep, absorbed: ordinary, excess: reading.pictureStep &- ordinary)
            gap.isLoss = true
        }
        return gap
    }

    private var hasFrames: Bool { self.entries.contains { $0.reading.frames > 0 } }

    /// The expected frame rate, in thousandths of frames per second; 0 if it is unknown.
    private var expectedFps: Int64 { self.rules.fps.map { Int64($0) * 1_000 } ?? self.best }

    private mutating func measure(_ span: Int64, _ now: Int64) {
        func sum(_ value: (ArrivalMeter.Reading) -> Int) -> Int64 {
            self.entries.reduce(0) { $0 + Int64(value($1.reading)) }
        }
        func largest(_ value: (ArrivalMeter.Reading) -> Int64) -> Int64 {
            self.entries.reduce(0) { max($0, value($1.reading)) }
        }
        func total(_ value: (ArrivalMeter.Reading) -> Int64) -> Int64 {
            self.entries.reduce(0) { $0 &+ value($1.reading) }
        }
        var figures = Figures()
        let second = TimeMath.nanoseconds
        figures.fps = TimeMath.scale(sum(\.frames) * 1_000, by: second, over: span)
        figures.bitrate = TimeMath.scale(sum(\.pictureBytes) * 8, by: second, over: span)
        figures.gap = self.entries.max { $0.gap.excess < $1.gap.excess }?.gap.length ?? 0
        let (time, arriving) = (total(\.pictureTime), total(\.pictureSpan))
        if time > 0, arriving >= Self.shortest {
            figures.sentFps = TimeMath.scale(sum(\.pictureSteps) * 1_000, by: second, over: time)
            figures.pace = TimeMath.scale(time, by: 1_000, over: arriving)
        }
        figures.keyGap = self.rules.variableFrameRate ? largest(\.movingKeyGap) : largest(\.keyGap)
        figures.damaged = self.entries.reduce(0) { $0 + $1.damaged }
        let numbered = self.entries[(self.entries.lastIndex { $0.reading.isRenumbered } ?? self.entries.startIndex)...]
        if numbered.reduce(0, { $0 + $1.reading.frames }) >= Self.fewest,
            numbered.reduce(0, { $0 + $1.reading.audioPackets }) >= Self.fewest,
            let video = numbered.compactMap(\.reading.videoDelay).min(),
            let audio = numbered.compactMap(\.reading.audioDelay).min()
        {
            let difference = video &- audio
            if let baseline = self.baseline {
                figures.skew = difference &- baseline
            } else if numbered.reduce(0, { $0 + $1.reading.span }) >= self.rules.window - second {
                self.baseline = difference
            }
        }
        // A burst at the start of a publication, or after a gap, does not measure the frame rate.
        let isHeldUp = self.entries.contains { $0.gap.length >= 200_000_000 && $0.gap.isHeldUp }
        if let began = self.began, now &- began >= 2 * self.rules.window, isHeldUp || figures.gap < 200_000_000 {
            // Frames that the network or this machine has delayed arrive faster than they were sent.
            let rate = isHeldUp ? figures.sentFps ?? 0 : min(figures.fps, figures.sentFps ?? .max)
            self.best = max(self.best, rate)
        }
        self.figures = figures
    }

    private func judge(_ conditions: Conditions) -> [Finding] {
        var found: [Finding] = []
        func note(_ cause: Cause, _ level: Level, _ message: @autoclosure () -> String) {
            if level > .normal { found.append(Finding(cause: cause, level: level, message: message())) }
        }
        let figures = self.figures
        let milliseconds: Int64 = 1_000_000
        let expected = self.expectedFps
        // The encoder has sent the frames that are missing, too.
        let span = self.entries.reduce(Int64(0)) { $0 + $1.reading.span }
        let missing = self.entries.reduce(Int64(0)) { $0 &+ $1.packets.missing }
        let sent =
            (figures.sentFps ?? figures.fps)
            &+ TimeMath.scale(missing * 1_000, by: TimeMath.nanoseconds, over: max(1, span))
        if !self.rules.variableFrameRate, expected > 0 {
            note(
                .fps,
                Self.level(
                    below: TimeMath.scale(sent, by: 100, over: expected, rounding: .down), self.rules.fpsPercent),
                "its encoder sends \(Self.decimal(sent)) frames per second, but \(Self.decimal(expected)) are expected")
        }
        if let gap = self.entries.max(by: { $0.gap.excess < $1.gap.excess })?.gap {
            note(
                .gap, Self.level(gap.excess, self.rules.gap),
                gap.isLoss
                    ? "no frame arrived for \(gap.length / milliseconds) ms, because packets were lost"
                    : "the media had a gap of \(gap.length / milliseconds) ms, "
                        + "but \(gap.absorbed / milliseconds) ms are tolerated; "
                        + (gap.isHeldUp ? "the network delayed it" : "none was sent"))
        }
        if let pace = figures.pace, self.isBehindOnTheWay(conditions) {
            note(
                .network, Self.level(below: pace / 10, self.rules.networkPercent),
                "its network is too slow: \(pace) ms of media arrive per second")
        }
        let sentPackets = self.entries.reduce(Int64(0)) { $0 &+ $1.packets.sent }
        if sentPackets >= Self.fewestSent {
            let percent = self.entries.reduce(Int64(0)) { $0 &+ $1.packets.lost } &* 100 / sentPackets
            note(
                .loss, Self.level(percent, self.rules.lossPercent),
                "the network loses \(percent) % of its packets")
        }
        if let bitrate = self.rules.bitrate, !self.rules.variableFrameRate {
            // Also measured by media time, because the encoder has produced what the network delays.
            let made = figures.pace.map { $0 > 0 ? TimeMath.scale(figures.bitrate, by: 1_000, over: $0) : 0 }
            let percent = TimeMath.scale(max(figures.bitrate, made ?? 0), by: 100, over: Int64(max(1, bitrate)))
            note(
                .bitrate, percent < self.rules.bitratePercent ? .alert1 : .normal,
                "its video has \(figures.bitrate / 1_000) kbit/s, \(percent) % of the expected bit rate")
        }
        note(
            .skew, Self.level(Int64(clamping: figures.skew.magnitude), self.rules.skew),
            "audio and video have moved apart by \(Int64(clamping: figures.skew.magnitude) / milliseconds) ms")
        note(
            .keyInterval,
            figures.keyGap > self.rules.keyInterval && !conditions.answersKeyFrameRequests ? .alert1 : .normal,
            "key frames are \(figures.keyGap / milliseconds) ms apart")
        let depth = max(self.rules.jitterBuffer, conditions.depth ?? 0)
        if let buffered = conditions.buffered, buffered / 2 > depth {
            note(
                .jitterBuffer, .alert1,
                "\(buffered / milliseconds) ms of media wait, but its jitter buffer is \(depth / milliseconds) ms")
        }
        if figures.damaged > 0 {
            let isMuch = Int64(figures.damaged) * TimeMath.nanoseconds >= self.rules.window
            note(.decodeErrors, isMuch ? .alert2 : .alert1, "\(figures.damaged) packets are damaged")
        }
        return found
    }

    /// Whether the received media is shorter than the time that has passed, by more than what is buffered or by more than
    /// ``mostAbsorbed``.
    private func isBehindOnTheWay(_ conditions: Conditions) -> Bool {
        let missing = self.entries.reduce(Int64(0)) { $0 &+ $1.reading.pictureSpan &- $1.reading.pictureTime }
        return missing > min(Self.mostAbsorbed, max(0, conditions.buffered ?? self.rules.jitterBuffer))
    }

    /// Formats thousandths as a number with one decimal place.
    private static func decimal(_ thousandths: Int64) -> String {
        "\(thousandths / 1_000).\(thousandths % 1_000 / 100)"
    }

    private static func level(below value: Int64, _ bounds: [Int64]) -> Level {
        for (index, bound) in bounds.enumerated().reversed() where value < bound {
            return Level(rawValue: index + 1) ?? .alert3
        }
        return .normal
    }

    /// The level of a value, by the lower limits of the three alert levels.
    private static func level(_ value: Int64, _ bounds: [Int64]) -> Level {
        for (index, bound) in bounds.enumerated().reversed() where value >= bound {
            return Level(rawValue: index + 1) ?? .alert3
        }
        return .normal
    }
}
