import Ingest
import Testing

@Suite("Estimated arrival times of messages that one socket read returned together")
struct ArrivalEstimateTests {
    private static let millisecond: Int64 = 1_000_000

    /// Reads `timestamps` at `now`, in milliseconds, and returns the estimated arrivals.
    private func read(_ timestamps: [UInt32], at now: Int64, _ estimate: inout ArrivalEstimate) -> [Int64] {
        let newest = timestamps.dropFirst().reduce(timestamps.first ?? 0, ArrivalEstimate.newer)
        let arrivals = timestamps.map {
            estimate.arrival(of: $0, newest: newest, read: now * Self.millisecond) / Self.millisecond
        }
        estimate.looked(at: now * Self.millisecond)
        return arrivals
    }

    @Test("in an even stream, messages get arrival times as far apart as their timestamps, up to the time of the read")
    func even() {
        var estimate = ArrivalEstimate(now: 0)
        #expect(self.read([0, 23, 40, 46, 69, 80], at: 1_000, &estimate) == [920, 943, 960, 966, 989, 1_000])
        #expect(self.read([92, 115, 120, 138, 160], at: 1_080, &estimate) == [1_012, 1_035, 1_040, 1_058, 1_080])
    }

    @Test("messages of a backlog get no arrival times before the socket was last found empty")
    func backlog() {
        var estimate = ArrivalEstimate(now: 0)
        _ = self.read([0], at: 100, &estimate)
        estimate.looked(at: 3_000 * Self.millisecond)
        // Three seconds of media in one turn.
        let arrivals = self.read([33, 1_000, 2_000, 3_000, 3_010], at: 3_019, &estimate)
        #expect(arrivals == [3_000, 3_000, 3_000, 3_009, 3_019])
    }

    @Test("interleaved audio and video with offset timestamps get arrival times that never go back")
    func tracks() {
        var estimate = ArrivalEstimate(now: 0)
        // Audio a tenth of a second behind the video that it is sent with.
        #expect(self.read([100, 0, 133, 33, 166, 66], at: 500, &estimate) == [434, 434, 467, 467, 500, 500])
    }

    @Test("timestamp jumps, resets and the wrap after 49 days do not make arrival times jump")
    func jumps() {
        var estimate = ArrivalEstimate(now: 0)
        #expect(self.read([500, 533, 0, 33], at: 1_000, &estimate) == [967, 1_000, 1_000, 1_000])
        #expect(self.read([66, 10_000, 10_033], at: 1_100, &estimate) == [1_000, 1_067, 1_100])
        #expect(self.read([UInt32.max - 9, 10, 23], at: 1_200, &estimate) == [1_167, 1_187, 1_200])
    }

    @Test(
        "for random timestamps, arrival times never go back and lie between the last check of the socket and the read")
    func bounds() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var estimate = ArrivalEstimate(now: 0)
            var (before, now): (Int64, Int64) = (0, 0)
            for _ in 0..<20 {
                now += Int64.random(in: 0...400, using: &random)
                let timestamps = (0..<Int.random(in: 1...9, using: &random)).map { _ in
                    UInt32.random(in: 0 ... .max, using: &random)
                }
                let arrivals = self.read(timestamps, at: now, &estimate)
                #expect(arrivals == arrivals.sorted())
                #expect(arrivals.allSatisfy { (before...now).contains($0) })
                before = now
            }
        }
    }
}
