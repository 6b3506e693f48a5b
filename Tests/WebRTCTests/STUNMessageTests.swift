import MediaTypes
import TestSupport
import Testing
import WebRTC

/// Messages of others.
enum STUNCaptures {
    /// RFC 5769 §2.1.
    static let request =
        "000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74002400046e0001ff"
        + "80290008932ff9b151263b36000600096576746a3a68367659202020"
        + "000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004e57a3bcf"
    /// RFC 5769 §2.2.
    static let responseIPv4 =
        "0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000080001a147e112a643"
        + "000800142b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96"
    /// RFC 5769 §2.3.
    static let responseIPv6 =
        "010100482112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220"
        + "002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9"
        + "00080014a382954e4be67bf11784c97c8292c275bfe3ed4180280004c8fb0b4c"
    /// RFC 5769 §2.4, long-term credentials.
    static let longTerm =
        "000100602112a44278ad3433c6ad72c029da412e00060012e3839ee38388e383aae38383e382afe382b90000"
        + "0015001c662f2f3439396b39353464364f4c33346f4c394653547679363473410014000b6578616d706c652e6f726700"
        + "00080014f67024656dd64a3e02b8e0712e85c9a28ca89666"
    /// A connectivity check of Chromium 156.
    static let chromium =
        "000100502112a4426b736f624e736a6e46322f790006000d4f656b494d734b2f3a5637706b000000c057000400010000"
        + "802a0008cd22a3dbfc077e7e002400046e7e1eff"
        + "0008001434f84801ca0469c0168a94a339c8b48307763c6a80280004ff307b31"
    static let password = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)
    static let chromiumPassword = "aPHokNaddphe2WuFEurJcfFL"

    static func bytes(_ text: String) throws -> [UInt8] { try #require(Hexadecimal.decode(text)) }
}

@Suite("STUN messages: RFC 8489, vectors of RFC 5769")
struct STUNMessageTests {
    private func message(_ text: String) throws -> STUNMessage {
        try #require(STUNMessage(STUNCaptures.bytes(text)))
    }

    @Test("the request of RFC 5769 §2.1 with short-term credentials is read and authentic")
    func request() throws {
        let message = try self.message(STUNCaptures.request)
        #expect(message.kind == .request && message.method == STUNMessage.binding && message.hasFingerprint)
        #expect(message.username == "evtj:h6vY" && message.receiverUfrag == "evtj")
        #expect(message.priority == 0x6E00_01FF && message.controlledTieBreaker == 0x932F_F9B1_5126_3B36)
        #expect(message.controllingTieBreaker == nil && !message.usesCandidate && message.unknownAttributes.isEmpty)
        #expect(message.isAuthentic(password: STUNCaptures.password, hmac: HMACReference.sha1))
        #expect(!message.isAuthentic(password: Array("VOkJxbRl1RmTxUk/WvJxBu".utf8), hmac: HMACReference.sha1))
    }

    @Test("the responses of RFC 5769 §2.2 and §2.3 with mapped addresses are read and authentic")
    func responses() throws {
        let four = try self.message(STUNCaptures.responseIPv4)
        #expect(four.kind == .success && four.mappedAddress == ICEAddress(bytes: [192, 0, 2, 1], port: 32853))
        #expect(four.isAuthentic(password: STUNCaptures.password, hmac: HMACReference.sha1))
        let six = try self.message(STUNCaptures.responseIPv6)
        let address: [UInt8] = [
            0x20, 1, 0xD, 0xB8, 0x12, 0x34, 0x56, 0x78, 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
        ]
        #expect(six.mappedAddress == ICEAddress(bytes: address, port: 32853) && six.mappedAddress?.bytes == address)
        #expect(six.isAuthentic(password: STUNCaptures.password, hmac: HMACReference.sha1))
    }

    @Test("the request of RFC 5769 §2.4 with long-term credentials, without FINGERPRINT, is read and authentic")
    func longTerm() throws {
        let message = try self.message(STUNCaptures.longTerm)
        #expect(message.username == "マトリックス" && !message.hasFingerprint && message.receiverUfrag == nil)
        // MD5 of user name, realm and password (RFC 5769 §2.4).
        let key = try STUNCaptures.bytes("e8ca7ad59d5eb0518e312911d2dab2a9")
        #expect(message.isAuthentic(password: key, hmac: HMACReference.sha1))
    }

    @Test("a STUN check of Chromium is read, with an attribute that is not in any RFC")
    func chromium() throws {
        let message = try self.message(STUNCaptures.chromium)
        #expect(message.receiverUfrag == "OekIMsK/" && message.controllingTieBreaker == 0xCD22_A3DB_FC07_7E7E)
        #expect(message.unknownAttributes.isEmpty && message.attributes.contains { $0.type == 0xC057 })
        #expect(message.isAuthentic(password: Array(STUNCaptures.chromiumPassword.utf8), hmac: HMACReference.sha1))
    }

