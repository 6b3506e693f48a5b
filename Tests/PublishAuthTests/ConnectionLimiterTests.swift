import PublishAuth
import PipelineSpec
import Testing

@Suite("Connection limits: which connection is closed")
struct ConnectionLimiterTests {
    /// The time at which a connection opens; all connections before it have then made no progress for the patience.
    static func time(_ number: Int) -> Int64 { Int64(number) * ConnectionLimiter.patience }

    static func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    @Test("a connection over its address's limit closes that address's connection that stalled first, and no other")
    func perAddress() throws {
        var ledger = ConnectionLimiter(maximum: 100, maximumPerPlace: 2)
        let one = try Self.address("192.0.2.1")
        let other = try Self.address("192.0.2.2")
        var left: [[Int]] = []
        for (number, address) in [(1, one), (2, other), (3, one), (4, one), (5, one)] {
            left.append(ledger.opened(number, from: address, now: Self.time(number)))
        }
        #expect(left == [[], [], [], [1], [3]])
        #expect(ledger.count == 3)
    }

    @Test("for the limit per address, an IPv6 /64 counts as one client, and each IPv4 address separately")
    func prefixes() throws {
        var ledger = ConnectionLimiter(maximum: 100, maximumPerPlace: 1)
        let texts = [
            "2001:db8::1", "2001:db8::ffff:0:1", "2001:db8:0:1::1", "192.0.2.1", "192.0.2.2", "::ffff:192.0.2.1",
        ]
        var left: [[Int]] = []
        for (number, text) in texts.enumerated() {
            left.append(ledger.opened(number, from: try Self.address(text), now: Self.time(number)))
        }
        #expect(left == [[], [0], [], [], [], [3]])
    }

    @Test("publishing connections are never closed; they count for the total limit, not for their address's")
    func publishers() throws {
        var ledger = ConnectionLimiter(maximum: 3, maximumPerPlace: 1)
        let address = try Self.address("192.0.2.1")
        for number in 1...3 {
            let left = ledger.opened(number, from: address, now: Self.time(number))
            #expect(left.isEmpty)
            ledger.published(number)
        }
        var left = ledger.opened(4, from: address, now: Self.time(4))
        #expect(left == [4], "no other connection can be closed")
        ledger.closed(2)
        left = ledger.opened(5, from: address, now: Self.time(5))
        #expect(left.isEmpty)
        #expect(ledger.count == 3)
    }

    @Test("over the total limit, the oldest connection of the address with the most connections is closed")
    func crowd() throws {
        var ledger = ConnectionLimiter(maximum: 4, maximumPerPlace: 8)
        let crowd = try Self.address("192.0.2.1")
        var left: [[Int]] = []
        left.append(ledger.opened(1, from: try Self.address("192.0.2.9"), now: Self.time(1)))
        for number in 2...6 { left.append(ledger.opened(number, from: crowd, now: Self.time(number))) }
        left.append(ledger.opened(7, from: try Self.address("192.0.2.8"), now: Self.time(7)))
        #expect(left == [[], [], [], [], [2], [3], [4]])
    }

    @Test("until a connection's address is known from its PROXY header, only the total limit applies to it")
    func proxied() throws {
        var ledger = ConnectionLimiter(maximum: 100, maximumPerPlace: 1)
        let address = try Self.address("192.0.2.1")
        var left: [Int] = []
        for number in 1...5 { left += ledger.opened(number, from: nil, now: Self.time(number)) }
        #expect(left.isEmpty && ledger.count == 5)
        for number in 1...3 { left += ledger.opened(number, from: address, now: Self.time(number)) }
        #expect(left == [1, 2] && ledger.count == 3)
        ledger.closed(3)
        left = ledger.opened(9, from: address, now: Self.time(9))
        #expect(left.isEmpty)
    }

    @Test("for random connections, the limits in total and per address are never exceeded, and no publisher is closed")
    func bounds() throws {
        var random = SystemRandomNumberGenerator()
        var ledger = ConnectionLimiter(maximum: 20, maximumPerPlace: 3)
        var waiting: [Int: Int] = [:]
        var publishing: Set<Int> = []
        for number in 0..<5000 {
            let place = Int.random(in: 0..<6, using: &random)
            waiting[number] = place
            for gone in ledger.opened(number, from: try Self.address("10.0.0.\(place)"), now: Self.time(number)) {
                #expect(waiting.removeValue(forKey: gone) != nil, "only connections that do not publish are closed")
            }
            if Int.random(in: 0..<4, using: &random) == 0, let some = waiting.keys.randomElement(using: &random) {
                waiting[some] = nil
                publishing.insert(some)
                ledger.published(some)
            }
            if publishing.count > 10, let some = publishing.randomElement(using: &random) {
                publishing.remove(some)
                ledger.closed(some)
            }
            #expect(ledger.count == waiting.count + publishing.count && ledger.count <= 20)
            #expect((0..<6).allSatisfy { place in waiting.values.count { $0 == place } <= 3 })
        }
    }

    @Test("over the limit, a connection that waits for its wrong-key answer is closed first, then one without progress")
    func progress() throws {
        var ledger = ConnectionLimiter(maximum: 100, maximumPerPlace: 3)
        let address = try Self.address("192.0.2.1")
        for number in 1...3 { _ = ledger.opened(number, from: address, now: 0) }
        ledger.denied(3)
        var left = ledger.opened(4, from: address, now: 1)
        #expect(left == [3])
        let late = Self.time(1)
        ledger.advanced(1, now: late)
        left = ledger.opened(5, from: address, now: late)
        #expect(left == [2], "the oldest is making progress")
        left = ledger.opened(6, from: address, now: late)
        #expect(left.isEmpty, "4 has just connected")
        #expect(ledger.isCrowded)
        left = ledger.sweep(now: late + 1)
        #expect(left == [4] && !ledger.isCrowded)
        left = ledger.sweep(now: 2 * late)
        #expect(left.isEmpty, "three may make no progress")
    }

    @Test("in a flood of 2,000 connections a second, an encoder at the same address still gets to publish")
    func flood() throws {
        var ledger = ConnectionLimiter(maximum: 256, maximumPerPlace: 8)
        let address = try Self.address("192.0.2.1")
        var gone: [Int] = []
        // 2,000 a second, every fourth with a wrong key; then half a second without a new connection.
        for number in 0..<4_000 {
            let now = Int64(number) * 500_000
            gone += ledger.opened(number, from: address, now: now)
            if number % 4 == 0 { ledger.denied(number) }
            if number == 2_000 { gone += ledger.opened(10_000, from: address, now: now) }
            // It makes progress every 50 ms.
            if number > 2_000, number % 100 == 0, number <= 2_300 { ledger.advanced(10_000, now: now) }
            if number == 2_300 { ledger.published(10_000) }
        }
        #expect(!gone.contains(10_000))
        #expect(ledger.count <= 256)
        gone = ledger.sweep(now: 3_000_000_000)
        #expect(ledger.count == 1 + 8)
    }
}
