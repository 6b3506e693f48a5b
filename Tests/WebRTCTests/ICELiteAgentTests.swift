import MediaTypes
import Testing
import WebRTC

@Suite("ICE-lite agent: RFC 8445 §7.3, RFC 7675")
struct ICELiteAgentTests {
    private static let ours = ICECredentials(ufrag: "OekIMsK/", password: STUNCaptures.chromiumPassword)
    private static let second: Int64 = 1_000_000_000
    private let here = ICEAddress(ipv4: 0xC000_0201, port: 5000)
    private let there = ICEAddress(ipv4: 0xC000_0202, port: 6000)

    private static func agent() -> ICELiteAgent { ICELiteAgent(credentials: Self.ours, now: 0) }

    /// A connectivity check.
    private func check(
        _ number: UInt8 = 1, nominates: Bool = false, credentials: ICECredentials = ICELiteAgentTests.ours,
        type: UInt16? = nil, isControlled: Bool = false, kind: STUNMessage.Class = .request, method: UInt16 = 1
    ) -> [UInt8] {
        var writer = STUNWriter(kind, method: method, transactionID: [UInt8](repeating: number, count: 12))
        writer.add(0x0006, Array("\(credentials.ufrag):V7pk".utf8))
        writer.add(isControlled ? 0x8029 : 0x802A, [0, 0, 0, 0, 0, 0, 0, 1])
        if nominates { writer.add(0x0025, []) }
        writer.add(0x0024, [0x6E, 0, 1, 0xFF])
        if let type { writer.add(type, []) }
        return writer.finished(password: Array(credentials.password.utf8), hmac: HMACReference.sha1)
    }

    /// An authentic check of 68 bytes: shorter than the answer over IPv6.
    private static var shortCheck: [UInt8] {
        var writer = STUNWriter(.request, transactionID: [UInt8](repeating: 9, count: 12))
        writer.add(0x0006, Array("\(Self.ours.ufrag):".utf8))
        return writer.finished(password: Array(Self.ours.password.utf8), hmac: HMACReference.sha1)
    }

    private func receive(
        _ agent: inout ICELiteAgent, _ bytes: [UInt8], from address: ICEAddress, at seconds: Int64 = 0
    ) -> ICELiteAgent.Outcome {
        agent.receive(bytes, from: address, now: seconds * Self.second, hmac: HMACReference.sha1)
    }

    @Test("a captured STUN check of Chromium gets an authentic answer of 64 bytes with its address")
    func chromium() throws {
        var agent = Self.agent()
        let request = try STUNCaptures.bytes(STUNCaptures.chromium)
        guard case .answer(let bytes, let isMoved) = self.receive(&agent, request, from: self.here) else {
            Issue.record("no answer")
            return
        }
        #expect(isMoved && agent.selected == self.here && bytes.count == 64)
        let answer = try #require(STUNMessage(bytes))
        #expect(answer.kind == .success && answer.mappedAddress == self.here && answer.hasFingerprint)
        #expect(answer.transactionID.elementsEqual(request[8..<20]))
        #expect(answer.isAuthentic(password: Array(Self.ours.password.utf8), hmac: HMACReference.sha1))
    }

    @Test(
        "a STUN check over IPv6 gets an answer of 76 bytes, no longer than the check; a check shorter than that gets none"
    )
    func amplification() throws {
        let six = try #require(ICEAddress(bytes: [UInt8](repeating: 0x20, count: 16), port: 1))
        var agent = Self.agent()
        guard case .answer(let bytes, _) = self.receive(&agent, self.check(), from: six) else {
            Issue.record("no answer")
            return
        }
        #expect(bytes.count == 76 && bytes.count <= self.check().count)
        #expect(Self.shortCheck.count < 76 && self.receive(&agent, Self.shortCheck, from: six) == .ignored(.tooShort))
    }

