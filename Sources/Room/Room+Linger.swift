import MediaTypes

/// Keeps the viewers' listener open for a while after the end of the room; see ``ViewerLinger``.
extension Room {
    /// Time between two checks whether the listener must be closed.
    private static let lingerLook = Duration.milliseconds(50)

    /// Keeps serving viewers for the linger time, then closes the remaining listeners. Called after ``run()``, when all
    /// events have been emitted.
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
                "the room has ended; viewers are still served",
                metadata: ["seconds": "\((until &- now) / TimeMath.nanoseconds)"])
            while !Task.isCancelled, !self.value.withLock({ $0.lingering.isOver(at: self.machine.now()) }) {
                try? await Task.sleep(for: Self.lingerLook)
            }
        }
        await self.listeners.stopViewers()
        // Closed last, so that clients that follow the events through this listener receive the final ones.
        await self.listeners.stopControl()
    }

    /// Ends the linger time of a room that has ended, after a second interrupt.
    ///
    /// - Returns: `false` if the room has not ended yet.
    package func endLingering() -> Bool { self.value.withLock { $0.lingering.endAsked() } }
}
