/// The phases of a PK, as a value: it receives commands and the time and returns changes of phase.
///
/// Phases: idle → countdown → pk → punish → idle. A phase lasts for its duration, or until a command if it has none. A phase that
/// follows another begins when that ends, not when ``poll(now:)`` is called, so that late calls do not add up. ``end(_:now:)`` leads
/// from any phase to idle. A command that does not fit the phase is refused.
///
/// Times are nanoseconds of one clock, the same for all calls.
package struct PKStateMachine: Sendable, Equatable {
    package enum Phase: String, Sendable, CaseIterable { case idle, countdown, pk, punish }

    /// Why a PK ended.
    package enum EndReason: Sendable, Equatable {
        case timer
        case command
        /// A source of its scene has been given up.
        case sourceGone(String)
    }

    /// How long the phases last, in nanoseconds. 0 skips the countdown or the punishment; a PK of 0 lasts until a
    /// command.
    package struct Durations: Sendable, Equatable {
        package var countdown: Int64
        package var pk: Int64
        package var punish: Int64

        package init(countdown: Int64, pk: Int64, punish: Int64) {
            self.countdown = countdown
            self.pk = pk
            self.punish = punish
        }
    }

    /// A phase begins.
    package struct Change: Sendable, Equatable {
        package var from: Phase
        package var to: Phase
        /// When it begins, and when its time ends (`nil`: not before a command).
        package var at: Int64
        package var endsAt: Int64?
        /// Why the PK has ended, if it has.
        package var reason: EndReason?

        /// See the members.
        package init(from: Phase, to: Phase, at: Int64, endsAt: Int64?, reason: EndReason? = nil) {
            (self.from, self.to, self.at, self.endsAt, self.reason) = (from, to, at, endsAt, reason)
        }
    }

    /// Why a command does not fit the phase.
    package struct Refusal: Error, Equatable {
        package var what: String
        package var fix: String
    }

    /// The phase that runs.
    package private(set) var phase = Phase.idle
    /// When it began.
    package private(set) var since: Int64 = 0
    /// When the phase's time ends; `nil`: not before a command.
    package private(set) var endsAt: Int64?
    /// Durations of the PK that runs or was the last to run.
    package private(set) var durations: Durations

    /// An idle PK.
    package init(durations: Durations) { self.durations = durations }

    /// Whether the phase is not idle.
    package var isRunning: Bool { self.phase != .idle }

    /// Begins the countdown, or the PK if its countdown is 0.
    package mutating func start(_ durations: Durations, now: Int64) throws(Refusal) -> [Change] {
        guard self.phase == .idle else {
            throw Refusal(what: "a PK is running already, in phase \(self.phase.rawValue)", fix: "end it first")
        }
        self.durations = durations
        if durations.countdown > 0 { return [self.enter(.countdown, at: now, lasting: durations.countdown)] }
        return [self.enter(.pk, at: now, lasting: durations.pk)] + self.poll(now: now)
    }

    /// Begins the punishment before the PK's time is over.
    ///
    /// - Parameter duration: Nanoseconds; `nil`: as planned; 0: until a command.
    package mutating func punish(lasting duration: Int64?, now: Int64) throws(Refusal) -> [Change] {
        guard self.phase == .pk else {
            throw Refusal(
                what: "the phase is \(self.phase.rawValue), not pk",
                fix: self.phase == .punish ? "wait: the punishment runs" : "start a PK and wait for its countdown")
        }
        return [self.enter(.punish, at: now, lasting: duration ?? self.durations.punish)]
    }

    /// Ends the PK; does nothing if none runs.
    package mutating func end(_ reason: EndReason, now: Int64) -> [Change] {
        guard self.isRunning else { return [] }
        return [self.enter(.idle, at: now, lasting: 0, reason)]
    }

    /// Continues a phase that began under an earlier worker. If its end has passed, then it ends with the next ``poll(now:)``.
    package mutating func resume(_ phase: Phase, since: Int64, endsAt: Int64?, durations: Durations) {
        (self.phase, self.since, self.endsAt, self.durations) = (phase, since, endsAt, durations)
    }

    /// Ends phases whose ends have passed, and begins those that follow.
    package mutating func poll(now: Int64) -> [Change] {
        var changes: [Change] = []
        while let end = self.endsAt, now >= end {
            switch self.phase {
            case .idle: self.endsAt = nil
            case .countdown: changes.append(self.enter(.pk, at: end, lasting: self.durations.pk))
            case .pk where self.durations.punish > 0:
                changes.append(self.enter(.punish, at: end, lasting: self.durations.punish))
            case .pk, .punish: changes.append(self.enter(.idle, at: end, lasting: 0, .timer))
            }
        }
        return changes
    }

    private mutating func enter(
        _ phase: Phase, at time: Int64, lasting duration: Int64, _ reason: EndReason? = nil
    ) -> Change {
        defer { (self.phase, self.since) = (phase, time) }
        self.endsAt = duration > 0 ? time &+ duration : nil
        return Change(from: self.phase, to: phase, at: time, endsAt: self.endsAt, reason: reason)
    }
}
