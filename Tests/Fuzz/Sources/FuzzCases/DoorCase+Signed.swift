import PublishAuth
import LibAV
import MediaTypes
import RTMP

/// Correctly signed keys in Tencent's form: each is admitted once, and none with a changed digit.
///
/// Input: expiry in Unix seconds (4 bytes), current time (4 bytes), index of the digit (1 byte), then bytes for the
/// name.
extension DoorCase {
    private static let room = "r"
    private static let secret = "s3cr3t"

    static func signedSeeds() -> [(name: String, bytes: [UInt8])] {
        let times: [[UInt8]] = [
            [0x65, 0, 0, 0, 0x64, 0, 0, 0], [0x65, 0, 0, 0, 0x65, 0, 0, 30], [0x65, 0, 0, 0, 0x65, 0, 0, 31],
            [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1],
        ]
        let name = Array("1001".utf8)
        var seeds: [(name: String, bytes: [UInt8])] = []
        for (index, time) in times.enumerated() { seeds.append(("signed.\(index)", [7] + time + [3] + name)) }
        return seeds
    }

    static func signed(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let expiry = Int64(input.number(4))
        let now = Int64(input.number(4))
        let which = Int(input.byte())
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
        let name = String(
            decoding: [UInt8(ascii: "n")] + input.take(32).map { letters[Int($0) % letters.count] }, as: UTF8.self)
        let time = String(expiry, radix: 16)
        var digits = Digest.md5(of: Array("\(Self.secret)\(name)\(time)".utf8)).flatMap { [$0 >> 4, $0 & 15] }
        let check = SignedKeyCheck(form: .tencent, secrets: ["other", Self.secret], room: Self.room, app: "live")
        guard let address = Self.address(name, time, digits) else { return "an address that cannot be read" }
        let verdict = check.verdict(on: address, name: name, now: now)
        let isInTime = now - check.skew <= expiry
        guard case .valid = verdict else {
            return isInTime || verdict != .expired ? "a correctly signed key is \(verdict)" : nil
        }
        if !isInTime { return "an expired key is valid" }
        if let broken = Self.use(address, name, check, now) { return broken }
        digits[which % digits.count] ^= 1
        guard let forged = Self.address(name, time, digits) else { return "an address that cannot be read" }
        return check.verdict(on: forged, name: name, now: now) == .wrong
            ? nil : "a key with a changed digit is not wrong"
    }

    /// Checks that the key is admitted once, and once more if it is given back after a failed publish.
    private static func use(_ address: StreamAddress, _ name: String, _ check: SignedKeyCheck, _ now: Int64) -> String?
    {
        var admission = Admission(bindings: [])
        admission.signed = check
        admission.isSingleUse = true
        admission.signable = [SourceID(uid: name)]
        guard case .source = admission.answer(to: address, now: now) else {
            return "a correctly signed key is not admitted"
        }
        guard case .deny = admission.answer(to: address, now: now) else { return "a single-use key is admitted twice" }
        admission.giveBack(address, now: now)
        guard case .source = admission.answer(to: address, now: now) else {
            return "a key that was given back is not admitted"
        }
        return nil
    }

    private static func address(_ name: String, _ time: String, _ digits: [UInt8]) -> StreamAddress? {
        let digest = digits.map { String($0, radix: 16) }.joined()
        return StreamAddress(app: "live", streamName: "\(name)?txSecret=\(digest)&txTime=\(time)")
    }
}
