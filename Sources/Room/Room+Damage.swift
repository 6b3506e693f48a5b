package import MediaTypes
import Packager
package import PipelineSpec

extension Room {
    /// What this worker's outputs lack for good.
    package var damage: OutputDamage {
        var damage = self.value.withLock(\.output.damage)
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
        self.value.withLock { $0.output.damage.lost(count, of: outputID, because: error) }
    }

    /// How the room is judged when it is over; see ``RoomVerdict``.
    package func verdict(_ outcome: RoomOutcome) -> RoomVerdict {
        let (segments, debt) = self.value.withLock { ($0.output.segments, $0.lifecycle.debt) }
        return RoomVerdict(
            outcome, isOffline: self.isOffline, damage: self.damage, debt: debt, published: segments)
    }

    /// Why an offline job that has ended before was a failure: a worker that is started for it again must not call it a success. `nil`
    /// for a job that is whole, and for a live room, which is over either way.
    package static func errorOfEndedJob(_ pipeline: Pipeline) -> MediaError? {
        guard pipeline.clock == .offline, let output = pipeline.hls,
            let settings = try? self.hlsSettings(output, pipeline), let ended = try? EndedOutput.open(settings),
            ended.lostSegments > 0
        else { return nil }
        return MediaError(
            .outputLost, "the job that has ended in \(output.path) has lost \(ended.lostSegments) segments", at: "hls",
            fix: "run it again with --new-session")
    }
}
