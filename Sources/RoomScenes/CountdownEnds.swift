package import PipelineSpec

/// When countdowns end, in ticks; a value.
///
/// - A scene's countdown begins each time the scene goes on air. A command can set its end, which is used until the scene goes on
///   air after that end.
/// - A countdown of the PK ends when the running phase ends, in every scene that shows it, so that it agrees with `remainingMs` of the
///   API. Commands cannot set it.
package struct CountdownEnds: Sendable, Equatable {
    /// Ends that commands have set, in ticks, by countdown.
    package private(set) var told: [String: Int64] = [:]

    /// No command has set a countdown.
    package init() {}

    /// Sets the end of a scene's countdown, by command.
    package mutating func tell(_ id: String, _ tick: Int64) { self.told[id] = tick }

    /// The ends of the countdowns that begin with a scene which goes on air at a tick.
    ///
    /// - Parameter fps: Ticks per second, 1…60.
    package static func beginning(_ countdowns: [Countdown], at tick: Int64, fps: Int) -> [String: Int64] {
        var ends: [String: Int64] = [:]
        for countdown in countdowns where countdown.clock == .scene {
            ends[countdown.countdownID] = tick + Int64(countdown.seconds) * Int64(fps)
        }
        return ends
    }

    /// The ends of a scene's countdowns, in ticks; the past for one that shows `00:00`.
    ///
    /// - Parameters:
    ///   - began: The ends that began with the scene; without those that a command has set since.
    ///   - tick: When the scene went on air.
    ///   - phaseEnd: The tick at which the running phase of the PK ends; `nil`: none runs, or it has no end.
    package func ends(
        of countdowns: [Countdown], began: [String: Int64], at tick: Int64, phaseEnd: Int64?
    ) -> [String: Int64] {
        var ends: [String: Int64] = [:]
        for countdown in countdowns {
            let id = countdown.countdownID
            switch countdown.clock {
            case .pk: ends[id] = phaseEnd ?? 0
            case .scene:
                let told = self.told[id]
                ends[id] = told.map { $0 > tick } == true ? told : began[id] ?? told ?? 0
            }
        }
        return ends
    }
}
