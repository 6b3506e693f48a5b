import TestSupport
import Testing
import WebRTC

@Suite("Repair of lost packets at 60 ms round-trip time, with reordering and duplicates")
struct RepairTests {
    /// Networks that differ in which packets are lost.
    private static let seeds: [UInt64] = [1, 2, 3, 4, 5]
    /// The networks of tests whose limits are close to what one lost packet costs; the full run has more of them.
    private static let manySeeds: [UInt64] = Proof.isFull ? Array(1...10) : seeds

    /// - Parameters:
    ///   - notShown: Bound for frames that are incomplete, or dropped up to the next key frame, of the 1,800.
    private static func check(
        _ seed: UInt64, _ conditions: SimulatedNetwork.Conditions, notShown: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        // Both for each network would take twice the time.
        let resending = seed.isMultiple(of: 3) ? SimulatedSender.Resending.plain : .rtx
        let result = SimulatedNetwork.run(seed: seed, seconds: 60, resending: resending, conditions: conditions)
        let track = result.statistics.tracks[1]
        let name: Comment = "\(resending), seed \(seed)"
        #expect(result.notShown <= notShown, name, sourceLocation: sourceLocation)
        #expect(result.wrong == 0, name, sourceLocation: sourceLocation)
        // Frames before the first key frame, whose beginning may have been lost, were never shown.
        let unseen = 1_800 - result.frames
        #expect(result.frames > 1_780, name, sourceLocation: sourceLocation)
        #expect(Int(track.keyFrameRequests) <= result.notShown + unseen, name, sourceLocation: sourceLocation)
        // The fifth request, its answer, and what its copy needs. A limit of four requests (290 ms) misses the 0.5 %.
        #expect(result.worstLatency <= ms(380), name, sourceLocation: sourceLocation)
        // Acknowledged packets are not requested: what arrived is known to have arrived.
        #expect(result.requestsForAcknowledged == 0, name, sourceLocation: sourceLocation)
        let share = Double(track.networkLost) / (60 * 30 * 8)
        #expect(abs(share - conditions.mediaLoss) < 0.01, name, sourceLocation: sourceLocation)
        #expect(track.ordering.recovered > 100, name, sourceLocation: sourceLocation)
        let roundTrip = result.statistics.roundTrip ?? 0
        #expect((ms(58)...ms(70)).contains(roundTrip), name, sourceLocation: sourceLocation)
    }

    @Test("without loss, reordering and duplicates cost no frame and cause no request", arguments: seeds)
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

    @Test(
        "with retransmission, at 2 % packet loss every frame from the first key frame on is shown", arguments: manySeeds
    )
    func two(seed: UInt64) { Self.check(seed, .init(mediaLoss: 0.02), notShown: 0) }

    @Test("with retransmission, at 5 % packet loss at most one frame in 60 s is not shown", arguments: manySeeds)
    func five(seed: UInt64) { Self.check(seed, .init(mediaLoss: 0.05), notShown: 1) }

    @Test("with retransmission, at 10 % packet loss at most 0.5 % of the frames are not shown", arguments: manySeeds)
    func ten(seed: UInt64) { Self.check(seed, .init(mediaLoss: 0.1), notShown: 9) }

    @Test(
        "with retransmission, at 5 % packet loss in both directions at most 0.1 % of the frames are not shown",
        arguments: manySeeds)
    func fiveBoth(seed: UInt64) { Self.check(seed, .init(mediaLoss: 0.05, feedbackLoss: 0.05), notShown: 1) }

    @Test(
        "with retransmission, at 10 % packet loss in both directions at most 1 % of the frames are not shown",
        arguments: manySeeds)
    func tenBoth(seed: UInt64) { Self.check(seed, .init(mediaLoss: 0.1, feedbackLoss: 0.1), notShown: 18) }

    @Test(
        "at 50 % loss in both directions a lost packet costs at most 8 requests and 64 bytes of NACKs on average",
        arguments: seeds)
    func heavyLoss(seed: UInt64) {
        let result = SimulatedNetwork.run(
            seed: seed, seconds: 10, resending: .rtx, conditions: .init(mediaLoss: 0.5, feedbackLoss: 0.5))
        let track = result.statistics.tracks[1]
        #expect(track.networkLost > 1_000)
        let lost = UInt64(track.networkLost)
        #expect(track.ordering.requested <= 8 * lost, "five requests and three copies")
        // A head, and at most four bytes for each number.
        #expect(12 * track.nacks + 4 * track.ordering.requested <= 64 * lost)
    }

    @Test(
        "lost bursts of 30 packets and outages of 200 ms are repaired, with at most 20 kB of waiting packets",
        arguments: seeds)
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

    @Test(
        "a sender that does not resend gets at most one key frame request per frame that is lost or not decodable",
        arguments: seeds)
    func withoutResending(seed: UInt64) {
        let result = SimulatedNetwork.run(
            seed: seed, seconds: 20, resending: .none, conditions: .init(mediaLoss: 0.02))
        #expect(result.lost > 30, "the simulation loses nothing")
        #expect(result.wrong == 0)
        #expect(Int(result.statistics.tracks[1].keyFrameRequests) <= result.lost + result.undecodable)
        #expect(result.keyFrames > 10)
    }

    @Test("a sender that ignores key frame requests gets at most 30 in 60 s", arguments: seeds)
    func ignoredRequests(seed: UInt64) {
        let result = SimulatedNetwork.run(
            seed: seed, seconds: 60, resending: .none, conditions: .init(mediaLoss: 0.02)
        ) { $0.answersKeyFrameRequests = false }
        #expect(result.lost > 100)
        #expect(result.statistics.tracks[1].keyFrameRequests <= 30)
        #expect(!result.statistics.tracks[1].answersKeyFrameRequests)
    }
}
