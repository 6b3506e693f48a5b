package import Control
package import PipelineSpec
package import Threading

/// The room, as the services of its API need it.
package protocol APIHost: AnyObject, Sendable {
    /// What the room runs by now.
    var pipeline: Pipeline { get }
    var clocks: Clocks { get }
    var events: RoomEvents { get }
    /// Whether the program runs.
    var isLive: Bool { get }

    /// Calls `body` with the API's part of the room's value, which is locked meanwhile.
    func withAPI<Result: Sendable, Failure: Error>(
        _ body: (inout APIState) throws(Failure) -> Result
    ) throws(Failure) -> Result

    /// - Throws: ``ControlFailure`` if the room is over.
    func checkOpen() throws(ControlFailure)

    /// The tick of a program date-time; nil for none.
    ///
    /// - Throws: ``ControlFailure`` for a text that is no date-time, and for one that is over or too far ahead.
    func tick(at text: String?) throws(ControlFailure) -> Int64?

    /// When a tick is; empty before the program has begun, and for a tick that is not known yet.
    func effect(at tick: Int64?) -> EffectTime
}

extension APIHost {
    /// How long computed latencies are good for: to compute them sorts some ten thousand.
    private var latencyAge: Int64 { 2_000_000_000 }

    /// Latencies computed at most two seconds ago.
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
    static let programHasNotBegun = Self.conflict("the program has not begun", fix: "wait for program.started")
}
