import Logging
import MediaTypes
import Threading

/// Behind the end of a room its viewers' listener stays open for a while; see ``ViewerLinger``.
extension Room {
    /// Between two looks at whether it is to be closed.
    private static let lingerLook = Duration.milliseconds(50)

    /// Serves viewers on for as long as the room lingers, then closes what is still open. After ``run()``, once everything is told.
    package func linger(_ outcome: RoomOutcome) async {
        var hasEnded = false
        if case .ended = outcome { hasEnded = true }
        let output = self.pipeline.hls
        let facts = ViewerLinger.Facts(
            hasEnded: hasEnded && self.listeners.hasViewers, isOffline: self.isOffline,
            configuredSeconds: output?.http.lingerSeconds,
            windowSeconds: output?.playlistType == .event ? nil : output?.windowSeconds,
            sinceRequest: self.listeners.sinceViewersRequest)
        let now = self.machine.now()
        if let until = self.value.withLock({ $0.lingering.begin(facts, now: now) }) {
            self.listeners.leaveControl()
            self.logger.notice(
                "the room is over; its viewers are served on",
                metadata: ["seconds": "\((until &- now) / TimeMath.nanoseconds)"])
            while !Task.isCancelled, !self.value.withLock({ $0.lingering.isOver(at: self.machine.now()) }) {
                try? await Task.sleep(for: Self.lingerLook)
            }
        }
        await self.listeners.stopViewers()
        // Last: who follows the events there is told of the end.
        await self.listeners.stopControl()
    }

    /// A second interrupt: ends the lingering of a room that is over.
    ///
    /// - Returns: `false` if the room is not over yet.
    package func endLingering() -> Bool { self.value.withLock { $0.lingering.endAsked() } }
}
