import MediaTypes

extension Room {
    /// Ends the room if it has had no publisher for as long as its pipeline allows. Called on the life thread.
    func watchIdle(_ idle: inout RoomIdle) {
        let isAnybodyThere = self.value.withLock { value in
            value.scenes.life.sources.values.contains { $0.hasPublisher && $0.state != .ended }
        }
        let rules = RoomIdle.Rules(self.pipeline.idle)
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
