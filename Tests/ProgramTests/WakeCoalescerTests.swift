import MediaKernels
import MediaTypes
import Program
import Testing

@Suite("When a source's thread is woken for packets")
struct WakeCoalescerTests {
    private static let millisecond: Int64 = 1_000_000

    private func packet(at milliseconds: Int64) -> SourceItem {
        .packet(
            CodedPacket(
                kind: .audio, memory: PacketMemory([1]), pts: 0, dts: 0, timescale: 1000, isKey: false,
                arrival: milliseconds * Self.millisecond))
    }

    /// Whether each of `calls` wakes the thread.
    private func answers(
        _ coalescer: inout WakeCoalescer, _ calls: [[SourceItem]], isHidden: Bool = true, isAway: Bool = false
    ) -> [Bool] {
        calls.map { coalescer.wakes(for: $0, isHidden: isHidden, isAway: isAway) }
    }

    @Test(
        "with a jitter buffer of 200 ms, a visible source wakes its decoder's thread for every packet, a hidden one every 60 ms"
    )
    func hidden() {
        var coalescer = WakeCoalescer(jitterBuffer: 200 * Self.millisecond)
        let seen = stride(from: Int64(1), to: 1_000, by: 20).map { [self.packet(at: $0)] }
        let atOnce = self.answers(&coalescer, seen, isHidden: false)
        #expect(atOnce.allSatisfy { $0 })
        let hidden = stride(from: Int64(1_001), to: 2_000, by: 20).filter {
            coalescer.wakes(for: [self.packet(at: $0)], isHidden: true, isAway: false)
        }
        #expect(hidden.count > 10 && zip(hidden, hidden.dropFirst()).allSatisfy { $1 - $0 == 60 }, "\(hidden)")
        let back = self.answers(&coalescer, [[self.packet(at: 2_001)]], isHidden: false)
        #expect(back == [true])
    }

    @Test("format changes and ends wake a hidden source's thread at once; without a jitter buffer every packet does")
    func news() {
        var coalescer = WakeCoalescer(jitterBuffer: 200 * Self.millisecond)
        let format = SourceItem.configuration(CodecParameters(codec: .mp3, configuration: []))
        let told = self.answers(
            &coalescer,
            [
                [self.packet(at: 1)], [self.packet(at: 2)], [format, self.packet(at: 3)], [self.packet(at: 4), format],
                [.end],
                // A clock that went back cannot be relied on.
                [self.packet(at: 1)],
            ])
        #expect(told == [true, false, true, true, true, true])
        var impatient = WakeCoalescer(jitterBuffer: 0)
        let each = self.answers(&impatient, (1...5).map { [self.packet(at: $0)] })
        #expect(each == [true, true, true, true, true])
    }

    @Test(
        "a hidden but audible source's thread is woken in time for the mixer, at jitter buffers from 80 to 400 ms",
        arguments: [80, 100, 110, 125, 150, 187, 200, 400] as [Int64], [21, 33, 40] as [Int64])
    func inTime(jitterBuffer: Int64, distance: Int64) {
        // The program takes it 39 ms before it is due, and the socket delays it by a fifth of the buffer and one turn
        // of its timer.
        let spare = jitterBuffer - jitterBuffer / 5 - 19 - 39
        for behind in 1..<distance {
            // Two packets at a time, with this distance.
            var coalescer = WakeCoalescer(jitterBuffer: jitterBuffer * Self.millisecond)
            var waiting: Int64?
            var longest: Int64 = 0
            let offers = (1...60).flatMap { [$0 * distance, $0 * distance + behind] }
            for time in offers {
                waiting = waiting ?? time
                guard coalescer.wakes(for: [self.packet(at: time)], isHidden: true, isAway: false) else { continue }
                longest = max(longest, time - (waiting ?? time))
                waiting = nil
            }
            #expect(longest <= spare, "\(behind) ms behind: \(longest), not \(spare)")
        }
        // An offset that leaves 80 ms of it leaves no time to wait.
        var early = WakeCoalescer(
            jitterBuffer: jitterBuffer * Self.millisecond, offset: (80 - jitterBuffer) * Self.millisecond)
        let each = self.answers(&early, (1...5).map { [self.packet(at: $0)] })
        #expect(each == [true, true, true, true, true])
    }

    @Test(
        "with a long jitter buffer, a source neither seen nor heard wakes its thread only for format changes and ends")
    func away() {
        let format = SourceItem.configuration(CodecParameters(codec: .mp3, configuration: []))
        let packets = stride(from: Int64(1), to: 1_000, by: 20).map { [self.packet(at: $0)] }
        var coalescer = WakeCoalescer(jitterBuffer: 2 * WakeCoalescer.longestSleep)
        let untold = self.answers(&coalescer, packets, isAway: true)
        #expect(!untold.contains(true))
        let told = self.answers(&coalescer, [[self.packet(at: 1_001), format], [.end]], isAway: true)
        #expect(told == [true, true])
        let back = self.answers(&coalescer, [[self.packet(at: 2_000)]])
        #expect(back == [true], "only hidden, it learns of new packets")
        var short = WakeCoalescer(jitterBuffer: 2 * WakeCoalescer.longestSleep - Self.millisecond)
        let often = self.answers(&short, packets, isAway: true)
        #expect(often.count { $0 } > 10)
    }
}
