import MediaTypes

/// How well a source comes in: one of four levels, with its causes. Pure; times are nanoseconds.
///
/// A level is that of the worst thing in the window. It rises at once, over several steps if need be, and falls when nothing
/// as bad has been seen for ``Rules/clearAfter``, over several steps as well.
package struct SourceHealth: Sendable {
    package enum Level: Int, Sendable, Comparable, CaseIterable {
        case normal, alert1, alert2, alert3

        package var name: String { self == .normal ? "normal" : "alert_\(self.rawValue)" }

        package static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    package enum Cause: String, Sendable, CaseIterable {
        case fps, gap, bitrate, skew, keyInterval, jitterBuffer, decodeErrors, workerLag, absent
    }

    package struct Rules: Sendable, Equatable {
        /// Pictures a second; `nil`: what the publication itself has reached.
        package var fps: Int?
        /// A still screen may send no pictures.
        package var variableFrameRate = false
        /// Bit/s; `nil`: any.
        package var bitrate: Int?
        package var jitterBuffer: Int64 = 200_000_000
        package var window: Int64 = 5_000_000_000
        package var clearAfter: Int64 = 10_000_000_000

        package init() {}
    }

    /// What is known besides what arrives.
    package struct Surroundings: Sendable {
        /// Lost or stalled: held, or a placeholder is on air.
        package var isAbsent = false
        /// Damaged packets since the beginning.
        package var damaged = 0
        /// How far the program is behind its clock.
        package var lag: Int64 = 0
        /// How long packets are kept before they are due.
        package var buffered: Int64?

        package init() {}

        /// Of a source in that state; `nil`: there is nothing yet to judge it by.
        package init?(_ state: SourceLife.State) {
            switch state {
            case .live: break
            case .stalled, .lost, .reconnecting: self.isAbsent = true
            // Nobody waits for it any longer: what was wrong with it is over in its time.
            case .gone: break
            case .idle, .connected, .publishing, .ended: return nil
            }
        }
    }

    /// What the window holds.
    package struct Figures: Sendable, Equatable {
        /// Thousandths of pictures a second.
        package var fps: Int64 = 0
        /// Bit/s of the pictures.
        package var bitrate: Int64 = 0
        package var gap: Int64 = 0
        /// How far sound and picture have moved against each other since the publication began, or since the last jump of
        /// its timestamps: then they are put together anew.
        package var skew: Int64 = 0
        /// Of one that may stand still, without those times.
        package var keyGap: Int64 = 0
        package var damaged = 0

        package init() {}
    }

    package struct Change: Sendable, Equatable {
        package var from: Level
        package var to: Level
        package var causes: [Cause]
    }

    private struct Entry: Sendable {
        var time: Int64
        var reading: ArrivalMeter.Reading
        var damaged: Int
    }

    private struct Verdict: Sendable {
        var time: Int64
        var level: Level
        var causes: [Cause]
    }

    /// Too short a time to judge by.
    private static let shortest: Int64 = 2_000_000_000

    /// What it is measured by; other rules hold from the next reading on.
    package var rules: Rules
    private var entries: [Entry] = []
    private var verdicts: [Verdict] = []
    private var damaged = 0
    /// Thousandths of pictures a second that the publication has reached.
    private var best: Int64 = 0
    /// When its first packets were looked at.
    private var began: Int64?
    /// The picture's delay less the sound's, in the first whole window of this numbering.
    private var baseline: Int64?
    package private(set) var level = Level.normal
    package private(set) var causes: [Cause] = []
    package private(set) var figures = Figures()

    package init(rules: Rules) { self.rules = rules }

    /// Another publication: what is normal for it is not known yet. Its level goes on from that of the one before.
    package mutating func begin() {
        self.entries = []
        self.best = 0
        self.began = nil
        self.baseline = nil
        self.figures = Figures()
    }

    /// - Parameter reading: `nil`: nothing has come.
    package mutating func read(
        _ reading: ArrivalMeter.Reading?, _ surroundings: Surroundings, now: Int64
    ) -> Change? {
        if let reading {
            if self.began == nil { self.began = now }
            if reading.isRenumbered { self.baseline = nil }
            self.entries.append(
                Entry(time: now, reading: reading, damaged: max(0, surroundings.damaged - self.damaged)))
        }
        self.damaged = surroundings.damaged
        self.entries.removeAll { now &- $0.time >= self.rules.window }
        let span = self.entries.reduce(0) { $0 + $1.reading.span }
        var found: [Cause: Level] = [:]
        if surroundings.isAbsent {
            found[.absent] = .alert3
        } else if span >= Self.shortest {
            self.measure(span, now)
            found = self.judge(surroundings)
        }
        found[.workerLag] = Self.level(surroundings.lag, [nil, 100_000_000, 400_000_000])
        let worst = found.values.max() ?? .normal
        let why = Cause.allCases.filter { found[$0] == worst && worst > .normal }
        self.verdicts.append(Verdict(time: now, level: worst, causes: why))
        self.verdicts.removeAll { now &- $0.time > self.rules.clearAfter }
        let held = self.verdicts.max { ($0.level, $0.time) < ($1.level, $1.time) }
        let before = self.level
        self.level = held?.level ?? .normal
        self.causes = held?.causes ?? []
        return self.level == before ? nil : Change(from: before, to: self.level, causes: self.causes)
    }

    private mutating func measure(_ span: Int64, _ now: Int64) {
        func sum(_ value: (ArrivalMeter.Reading) -> Int) -> Int64 {
            self.entries.reduce(0) { $0 + Int64(value($1.reading)) }
        }
        func largest(_ value: (ArrivalMeter.Reading) -> Int64) -> Int64 {
            self.entries.reduce(0) { max($0, value($1.reading)) }
        }
        var figures = Figures()
        let second = TimeMath.nanoseconds
        figures.fps = TimeMath.scale(sum(\.pictures) * 1_000, by: second, over: span)
        figures.bitrate = TimeMath.scale(sum(\.pictureBytes) * 8, by: second, over: span)
        let hasSound = sum(\.sounds) > 0
        figures.gap = self.rules.variableFrameRate && hasSound ? largest(\.soundGap) : largest(\.pictureGap)
        if sum(\.pictures) == 0, hasSound { figures.gap = largest(\.soundGap) }
        figures.keyGap = self.rules.variableFrameRate ? largest(\.movingKeyGap) : largest(\.keyGap)
        figures.damaged = self.entries.reduce(0) { $0 + $1.damaged }
        let numbered = self.entries[(self.entries.lastIndex { $0.reading.isRenumbered } ?? self.entries.startIndex)...]
        if let picture = numbered.compactMap(\.reading.pictureDelay).min(),
            let sound = numbered.compactMap(\.reading.soundDelay).min()
        {
            let difference = picture &- sound
            if let baseline = self.baseline {
                figures.skew = difference &- baseline
            } else if numbered.reduce(0, { $0 + $1.reading.span }) >= self.rules.window - second {
                self.baseline = difference
            }
        }
        // What comes at once when a publisher begins, or behind a gap, is no rate to be measured by.
        if let began = self.began, now &- began >= 2 * self.rules.window, figures.gap < 200_000_000 {
            self.best = max(self.best, figures.fps)
        }
        self.figures = figures
    }

    private func judge(_ surroundings: Surroundings) -> [Cause: Level] {
        var found: [Cause: Level] = [:]
        let figures = self.figures
        let expected = self.rules.fps.map { Int64($0) * 1_000 } ?? self.best
        if !self.rules.variableFrameRate, expected > 0 {
            let percent = figures.fps * 100 / expected
            found[.fps] = percent >= 90 ? .normal : percent >= 75 ? .alert1 : percent >= 50 ? .alert2 : .alert3
        }
        // A slow stream's own distance between pictures is no gap.
        let usual = expected > 0 ? TimeMath.scale(2_500, by: TimeMath.nanoseconds, over: expected) : 0
        let gap = figures.gap - (usual > 200_000_000 ? usual - 200_000_000 : 0)
        found[.gap] = Self.level(gap, [200_000_000, 500_000_000, 1_000_000_000])
        if let bitrate = self.rules.bitrate, !self.rules.variableFrameRate, figures.bitrate * 100 < Int64(bitrate) * 60
        {
            found[.bitrate] = .alert1
        }
        found[.skew] = Self.level(Int64(clamping: figures.skew.magnitude), [80_000_000, 150_000_000, 300_000_000])
        if figures.keyGap > 4_000_000_000 { found[.keyInterval] = .alert1 }
        if let buffered = surroundings.buffered, buffered > 2 * self.rules.jitterBuffer {
            found[.jitterBuffer] = .alert1
        }
        if figures.damaged > 0 {
            found[.decodeErrors] =
                Int64(figures.damaged) * TimeMath.nanoseconds >= self.rules.window ? .alert2 : .alert1
        }
        return found
    }

    /// The level of a value by the bounds of the three alerts; `nil`: there is none.
    private static func level(_ value: Int64, _ bounds: [Int64?]) -> Level {
        for (index, bound) in bounds.enumerated().reversed() {
            if let bound, value >= bound { return Level(rawValue: index + 1) ?? .alert3 }
        }
        return .normal
    }
}
