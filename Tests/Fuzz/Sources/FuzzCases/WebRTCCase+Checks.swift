import MediaTypes
import WebRTC

/// Connectivity checks from several addresses.
///
/// Input: records of flags (1 byte), length (2 bytes), bytes. Flags: the low 3 bits are the address; 8: signed with our
/// password; 16: with that of a restart; 32: the restart begins before; 64: 1 s passes before.
extension WebRTCCase {
    static let restarted = ICECredentials(ufrag: "newU", password: "9876543210987654321098")

    /// A hash that is not an HMAC; only equal messages and keys have to give equal bytes.
    static let hmac: STUNMessage.HMAC = { key, message in
        var (out, hash): ([UInt8], UInt64) = ([], 0xCBF2_9CE4_8422_2325)
        for byte in key + [0xFF] + message { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for index in 0..<20 {
            hash = (hash ^ UInt64(index)) &* 0x100_0000_01B3
            out.append(UInt8(truncatingIfNeeded: hash >> 32))
        }
        return out
    }

    static func checkSeeds() -> [(name: String, bytes: [UInt8])] {
        func request(_ ufrag: String, _ number: UInt8, nominates: Bool = false, role: UInt16 = 0x802A) -> [UInt8] {
            var writer = STUNWriter(.request, transactionID: [UInt8](repeating: number, count: 12))
            writer.add(0x0006, Array("\(ufrag):V7pk".utf8))
            writer.add(role, [1, 2, 3, 4, 5, 6, 7, 8])
            if nominates { writer.add(0x0025, []) }
            writer.add(0x0024, [0x6E, 0, 1, 0xFF])
            return writer.finished()
        }
        func record(_ flags: UInt8, _ bytes: [UInt8]) -> [UInt8] {
            [flags, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
        }
        let ours = Self.settings.credentials.ufrag
        let moving =
            record(8, request(ours, 1)) + record(9, request(ours, 2, nominates: true)) + record(9, request(ours, 2))
            + record(32 | 16 | 2, request("newU", 3)) + record(64 | 8, request(ours, 4))
        return [
            ("check", [2] + record(8, request(ours, 1))), ("checks", [2] + moving),
            ("conflict", [2] + record(8, request(ours, 1, role: 0x8029))),
            ("unknown", [2] + record(8, request(ours, 1, role: 0x7777))),
            ("unsigned", [2] + record(0, request(ours, 1))),
        ]
    }

    static func checks(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        var agent = ICELiteAgent(credentials: Self.settings.credentials, now: 0)
        var (now, proven): (Int64, Set<UInt8>) = (0, [])
        for _ in 0..<100 where input.left > 0 {
            let flags = input.byte()
            if flags & 32 != 0 { agent.restart(credentials: Self.restarted) }
            if flags & 64 != 0 { now += 1_000_000_000 }
            let raw = input.take(Int(input.number(2)))
            let password = flags & 8 != 0 ? Self.settings.credentials.password : Self.restarted.password
            let bytes = flags & 24 != 0 ? Self.signed(raw, Array(password.utf8)) : raw
            let address = ICEAddress(ipv4: UInt32(flags & 7), port: 9)
            let before = agent.selected
            let outcome = agent.receive(bytes, from: address, now: now, hmac: Self.hmac)
            switch outcome {
            case .ignored: break
            case .answer, .error: if flags & 24 == 0, !Self.wasSigned(raw) { return "an answer without the password" }
            }
            if case .answer = outcome { proven.insert(flags & 7) }
            if let broken = Self.check(outcome, bytes, agent, before, address, now) { return broken }
            for number in 0..<UInt8(8) where !proven.contains(number) {
                if agent.isKnown(ICEAddress(ipv4: UInt32(number), port: 9), now: now) {
                    return "an address without a successful check is known"
                }
            }
        }
        return nil
    }

    /// Adds MESSAGE-INTEGRITY and FINGERPRINT to the attributes of a message.
    private static func signed(_ raw: [UInt8], _ password: [UInt8]) -> [UInt8] {
        guard let message = STUNMessage(raw) else { return raw }
        var writer = STUNWriter(message.kind, method: message.method, transactionID: message.transactionID)
        for attribute in message.attributes { writer.add(attribute.type, raw[attribute.range]) }
        return writer.finished(password: password, hmac: Self.hmac)
    }

    /// The mutator may copy a message that carries a right MESSAGE-INTEGRITY.
    private static func wasSigned(_ raw: [UInt8]) -> Bool {
        guard let message = STUNMessage(raw) else { return false }
        return [Self.settings.credentials.password, Self.restarted.password].contains {
            message.isAuthentic(password: Array($0.utf8), hmac: Self.hmac)
        }
    }

    private static func check(
        _ outcome: ICELiteAgent.Outcome, _ request: [UInt8], _ agent: ICELiteAgent, _ before: ICEAddress?,
        _ address: ICEAddress, _ now: Int64
    ) -> String? {
        if agent.ufrags.count > 2 { return "more than two credentials" }
        switch outcome {
        case .ignored: return agent.selected == before ? nil : "an ignored message selects an address"
        case .error(let bytes):
            if let broken = Self.check(answer: bytes, .error, request) { return broken }
            return agent.selected == before ? nil : "a check that is answered with an error selects an address"
        case .answer(let bytes, let isMoved):
            if let broken = Self.check(answer: bytes, .success, request) { return broken }
            if isMoved != (agent.selected != before) {
                return "the selected address changed without being reported, or the reverse"
            }
            if isMoved, agent.selected != address { return "another address is selected" }
            if STUNMessage(bytes)?.mappedAddress != address { return "another address is reported" }
            return agent.isKnown(address, now: now) ? nil : "an address with a successful check is unknown"
        }
    }

    private static func check(answer bytes: [UInt8], _ kind: STUNMessage.Class, _ request: [UInt8]) -> String? {
        if bytes.count > request.count {
            return "an answer of \(bytes.count) bytes to a request of \(request.count)"
        }
        guard let answer = STUNMessage(bytes), answer.hasFingerprint, answer.kind == kind,
            answer.transactionID.elementsEqual(request[8..<20])
        else { return "an answer that is no STUN response to its request" }
        return nil
    }
}
