import Logging
import MediaTypes
import PipelineSpec
import Threading

/// The parts of a room that decide whether it is idle.
protocol IdleHost {
    var pipeline: Pipeline { get }
    var value: RoomValue { get }
    var machine: any SleepClock { get }
    var saved: CommandRecorder { get }
    var logger: Logger { get }
    func end(reason: String, code: ErrorCode?)
}

extension IdleHost {
    /// Ends the room if it has had no publisher for as long as its pipeline allows. Background sources do not count: music
    /// that plays without end would keep an empty room. Called on the life thread.
    func watchIdle(_ idle: inout RoomIdle) {
        let (shared, sources) = self.value.withLock { ($0.api.documents.shared, $0.scenes.life.sources) }
        let isAnybodyThere = sources.contains { id, source in
            source.hasPublisher && source.state != .ended && shared.pipeline.source(id)?.background != true
        }
        let rules = RoomIdle.Rules(shared.pipeline.idle)
        let before = idle.since
        let end = idle.noted(isAnybodyThere: isAnybodyThere, rules, now: self.machine.now())
        if idle.since != before { self.saved.recordIdle(since: idle.since) }
        guard let end else { return }
        let reason =
            switch end {
            case .nobodyCame(let time): "no publisher came within \(time / TimeMath.nanoseconds) s"
            case .everybodyLeft(let time): "no publisher has been connected for \(time / TimeMath.nanoseconds) s"
            }
        self.logger.info("the room is idle and ends", metadata: ["reason": "\(reason)"])
        self.end(reason: reason, code: .idleTimeout)
    }
}
