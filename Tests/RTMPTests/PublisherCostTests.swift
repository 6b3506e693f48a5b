import MediaKernels
import MediaTypes
import RTMP
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("What publishers cost")
struct PublisherCostTests {
    /// Seconds that this thread has computed.
    private static func time() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// One second of a publisher of 6 Mbit/s: 30 pictures of 25 kB.
    private static func second(_ number: UInt32, _ script: inout ClientScript) -> [UInt8] {
        let picture = [0x27, 1, 0, 0, 0] + [UInt8](repeating: 0x41, count: 25_000)
        for index in 0..<30 { script.message(9, picture, timestamp: number * 1000 + UInt32(index) * 33) }
        return script.take()
    }

    @Test("ten of 6 Mbit/s in chunks of 128 bytes take a tenth of a core at most to be taken apart")
    func smallChunks() {
        var script = ClientScript()
        script.open()
        let opening = script.take()
        let seconds = (0..<4).map { Self.second($0, &script) }
        #expect(seconds.allSatisfy { $0.count > 750_000 + 750_000 / 128 }, "it is chunks of 128 bytes")
        var pictures = 0
        var spent = 0.0
        for _ in 0..<10 {
            var session = RTMPServerSession(now: 0, random: [UInt8](repeating: 7, count: 1528))
            for action in session.receive(opening.span, now: 0) {
                if case .publishRequested(let request) = action { _ = session.decide(.accept, on: request.id, now: 0) }
            }
            for bytes in seconds {
                // As a loop reads it.
                for start in stride(from: 0, to: bytes.count, by: 65_536) {
                    let span = bytes.span.extracting(start..<min(bytes.count, start + 65_536))
                    let began = Self.time()
                    let actions = session.receive(span, now: 0)
                    spent += Self.time() - began
                    pictures += actions.count { if case .message = $0 { true } else { false } }
                }
            }
        }
        #expect(pictures == 10 * 4 * 30)
        print("MEASURED: ten publishers of 6 Mbit/s in chunks of 128 bytes: \(spent / 4) cores (bar: 0.1)")
        #expect(spent / 4 <= 0.1)
    }
}
