import OpenSSLCrypto
import TestSupport
import Testing

@Suite("SRTP replay window: RFC 3711 §3.3.2")
struct ReplayWindowTests {
    @Test(
        "a replay window of 1,024 accepts each index once and no older one, like a set of all indices",
        arguments: 0..<20)
    func asSet(seed: UInt64) {
        var random = TestRandom(seed: seed)
        let first = UInt64.random(in: 0...1 << 40, using: &random)
        var window = ReplayWindow(first: first)
        var (seen, highest): (Set<UInt64>, UInt64) = ([first], first)
        let steps: [ClosedRange<Int64>] = [-3...3, -1_100...100, 0...70, -1_030...(-1_020), 0...2_200]
        for _ in 0..<3_000 {
            let step = Int64.random(in: steps.randomElement(using: &random) ?? 0...0, using: &random)
            let index = UInt64(max(0, Int64(highest) + step))
            let isNew = index > highest || (highest - index < 1_024 && !seen.contains(index))
            #expect(window.admits(index) == isNew, "\(index) with \(highest)")
            guard window.admits(index) else { continue }
            window.insert(index)
            seen.insert(index)
            highest = max(highest, index)
            #expect(window.highest == highest)
        }
    }

    @Test(
        "in an SRTP replay window, an index 1,023 behind the newest is accepted if it is new, one 1,024 behind is not")
    func edges() {
        var window = ReplayWindow(first: 5_000)
        window.insert(6_023)
        #expect(!window.admits(5_000) && window.admits(5_001) && !window.admits(4_999))
        window.insert(6_024)
        #expect(!window.admits(5_000) && window.admits(5_001))
    }
}