    @Test(
        "a message that is not a valid STUN check gets no answer and changes nothing",
        arguments: ICELiteAgent.Refusal.allCases)
    func refusals(refusal: ICELiteAgent.Refusal) throws {
        var agent = Self.agent()
        let wrong = ICECredentials(ufrag: Self.ours.ufrag, password: "another password of right length")
        switch refusal {
        case .malformed:
            #expect(self.receive(&agent, [0, 1, 2], from: self.here) == .ignored(.malformed))
            // Authentic, but without FINGERPRINT.
            var bytes = Array(self.check().dropLast(8))
            bytes[3] -= 8
            #expect(self.receive(&agent, bytes, from: self.here) == .ignored(.malformed))
        case .notARequest:
            for kind in [STUNMessage.Class.indication, .success, .error] {
                #expect(self.receive(&agent, self.check(kind: kind), from: self.here) == .ignored(refusal))
            }
            #expect(self.receive(&agent, self.check(method: 3), from: self.here) == .ignored(refusal))
        case .unknownUfrag:
            let other = ICECredentials(ufrag: "OekIMsK", password: Self.ours.password)
            #expect(self.receive(&agent, self.check(credentials: other), from: self.here) == .ignored(refusal))
        case .wrongIntegrity:
            #expect(self.receive(&agent, self.check(credentials: wrong), from: self.here) == .ignored(refusal))
        case .replayed:
            _ = self.receive(&agent, self.check(), from: self.here)
            #expect(self.receive(&agent, self.check(nominates: true), from: self.there) == .ignored(refusal))
            #expect(agent.selected == self.here && !agent.isKnown(self.there, now: 0))
            return
        case .tooShort:
            let six = try #require(ICEAddress(bytes: [UInt8](repeating: 0x20, count: 16), port: 1))
            #expect(self.receive(&agent, Self.shortCheck, from: six) == .ignored(refusal))
            #expect(!agent.isKnown(six, now: 0))
            // The same check is long enough for the answer over IPv4, but it is a copy there.
            #expect(self.receive(&agent, Self.shortCheck, from: self.here) == .ignored(.replayed))
        }
        #expect(agent.selected == nil && !agent.isKnown(self.here, now: 0))
        #expect(agent.expiry(now: 11 * Self.second) == .neverConnected)
    }

    @Test(
        "a STUN check with a wrong password costs one HMAC; one with an unknown user name and a datagram that is not STUN cost none"
    )
    func cost() {
        final class Count: @unchecked Sendable {
            // One thread.
            var calls = 0
        }
        let count = Count()
        var agent = Self.agent()
        let wrong = ICECredentials(ufrag: Self.ours.ufrag, password: "another password of right length")
        for (bytes, calls) in [
            (self.check(credentials: wrong), 1), (self.check(credentials: .init(ufrag: "zzzz", password: "x")), 0),
            ([UInt8](repeating: 0, count: 100), 0),
        ] {
            count.calls = 0
            _ = agent.receive(bytes, from: self.here, now: 0) { key, message in
                count.calls += 1
                return HMACReference.sha1(key, message)
            }
            #expect(count.calls == calls)
        }
    }

    @Test("the first address is selected until one is nominated; then the last nominated address is")
    func nomination() {
        var agent = Self.agent()
        #expect(self.isMoved(self.receive(&agent, self.check(1), from: self.here)) == true)
        #expect(self.isMoved(self.receive(&agent, self.check(2), from: self.there)) == false)
        #expect(agent.selected == self.here && agent.isKnown(self.there, now: 0))
        #expect(self.isMoved(self.receive(&agent, self.check(3, nominates: true), from: self.there)) == true)
        #expect(self.isMoved(self.receive(&agent, self.check(4), from: self.here)) == false)
        #expect(agent.selected == self.there)
        let moved = ICEAddress(ipv4: 0xC000_0203, port: 1)
        #expect(self.isMoved(self.receive(&agent, self.check(5, nominates: true), from: moved)) == true)
        #expect(self.isMoved(self.receive(&agent, self.check(6, nominates: true), from: moved)) == false)
        #expect(agent.selected == moved)
    }

    private func isMoved(_ outcome: ICELiteAgent.Outcome) -> Bool? {
        if case .answer(_, let isMoved) = outcome { isMoved } else { nil }
    }

    @Test("a STUN check repeated from the same address is answered again; from another address it is not")
    func retransmission() {
        var agent = Self.agent()
        let first = self.receive(&agent, self.check(), from: self.here)
        #expect(self.receive(&agent, self.check(), from: self.here, at: 1) != .ignored(.replayed))
        #expect(self.isMoved(first) == true)
        #expect(self.receive(&agent, self.check(), from: self.there, at: 1) == .ignored(.replayed))
    }

    @Test(
        "a STUN check in the controlled role gets 487, one with an unknown required attribute 420; neither selects an address"
    )
    func errors() throws {
        for (request, number) in [(self.check(isControlled: true), 487), (self.check(2, type: 0x7001), 420)] {
            var agent = Self.agent()
            guard case .error(let bytes) = self.receive(&agent, request, from: self.here) else {
                Issue.record("no error")
                return
            }
            let answer = try #require(STUNMessage(bytes))
            #expect(answer.kind == .error && answer.errorNumber == number && agent.selected == nil)
            #expect(bytes.count <= request.count)
            #expect(answer.isAuthentic(password: Array(Self.ours.password.utf8), hmac: HMACReference.sha1))
        }
    }

