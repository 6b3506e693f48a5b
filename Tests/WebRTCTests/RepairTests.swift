import Testing
import WebRTC

@Suite("Repair of lost packets at 60 ms round-trip time, with reordering and duplicates")
struct RepairTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4, 5]

    private static func run(
        _ seed: UInt64, _ resending: SimulatedSender.Resending, media: Double, feedback: Double = 0
    ) -> SimulatedNetwork.Result {
        SimulatedNetwork.run(
            seed: seed, seconds: 60, resending: resending,
            conditions: SimulatedNetwork.Conditions(mediaLoss: media, feedbackLoss: feedback))
    }

    @Test("measure", arguments: seeds)
    func measure(seed: UInt64) {
        for resending in [SimulatedSender.Resending.rtx, .plain] {
            for (media, feedback) in [(0.0, 0.0), (0.02, 0.0), (0.05, 0), (0.1, 0), (0.05, 0.05), (0.1, 0.1)] {
                let r = Self.run(seed, resending, media: media, feedback: feedback)
                let t = r.statistics.tracks[1]
                print("SIM", seed, resending, media, feedback, "frames", r.frames, "lost", r.lost, "undec", r.undecodable, "wrong", r.wrong, "plis", t.keyFrameRequests, "keys", r.keyFrames, "netlost", t.networkLost, "ord", t.ordering.recovered, t.ordering.lost, t.ordering.duplicates, t.ordering.late, t.ordering.requested, "acked", r.requestsForAcknowledged, "rtt", (r.statistics.roundTrip ?? 0) / 1000, "lat", r.worstLatency / 1_000_000, "audio", r.audioPackets, t.jitter / 1000, t.bitRate)
            }
        }
    }
}
