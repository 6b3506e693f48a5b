import MediaTypes

extension Room {
    /// What this worker's outputs lack for good.
    package var damage: OutputDamage {
        var damage = self.mutable.withLock(\.damage)
        for output in self.transports {
            let loss = output.loss
            guard loss.segments > 0 else { continue }
            let unknown = MediaError(
                .outputLost, "segments were not written", at: "outputs[\(output.outputID)]",
                fix: "restore the directory")
            damage.lost(loss.segments, of: output.outputID, because: loss.failure ?? unknown)
        }
        return damage
    }

    /// An output lacks `count` more segments, or what the error says.
    func lost(_ count: Int64 = 0, of outputID: String, because error: MediaError) {
        self.mutable.withLock { $0.damage.lost(count, of: outputID, because: error) }
    }

    /// How the room is judged when it is over; see ``RoomVerdict``.
    package func verdict(_ outcome: RoomOutcome) -> RoomVerdict {
        let (segments, debt) = self.mutable.withLock { ($0.segments, $0.debt) }
        return RoomVerdict(
            outcome, isOffline: self.isOffline, damage: self.damage, debt: debt, published: segments)
    }
}
