import Ingest
import MediaTypes
import Testing

/// The first packets of `ffmpeg -f mpegts 'srt://…?streamid=#!::r=live/mykey123,m=publish&passphrase=…'` (libsrt
/// 1.5.1).
enum SRTCapture {
    static let induction = bytes(
        "80000000000000000000012e0000000000000004000000022a11c452000005dc000020000000000123bc721a00000000"
            + "0100007f000000000000000000000000")
    /// With the cookie 0x1234abcd.
    static let conclusion = bytes(
        "800000000000000000001a490000000000000005000000072a11c452000005dc00002000ffffffff23bc721a1234abcd"
            + "0100007f0000000000000000000000000001000300010501000000bf00780000000500083a3a2123696c3d726d2f6576"
            + "79656b792c33323175703d6d73696c62000000680003000e12202901000000000200020000000404e3aac8ea3f2240f6"
            + "30146e6b31a9c5a41906c30fa60b8b90796fb7224a99010212158bacd000ab47")

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}

@Suite("SRT handshake proxy before the SRT listener: draft-sharabayko-srt-01 §4.3.1")
struct SRTHandshakeProxyTests {
    typealias Front = SRTHandshakeProxy<String>
    static let second: Int64 = 1_000_000_000

    static func front(_ peers: Int = 8) -> Front { Front(secret: 7, maximumPeers: peers) }

    /// A listener's induction and conclusion answers, like libsrt's.
    static func listener(_ request: [UInt8], cookie: UInt32) -> [UInt8] {
        SRTHandshake.inductionAnswer(to: request, cookie: cookie)
    }

    static func agreement(_ cookie: UInt32) -> [UInt8] {
        SRTHandshake.conclusion(Array(SRTCapture.conclusion.prefix(64)), cookie: cookie)
    }

    /// The captured conclusion with the cookie that `front` gives `peer`.
    static func conclusion(_ front: inout Front, _ peer: String, now: Int64 = 0) throws -> [UInt8] {
        guard case .answer(let answer) = front.receive(SRTCapture.induction, from: peer, now: now) else {
            throw Unexpected()
        }
        return SRTHandshake.conclusion(SRTCapture.conclusion, cookie: try #require(SRTHandshake(answer)).cookie)
    }

    struct Unexpected: Error {}

    /// A peer whose packets are relayed.
    static func relaying(_ front: inout Front, _ peer: String) throws -> [UInt8] {
        let conclusion = try self.conclusion(&front, peer)
        _ = front.receive(conclusion, from: peer, now: 0)
        _ = front.admit(peer)
        _ = front.receive(self.listener(conclusion, cookie: 99), fromListenerOf: peer, now: 0)
        #expect(front.receive(self.agreement(99), fromListenerOf: peer, now: 0) == .established)
        return conclusion
    }

    @Test("captured SRT handshakes are parsed: type, socket, cookie, stream id, version")
    func reading() throws {
        let induction = try #require(SRTHandshake(SRTCapture.induction))
        #expect(induction.type == SRTHandshake.induction && induction.version == 4 && induction.cookie == 0)
        #expect(induction.socketID == 0x23bc_721a)
        let conclusion = try #require(SRTHandshake(SRTCapture.conclusion))
        #expect(conclusion.type == SRTHandshake.conclusion && conclusion.version == 5)
        #expect(conclusion.cookie == 0x1234_abcd)
        let extensions = try #require(SRTHandshake.extensions(of: SRTCapture.conclusion))
        #expect(extensions.streamID == "#!::r=live/mykey123,m=publish")
        #expect(extensions.softwareVersion == 0x010501)
    }

    @Test("a truncated conclusion is parsed or refused, never read beyond its end")
    func cuts() {
        for length in 0..<SRTCapture.conclusion.count {
            let cut = Array(SRTCapture.conclusion.prefix(length))
            #expect((SRTHandshake(cut) == nil) == (length < 64))
            guard length >= 64, let extensions = SRTHandshake.extensions(of: cut) else { continue }
            #expect(extensions.streamID == nil || extensions.streamID == "#!::r=live/mykey123,m=publish")
        }
    }

    @Test("an induction is answered with a cookie and stores nothing")
    func induction() throws {
        var front = Self.front()
        guard case .answer(let answer) = front.receive(SRTCapture.induction, from: "a", now: 0) else {
            throw Unexpected()
        }
        let handshake = try #require(SRTHandshake(answer))
        #expect(handshake.version == 5 && handshake.type == SRTHandshake.induction)
        #expect(Array(answer[12..<16]) == [0x23, 0xbc, 0x72, 0x1a], "to the caller's socket")
        #expect(Array(answer[22..<24]) == [0x4A, 0x17])
        #expect(front.count == 0)
    }

    @Test("a cookie is valid only for its peer, still after 60 s but not after 200 s")
    func cookies() throws {
        var front = Self.front()
        let conclusion = try Self.conclusion(&front, "a")
        #expect(front.receive(SRTCapture.conclusion, from: "a", now: 0) == .drop)
        #expect(front.receive(conclusion, from: "b", now: 0) == .drop)
        #expect(front.receive(conclusion, from: "a", now: 200 * Self.second) == .drop)
        #expect(front.count == 0)
        #expect(
            front.receive(conclusion, from: "a", now: 60 * Self.second)
                == .decide(SRTCaller(streamID: "#!::r=live/mykey123,m=publish", software: "SRT 1.5.1")))
        #expect(front.count == 1)
    }

