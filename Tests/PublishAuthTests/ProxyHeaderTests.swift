import PublishAuth
import PipelineSpec
import Testing

@Suite("The PROXY header: proxy-protocol.txt §2")
struct ProxyHeaderTests {
    static func binary(_ command: UInt8, _ family: UInt8, _ body: [UInt8]) -> [UInt8] {
        [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x20 | command, family]
            + [UInt8(body.count >> 8), UInt8(body.count & 0xff)] + body
    }

    static let four: [UInt8] = [192, 0, 2, 7, 10, 0, 0, 1, 0x9C, 0x40, 0x07, 0x8F]
    static let six: [UInt8] =
        [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [7] + [UInt8](repeating: 1, count: 16)
        + [0x9C, 0x40, 0x07, 0x8F]

    static let good: [(bytes: [UInt8], source: String?, port: Int)] = [
        (Array("PROXY TCP4 192.0.2.7 10.0.0.1 40000 1935\r\n".utf8), "192.0.2.7", 40_000),
        (Array("PROXY TCP6 2001:db8::7 ::1 65535 0\r\n".utf8), "2001:db8::7", 65_535),
        (Array("PROXY UNKNOWN\r\n".utf8), nil, 0),
        (Array("PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n".utf8), nil, 0),
        (Self.binary(1, 0x11, Self.four), "192.0.2.7", 40_000),
        (Self.binary(1, 0x21, Self.six), "2001:db8::7", 40_000),
        // With an extension (a TLV) after the addresses.
        (Self.binary(1, 0x11, Self.four + [0x04, 0, 2, 1, 2]), "192.0.2.7", 40_000),
        (Self.binary(0, 0x11, Self.four), nil, 0), (Self.binary(0, 0, []), nil, 0), (Self.binary(1, 0, []), nil, 0),
        (Self.binary(1, 0x31, [UInt8](repeating: 0, count: 216)), nil, 0),
    ]

    @Test("every truncated PROXY header is incomplete; a whole one gives address, port and its own length")
    func everySplit() {
        for (bytes, source, port) in Self.good {
            for count in 0..<bytes.count { #expect(ProxyHeader.read(Array(bytes[..<count])) == .incomplete) }
            for tail in [[], [3], [UInt8](repeating: 0x0A, count: 1537)] as [[UInt8]] {
                guard case .header(let header) = ProxyHeader.read(bytes + tail) else {
                    Issue.record("not read: \(bytes)")
                    continue
                }
                #expect(header.length == bytes.count)
                #expect(header.source?.description == source && header.port == port)
            }
        }
    }

    @Test(
        "a PROXY header with random changes has a length within the input, and more bytes do not change a verdict"
    )
    func mutations() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var bytes = Self.good.randomElement(using: &random)?.bytes ?? []
            for _ in 0...Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
                }
            }
            let answer = ProxyHeader.read(bytes)
            if case .header(let header) = answer { #expect(header.length <= bytes.count && header.length > 12) }
            // A header that is malformed or complete at some length stays so with more bytes.
            for count in 0..<bytes.count {
                switch ProxyHeader.read(Array(bytes[..<count])) {
                case .incomplete: break
                case let early: #expect(early == answer)
                }
            }
        }
    }

    @Test(
        "invalid PROXY headers of version 1 are malformed",
        arguments: [
            "GET / HTTP/1.1\r\n", "PROXY\r\n", "PROXY TCP4 192.0.2.7 10.0.0.1 40000\r\n", "proxy TCP4",
            "PROXY TCP4 192.0.2.7 10.0.0.1 40000 1935 x\r\n", "PROXY TCP4  192.0.2.7 10.0.0.1 40000 1935\r\n",
            "PROXY TCP4 2001:db8::7 ::1 1 1\r\n", "PROXY TCP6 192.0.2.7 10.0.0.1 1 1\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 65536 1\r\n", "PROXY TCP4 192.0.2.7 10.0.0.1 01 1\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 1 -1\r\n", "PROXY TCP5 192.0.2.7 10.0.0.1 1 1\r\n",
            "PROXY UNKNOWN\n", "PROXY " + String(repeating: "x", count: 120), "\u{3}",
        ])
    func noText(text: String) {
        #expect(ProxyHeader.read(Array(text.utf8)) == .malformed)
    }

    @Test("invalid PROXY headers of version 2 are malformed")
    func noBinary() {
        #expect(ProxyHeader.read(Self.binary(2, 0x11, Self.four)) == .malformed)
        #expect(ProxyHeader.read(Self.binary(1, 0x12, Self.four)) == .malformed, "UDP")
        #expect(ProxyHeader.read(Self.binary(1, 0x11, Array(Self.four.dropLast()))) == .malformed)
        #expect(ProxyHeader.read(Self.binary(1, 0x41, Self.six)) == .malformed)
        #expect(ProxyHeader.read(Self.binary(1, 0x11, [UInt8](repeating: 1, count: 3000))) == .malformed)
        var other = Self.binary(1, 0x11, Self.four)
        other[12] = 0x11
        #expect(ProxyHeader.read(other) == .malformed)
    }
}
