import Testing
import WebRTC

@Suite("Limit of the bytes sent to addresses that are not verified")
struct SendAllowanceTests {
    private let here = ICEAddress(ipv4: 0xC000_0201, port: 5000)

    @Test("an unverified address gets at most as many bytes as came from it")
    func limit() {
        var allowance = SendAllowance()
        let isOpen = allowance.spend(0, on: self.here)
        #expect(!isOpen && allowance.left(for: self.here) == 0)
        allowance.received(100, from: self.here)
        let spent = [64, 40, 36, 1].map { allowance.spend($0, on: self.here) }
        #expect(spent == [true, false, true, false])
        allowance.received(20, from: self.here)
        #expect(allowance.left(for: self.here) == 20 && !allowance.isProven(self.here))
    }

    @Test("a verified address and TCP have no limit; another port of the same host is not verified")
    func proven() {
        var allowance = SendAllowance()
        allowance.received(10, from: self.here)
        allowance.prove(self.here)
        let isOpen = (0..<100).allSatisfy { _ in allowance.spend(1200, on: self.here) }
        #expect(isOpen && allowance.isProven(self.here))
        let other = ICEAddress(ipv4: 0xC000_0201, port: 5001)
        let tcp = ICEAddress(ipv4: 0xC000_0201, port: 5001, isTCP: true)
        let sent = [allowance.spend(1, on: other), allowance.spend(1200, on: tcp)]
        #expect(sent == [false, true])
    }

    @Test("of 41 addresses eight are remembered, verified ones first")
    func many() {
        var allowance = SendAllowance()
        allowance.received(10, from: self.here)
        allowance.prove(self.here)
        let others = (1...40).map { ICEAddress(ipv4: UInt32($0), port: 9) }
        for address in others { allowance.received(50, from: address) }
        #expect(allowance.isProven(self.here))
        #expect(others.count { allowance.left(for: $0) == 50 } == 7 && allowance.left(for: others[0]) == 0)
    }
}
