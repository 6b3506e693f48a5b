package import Control
package import PipelineSpec
package import Threading

/// The interface that the services of the API use to reach the room.
package protocol APIHost: AnyObject, Sendable {
    /// The document that the room runs now.
    var pipeline: Pipeline { get }
    var clocks: Clocks { get }
    var events: RoomEvents { get }
    /// Whether the program runs and the room is not ending.
    var isLive: Bool { get }

    /// Calls `body` with the API's part of the room's state, under the room's lock.
    func withAPI<Result: Sendable, Failure: Error>(
        _ body: (inout APIState) throws(Failure) -> Result
    ) throws(Failure) -> Result

    /// Checks that the room accepts commands.
    ///
    /// - Throws: ``ControlFailure`` if the room has ended or is ending, or if this worker hands it over.
    func checkOpen() throws(ControlFailure)

    /// Converts a program date-time to a tick; nil if `text` is nil.
    ///
    /// - Throws: ``ControlFailure`` if the text is not a date-time, if the program has not begun, or if the time is not
    ///   later than the current tick or is too far ahead.
    func tick(at text: String?) throws(ControlFailure) -> Int64?

    /// The time at which a tick takes effect. Empty before the program has begun, and if `tick` is nil.
    func effect(at tick: Int64?) -> EffectTime
}

extension APIHost {
    /// How long computed latencies are reused, in nanoseconds. Computing them sorts tens of thousands of values.
    private var latencyAge: Int64 { 2_000_000_000 }

    /// The latencies of the room. The lag of the program is that of `facts`; the percentiles were computed less than two
    /// seconds ago.
    package func latency(of facts: RoomFacts, _ latencies: RoomLatencies) -> LatencyReply {
        let now = self.clocks.machine.now()
        let kept = self.withAPI { state in
            state.latencies.flatMap { now &- $0.at < self.latencyAge ? $0.measured : nil }
        }
        let measured = kept ?? LatencyReply.Measured(latencies, facts.pipeline)
        if kept == nil { self.withAPI { $0.latencies = (now, measured) } }
        return LatencyReply(facts, measured)
    }
}

extension ControlFailure {
    /// The error of requests that need a running program, before it has begun.
    package static let programHasNotBegun = Self.conflict("the program has not begun", fix: "wait for program.started")
}
