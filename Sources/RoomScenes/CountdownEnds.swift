package import PipelineSpec

/// Determines when countdowns end, in ticks. A value.
///
/// - A scene's countdown starts each time the scene goes on air. A command can set its end, which applies instead until
///   the scene goes on air after that end.
/// - A countdown of the PK (a timed battle of streamers) ends with the current phase of the PK in every scene that
///   shows it, so that it agrees with `remainingMs` of the API. Commands cannot set it.
package struct CountdownEnds: Sendable, Equatable {
    /// The ends that commands have set, in ticks, by countdown id.
    package private(set) var told: [String: Int64] = [:]

    /// Makes a value without ends set by commands.
    package init() {}

    /// Records that a command has set the end of a scene's countdown to a tick.
    package mutating func tell(_ id: String, _ tick: Int64) { self.told[id] = tick }

    /// The ends of the countdowns that start when a scene goes on air at a tick, by countdown id.
    ///
    /// - Parameter fps: Ticks per second, 1…60.
    package static func beginning(_ countdowns: [Countdown], at tick: Int64, fps: Int) -> [String: Int64] {
        var ends: [String: Int64] = [:]
        for countdown in countdowns where countdown.clock == .scene {
            ends[countdown.countdownID] = tick + Int64(countdown.seconds) * Int64(fps)
        }
        return ends
    }

    /// The end of each countdown of a scene, in ticks. A countdown whose end is in the past shows `00:00`.
    ///
    /// - Parameters:
    ///   - began: The ends determined when the scene went on air; an end after `tick` that a command has set takes
    ///     precedence.
    ///   - tick: The tick at which the scene went on air.
    ///   - phaseEnd: The tick at which the current phase of the PK ends; nil if no phase is running, or if it has no
    ///     end.
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
