/// The phases of a PK, a timed battle of streamers. A value that receives commands and the time, and returns changes of
/// the phase.
///
/// Phases: idle → countdown → pk → punish → idle; countdown and punish may be skipped (``Durations``). A phase lasts
/// for its duration, or until a command if it has none. The next phase begins at the time when the previous one ends,
/// not when ``poll(now:)`` is called, so that late calls do not add up. ``end(_:now:)`` leads from any phase to idle. A
/// command that does not fit the current phase is refused.
///
/// Times are monotonic, in nanoseconds.
package struct PKStateMachine: Sendable, Equatable {
    package enum Phase: String, Sendable, CaseIterable { case idle, countdown, pk, punish }

    /// Why a PK ended.
    package enum EndReason: Sendable, Equatable {
        case timer
        case command
        /// A source in the PK's scene did not come back within its grace period. The value identifies the source.
        case sourceGone(String)
    }

    /// Durations of the phases in nanoseconds. 0 skips the countdown, and the punishment after the time of phase `pk`;
    /// with 0, the phase `pk` lasts until a command.
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

    /// A change to another phase.
    package struct Change: Sendable, Equatable {
        package var from: Phase
        package var to: Phase
        /// When the new phase begins.
        package var at: Int64
        /// When the new phase ends; nil if only a command ends it, and for idle.
        package var endsAt: Int64?
        /// Why the PK has ended; nil if it has not.
        package var reason: EndReason?

        /// Makes a change from the values of its members.
        package init(from: Phase, to: Phase, at: Int64, endsAt: Int64?, reason: EndReason? = nil) {
            (self.from, self.to, self.at, self.endsAt, self.reason) = (from, to, at, endsAt, reason)
        }
    }

    /// Why a command is refused, because it does not fit the current phase.
    package struct Refusal: Error, Equatable {
        package var what: String
        package var fix: String
    }

    /// The current phase.
    package private(set) var phase = Phase.idle
    /// When the current phase began.
    package private(set) var since: Int64 = 0
    /// When the current phase ends; nil if only a command ends it, and in idle.
    package private(set) var endsAt: Int64?
    /// Durations of the current PK, or of the last one.
    package private(set) var durations: Durations

    /// Makes a PK in phase idle.
    package init(durations: Durations) { self.durations = durations }

    /// Whether the current phase is not idle.
    package var isRunning: Bool { self.phase != .idle }

    /// Starts a PK with its countdown, or with phase `pk` if the countdown is 0.
    package mutating func start(_ durations: Durations, now: Int64) throws(Refusal) -> [Change] {
        guard self.phase == .idle else {
            throw Refusal(
                what: "a PK is running already, in phase \(self.phase.rawValue)", fix: "end the running PK first")
        }
        self.durations = durations
        if durations.countdown > 0 { return [self.enter(.countdown, at: now, lasting: durations.countdown)] }
        return [self.enter(.pk, at: now, lasting: durations.pk)] + self.poll(now: now)
    }

    /// Starts the punishment before the time of phase `pk` is over.
    ///
    /// - Parameter duration: Duration in nanoseconds; nil for that of ``durations``; 0 if only a command ends the
    ///   punishment.
    package mutating func punish(lasting duration: Int64?, now: Int64) throws(Refusal) -> [Change] {
        guard self.phase == .pk else {
            throw Refusal(
                what: "the phase is \(self.phase.rawValue), not pk",
                fix: self.phase == .punish
                    ? "wait until the punishment ends, or end the PK"
                    : self.phase == .countdown
                        ? "wait until the countdown ends" : "start a PK and wait until its countdown ends")
        }
        return [self.enter(.punish, at: now, lasting: duration ?? self.durations.punish)]
    }

    /// Ends the PK. Does nothing if no PK is running.
    package mutating func end(_ reason: EndReason, now: Int64) -> [Change] {
        guard self.isRunning else { return [] }
        return [self.enter(.idle, at: now, lasting: 0, reason)]
    }

    /// Continues a phase that began under an earlier worker. If its end has passed, then the next ``poll(now:)`` ends
    /// it.
    package mutating func resume(_ phase: Phase, since: Int64, endsAt: Int64?, durations: Durations) {
        (self.phase, self.since, self.endsAt, self.durations) = (phase, since, endsAt, durations)
    }

    /// Ends phases whose time is over, and starts the phases that follow.
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
