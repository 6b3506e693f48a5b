import Testing
import WebRTC

@Suite("Repair of lost packets at 60 ms round-trip time, with reordering and duplicates")
struct RepairTests {
    /// Five networks that differ in which packets are lost.
    private static let seeds: [UInt64] = [1, 2, 3, 4, 5]

    /// - Parameters:
    ///   - lost: Bound for incomplete frames of the 1,800.
    private static func check(
        _ seed: UInt64, _ conditions: SimulatedNetwork.Conditions, lost: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for resending in [SimulatedSender.Resending.rtx, .plain] {
            let result = SimulatedNetwork.run(seed: seed, seconds: 60, resending: resending, conditions: conditions)
            let track = result.statistics.tracks[1]
            let name: Comment = "\(resending), seed \(seed)"
            #expect(result.lost <= lost, name, sourceLocation: sourceLocation)
            #expect(result.wrong == 0, name, sourceLocation: sourceLocation)
            // Frames before the first key frame, whose beginning may have been lost, were never shown.
            let unseen = 1_800 - result.frames
            #expect(result.frames > 1_780, name, sourceLocation: sourceLocation)
            #expect(
                Int(track.keyFrameRequests) <= result.lost + result.undecodable + unseen, name,
                sourceLocation: sourceLocation)
            #expect(result.worstLatency <= ms(290), name, sourceLocation: sourceLocation)
            // Acknowledged packets are not requested: what arrived is known to have arrived.
            #expect(result.requestsForAcknowledged == 0, name, sourceLocation: sourceLocation)
            if conditions.mediaLoss > 0 {
                let share = Double(track.networkLost) / (60 * 30 * 8)
                #expect(abs(share - conditions.mediaLoss) < 0.01, name, sourceLocation: sourceLocation)
                #expect(track.ordering.recovered > 100, name, sourceLocation: sourceLocation)
            }
            let roundTrip = result.statistics.roundTrip ?? 0
            #expect((ms(58)...ms(70)).contains(roundTrip), name, sourceLocation: sourceLocation)
        }
    }

    @Test("without loss, reordering and duplicates cost no frame and no request", arguments: seeds)
    func reordering(seed: UInt64) {
        for resending in [SimulatedSender.Resending.rtx, .plain] {
            let result = SimulatedNetwork.run(seed: seed, seconds: 20, resending: resending, conditions: .init())
            let track = result.statistics.tracks[1]
            #expect(result.lost == 0 && result.undecodable == 0 && result.wrong == 0)
            #expect(result.frames == 600)
            #expect(track.networkLost == 0)
            #expect(track.ordering.requested == 0 && track.nacks == 0 && track.keyFrameRequests == 0)
            #expect(track.ordering.duplicates > 50)
            #expect(result.audioPackets == 1_000)
            #expect(result.worstLatency <= ms(10))
        }
    }

    @Test("at 2 % loss no frame is lost", arguments: seeds)
    func two(seed: UInt64) { Self.check(seed, .init(mediaLoss: 0.02), lost: 0) }

    @Test("at 5 % loss at most one frame in 60 s is lost", arguments: seeds)
    func five(seed: UInt64) { Self.check(seed, .init(mediaLoss: 0.05), lost: 1) }

    @Test("at 10 % loss at most 0.5 % of the frames are lost", arguments: seeds)
    func ten(seed: UInt64) { Self.check(seed, .init(mediaLoss: 0.1), lost: 9) }

    @Test("at 5 % loss in both directions at most 0.1 % of the frames are lost", arguments: seeds)
    func fiveBoth(seed: UInt64) { Self.check(seed, .init(mediaLoss: 0.05, feedbackLoss: 0.05), lost: 1) }

    @Test("at 10 % loss in both directions at most 1 % of the frames are lost", arguments: seeds)
    func tenBoth(seed: UInt64) { Self.check(seed, .init(mediaLoss: 0.1, feedbackLoss: 0.1), lost: 18) }

    @Test("bursts of 30 packets and outages of 200 ms are repaired, and cost little memory", arguments: seeds)
    func bursts(seed: UInt64) {
        let conditions = SimulatedNetwork.Conditions(
            bursts: (1...5).map { ($0 * 2_000, 30) }, outages: (1...5).map { $0 * 2_000 + 1_000..<$0 * 2_000 + 1_200 })
        for resending in [SimulatedSender.Resending.rtx, .plain] {
            let result = SimulatedNetwork.run(seed: seed, seconds: 15, resending: resending, conditions: conditions)
            #expect(result.lost == 0 && result.wrong == 0 && result.undecodable == 0, "\(resending), seed \(seed)")
            #expect(result.statistics.tracks[1].ordering.recovered > 200)
            #expect((4_000...20_000).contains(result.mostWaitingBytes), "\(result.mostWaitingBytes)")
        }
    }

    @Test("a sender that does not resend loses frames, and each loss leads to few key frame requests", arguments: seeds)
    func withoutResending(seed: UInt64) {
        let result = SimulatedNetwork.run(
            seed: seed, seconds: 20, resending: .none, conditions: .init(mediaLoss: 0.02))
        #expect(result.lost > 30, "the simulation loses nothing")
        #expect(result.wrong == 0)
        #expect(Int(result.statistics.tracks[1].keyFrameRequests) <= result.lost + result.undecodable)
        #expect(result.keyFrames > 10)
    }

    @Test("a sender that ignores key frame requests is asked less and less", arguments: seeds)
    func ignoredRequests(seed: UInt64) {
        let result = SimulatedNetwork.run(
            seed: seed, seconds: 60, resending: .none, conditions: .init(mediaLoss: 0.02)
        ) { $0.answersKeyFrameRequests = false }
        #expect(result.lost > 100)
        #expect(result.statistics.tracks[1].keyFrameRequests <= 30)
        #expect(!result.statistics.tracks[1].answersKeyFrameRequests)
    }
}