    @Test("an admitted caller completes the listener's handshake, with only the cookie replaced")
    func relay() throws {
        var front = Self.front()
        let conclusion = try Self.conclusion(&front, "a")
        guard case .decide = front.receive(conclusion, from: "a", now: 0) else { throw Unexpected() }
        #expect(front.receive(conclusion, from: "a", now: 0) == .drop, "it repeats the request")
        guard case .ask(let induction) = front.admit("a") else { throw Unexpected() }
        #expect(SRTHandshake(induction)?.type == SRTHandshake.induction && induction.count == 64)
        #expect(front.retry("a") == .ask(induction))
        let asked = front.receive(Self.listener(induction, cookie: 99), fromListenerOf: "a", now: 0)
        #expect(asked == .ask(SRTHandshake.conclusion(conclusion, cookie: 99)))
        #expect(front.retry("a") == asked)
        #expect(front.receive(Self.agreement(99), fromListenerOf: "a", now: 0) == .established)
        #expect(front.retry("a") == .drop)
        #expect(front.receive(conclusion, from: "a", now: 0) == asked, "the answer was lost in transit")
        let (data, control) = (front.passes(0x12, from: "a", now: 0), front.passes(0x80, from: "a", now: 0))
        #expect(data && !control, "a control packet is checked")
        #expect(front.receive([0x80, 0, 0, 2] + [UInt8](repeating: 0, count: 40), from: "a", now: 0) == .forward)
        #expect(front.receive([0x12] + [UInt8](repeating: 0, count: 40), fromListenerOf: "a", now: 0) == .forward)
        #expect(front.receive([0x80, 5] + [UInt8](repeating: 0, count: 18), from: "a", now: 0) == .left)
    }

    @Test("a refused caller gets its rejection code again at each retry, and is forgotten after 4 s")
    func refusal() throws {
        var front = Self.front()
        let conclusion = try Self.conclusion(&front, "a")
        _ = front.receive(conclusion, from: "a", now: 0)
        guard case .answer(let answer) = front.refuse("a", code: 1401, now: 0) else { throw Unexpected() }
        #expect(SRTHandshake(answer)?.type == 2401)
        #expect(front.receive(conclusion, from: "a", now: Self.second) == .answer(answer))
        let passes = front.passes(0x12, from: "a", now: 0)
        #expect(!passes)
        #expect(front.admit("a") == .drop, "a refused caller is not admitted")
        #expect(front.sweep(now: 4 * Self.second) == [])
        #expect(front.count == 0)
    }

    @Test(
        "after 2,000 refused callers the number of entries is limited, and a connected publisher's packets still pass")
    func crowd() throws {
        var front = Self.front(2)
        _ = try Self.relaying(&front, "a")
        for index in 0..<2_000 {
            let conclusion = try Self.conclusion(&front, "r\(index)")
            guard case .decide = front.receive(conclusion, from: "r\(index)", now: Int64(index)) else {
                throw Unexpected()
            }
            _ = front.refuse("r\(index)", code: 1403, now: Int64(index))
            #expect(front.count <= 1 + Front.maximumRefusals)
        }
        let first = try Self.conclusion(&front, "r0")
        guard case .decide = front.receive(first, from: "r0", now: 3_000) else { throw Unexpected() }
        let last = SRTHandshake.conclusion(SRTCapture.conclusion, cookie: 5)
        #expect(front.receive(last, from: "r1999", now: 3_000) == .answer(SRTHandshake.refusal(of: last, code: 1403)))
        let passes = front.passes(0x12, from: "a", now: 3_000)
        #expect(passes, "current publishers are not affected")
    }

    @Test("a refusal by the listener, such as a wrong passphrase, is passed on with its code")
    func wrongPassphrase() throws {
        var front = Self.front()
        let conclusion = try Self.conclusion(&front, "a")
        _ = front.receive(conclusion, from: "a", now: 0)
        _ = front.admit("a")
        _ = front.receive(Self.listener(conclusion, cookie: 99), fromListenerOf: "a", now: 0)
        let refusal = SRTHandshake.refusal(of: conclusion, code: 10)
        #expect(front.receive(refusal, fromListenerOf: "a", now: 0) == .refusedByListener(code: 10))
        #expect(front.receive(conclusion, from: "a", now: 0) == .answer(refusal))
    }

    @Test(
        "callers with handshake version 4 get a rejection code; unknown senders, garbage and callers over the limit get nothing"
    )
    func others() throws {
        var front = Self.front(1)
        var old = try Self.conclusion(&front, "a")
        old[19] = 4
        guard case .answer(let answer) = front.receive(old, from: "a", now: 0) else { throw Unexpected() }
        #expect(SRTHandshake(answer)?.type == 1008)
        for bytes in [[], [0x80], [0x12, 3, 4], [UInt8](repeating: 0x80, count: 1400)] as [[UInt8]] {
            #expect(front.receive(bytes, from: "x", now: 0) == .drop)
            #expect(front.receive(bytes, fromListenerOf: "x", now: 0) == .drop)
        }
        #expect(front.count == 0)
        _ = front.receive(try Self.conclusion(&front, "a"), from: "a", now: 0)
        #expect(front.receive(try Self.conclusion(&front, "b"), from: "b", now: 0) == .drop)
        #expect(front.count == 1)
    }

    @Test("a peer that has sent nothing for 16 seconds is reported as silent, one that sent six seconds ago is not")
    func silence() throws {
        var front = Self.front()
        _ = try Self.relaying(&front, "a")
        _ = try Self.relaying(&front, "b")
        _ = front.passes(0, from: "b", now: 10 * Self.second)
        #expect(front.sweep(now: 16 * Self.second) == ["a"])
        front.release("a")
        #expect(front.count == 1)
    }
}