    @Test(
        "the session ends after 10 s without a STUN check, or 30 s after the last one; each address expires by its own last check"
    )
    func consent() {
        var agent = Self.agent()
        #expect(agent.expiry(now: 10 * Self.second) == nil)
        #expect(agent.expiry(now: 10 * Self.second + 1) == .neverConnected)
        _ = self.receive(&agent, self.check(1), from: self.here, at: 5)
        _ = self.receive(&agent, self.check(2), from: self.there, at: 20)
        #expect(agent.expiry(now: 50 * Self.second) == nil && agent.expiry(now: 50 * Self.second + 1) == .consentLost)
        #expect(agent.isKnown(self.here, now: 35 * Self.second) && !agent.isKnown(self.here, now: 36 * Self.second))
        #expect(agent.isKnown(self.there, now: 36 * Self.second))
    }

    @Test("of 41 addresses with STUN checks the selected one, the latest and six others are kept")
    func manyAddresses() {
        var agent = Self.agent()
        _ = self.receive(&agent, self.check(0, nominates: true), from: self.here)
        let others = (1...40).map { ICEAddress(ipv4: UInt32($0), port: 9) }
        for (index, address) in others.enumerated() {
            _ = self.receive(&agent, self.check(UInt8(index + 1)), from: address, at: Int64(index) / 10)
        }
        #expect(agent.selected == self.here && agent.isKnown(self.here, now: 5 * Self.second))
        #expect(others.count { agent.isKnown($0, now: 5 * Self.second) } == 7)
        #expect(agent.isKnown(others[39], now: 5 * Self.second))
    }

    @Test(
        "after an ICE restart old and new credentials are valid until a STUN check with the new ones, then only the new ones"
    )
    func restart() {
        var agent = Self.agent()
        _ = self.receive(&agent, self.check(1, nominates: true), from: self.here)
        let abandoned = ICECredentials(ufrag: "lost", password: "0123456789012345678901")
        let new = ICECredentials(ufrag: "newU", password: "9876543210987654321098")
        agent.restart(credentials: abandoned)
        agent.restart(credentials: new)
        #expect(agent.ufrags == [Self.ours.ufrag, "newU"])
        #expect(self.isMoved(self.receive(&agent, self.check(2), from: self.here)) == false)
        #expect(
            self.receive(&agent, self.check(3, credentials: abandoned), from: self.there) == .ignored(.unknownUfrag))
        #expect(self.isMoved(self.receive(&agent, self.check(4, credentials: new), from: self.there)) == true)
        #expect(agent.ufrags == ["newU"] && agent.selected == self.there)
        #expect(!agent.isKnown(self.here, now: 0))
        #expect(self.receive(&agent, self.check(5), from: self.here) == .ignored(.unknownUfrag))
    }

    @Test(
        "UDP is preferred to TCP until no STUN check came by UDP for more than six seconds, whatever the peer nominates"
    )
    func transports() {
        var agent = Self.agent()
        let tcp = ICEAddress(ipv4: 0xC000_0201, port: 9, isTCP: true)
        #expect(self.isMoved(self.receive(&agent, self.check(1), from: tcp)) == true)
        #expect(self.isMoved(self.receive(&agent, self.check(2), from: self.here)) == true, "UDP replaces TCP")
        #expect(self.isMoved(self.receive(&agent, self.check(3, nominates: true), from: tcp, at: 5)) == false)
        _ = self.receive(&agent, self.check(4, nominates: true), from: self.here, at: 5)
        #expect(self.isMoved(self.receive(&agent, self.check(5, nominates: true), from: tcp, at: 11)) == false)
        #expect(self.isMoved(self.receive(&agent, self.check(6, nominates: true), from: tcp, at: 12)) == true)
        #expect(self.isMoved(self.receive(&agent, self.check(7), from: self.here, at: 12)) == false)
        #expect(self.isMoved(self.receive(&agent, self.check(8, nominates: true), from: self.here, at: 13)) == true)
    }

    @Test("if the selected address is removed, the known address with the latest STUN check is selected")
    func closed() {
        var agent = Self.agent()
        let tcp = ICEAddress(ipv4: 0xC000_0201, port: 9, isTCP: true)
        _ = self.receive(&agent, self.check(1, nominates: true), from: tcp)
        agent.remove(tcp)
        #expect(agent.selected == nil && !agent.isKnown(tcp, now: 0))
        _ = self.receive(&agent, self.check(2), from: self.here, at: 1)
        _ = self.receive(&agent, self.check(3), from: self.there, at: 2)
        #expect(agent.selected == self.here)
        agent.remove(self.here)
        #expect(agent.selected == self.there)
        agent.remove(tcp)
        #expect(agent.selected == self.there)
    }

    @Test("an IPv4-mapped IPv6 address equals the IPv4 address; addresses of TCP and UDP differ")
    func addresses() {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1]
        #expect(ICEAddress(bytes: mapped, port: 5000) == self.here)
        #expect(ICEAddress(ipv4: 0xC000_0201, port: 5000, isTCP: true) != self.here)
        #expect(ICEAddress(bytes: [1, 2, 3], port: 1) == nil)
        #expect(self.here.bytes == [192, 0, 2, 1])
    }
}