    @Test("RFC 5769 §2.2 and §2.3 written again have the same length and mapped address, and are authentic")
    func writing() throws {
        for text in [STUNCaptures.responseIPv4, STUNCaptures.responseIPv6] {
            let message = try self.message(text)
            var writer = STUNWriter(.success, transactionID: message.transactionID)
            let software = try #require(message.attributes.first { $0.type == 0x8022 })
            writer.add(0x8022, message.bytes[software.range])
            writer.addMappedAddress(try #require(message.mappedAddress))
            let written = writer.finished(password: STUNCaptures.password, hmac: HMACReference.sha1)
            let again = try #require(STUNMessage(written))
            #expect(again.mappedAddress == message.mappedAddress && written.count == message.bytes.count)
            #expect(again.isAuthentic(password: STUNCaptures.password, hmac: HMACReference.sha1))
        }
    }

    @Test("a STUN message with any single bit flipped is not parsed, or has no valid FINGERPRINT")
    func flippedBits() throws {
        let bytes = try STUNCaptures.bytes(STUNCaptures.chromium)
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let isWhole = STUNMessage(changed)?.hasFingerprint ?? false
            #expect(!isWhole, "bit \(bit)")
        }
    }

    @Test(
        "a STUN message that is truncated, longer than its length field or too long, or has 33 attributes, is not parsed"
    )
    func lengths() throws {
        let bytes = try STUNCaptures.bytes(STUNCaptures.chromium)
        for count in 0..<bytes.count { #expect(STUNMessage(Array(bytes.prefix(count))) == nil, "\(count) bytes") }
        #expect(STUNMessage(bytes + [0, 0, 0, 0]) == nil)
        var writer = STUNWriter(.request, transactionID: [UInt8](repeating: 1, count: 12))
        for _ in 0..<2 { writer.add(0x8022, [UInt8](repeating: 0, count: 900)) }
        #expect(STUNMessage(writer.finished()) == nil)
        var many = STUNWriter(.request, transactionID: [UInt8](repeating: 1, count: 12))
        for _ in 0..<33 { many.add(0x8022, []) }
        #expect(STUNMessage(many.finished()) == nil)
    }

    @Test("wrong STUN attribute lengths give no range outside the message")
    func attributeLengths() throws {
        let bytes = try STUNCaptures.bytes(STUNCaptures.longTerm)
        for length in [0, 1, 0x11, 0x13, 0x59, 0x60, 0x7FFF, 0xFFFC, 0xFFFF] {
            var changed = bytes
            (changed[22], changed[23]) = (UInt8(length >> 8), UInt8(length & 0xFF))
            if let message = STUNMessage(changed) {
                for attribute in message.attributes { #expect(attribute.range.upperBound <= changed.count) }
                #expect(!message.isAuthentic(password: STUNCaptures.password, hmac: HMACReference.sha1))
            }
        }
    }

    @Test("STUN attributes after MESSAGE-INTEGRITY are ignored, since they are not protected")
    func unprotected() {
        var inner = STUNWriter(.request, transactionID: [UInt8](repeating: 7, count: 12))
        inner.add(0x0006, Array("abcd:efgh".utf8))
        var protected = inner.finished(password: [1], hmac: HMACReference.sha1)
        // Replaces FINGERPRINT by USE-CANDIDATE.
        protected.replaceSubrange((protected.count - 8)..., with: [0, 0x25, 0, 0])
        protected[3] -= 4
        let message = STUNMessage(protected)
        #expect(message?.isAuthentic(password: [1], hmac: HMACReference.sha1) == true)
        #expect(message?.usesCandidate == false)
    }

    @Test("the first two bytes of a datagram tell STUN, DTLS, RTP and RTCP apart: RFC 7983")
    func kinds() {
        #expect(DatagramKind([UInt8]()) == .other && DatagramKind([UInt8]([0, 1])) == .stun)
        #expect(DatagramKind([UInt8]([3])) == .stun && DatagramKind([UInt8]([4])) == .other)
        #expect(DatagramKind([UInt8]([20])) == .dtls && DatagramKind([UInt8]([63])) == .dtls)
        #expect(DatagramKind([UInt8]([19])) == .other && DatagramKind([UInt8]([64])) == .other)
        #expect(DatagramKind([UInt8]([0x80, 96])) == .rtp && DatagramKind([UInt8]([0xBF, 0x80 | 111])) == .rtp)
        #expect(DatagramKind([UInt8]([0x80, 200])) == .rtcp && DatagramKind([UInt8]([0x80, 223])) == .rtcp)
        #expect(DatagramKind([UInt8]([0x80, 191])) == .rtp && DatagramKind([UInt8]([0x80, 224])) == .rtp)
        #expect(DatagramKind([UInt8]([0x80])) == .rtp && DatagramKind([UInt8]([192])) == .other)
    }
}
