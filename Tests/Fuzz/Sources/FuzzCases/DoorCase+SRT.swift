import PublishAuth
import Ingest

/// SRT: stream ids, and four callers with their listeners in any order.
///
/// Input of the latter: steps. Each has one byte, three bits for the action and two for the caller, then its data.
extension DoorCase {
    private static let mostCallers = 3

    private struct Caller {
        /// The cookie it was given, unknown to others.
        var cookie: UInt32?
        var isRelaying = false
    }

    private struct Street {
        var front = SRTHandshakeProxy<Int>(secret: 7, maximumPeers: DoorCase.mostCallers)
        var callers = [Caller](repeating: Caller(), count: 4)
        var now: Int64 = 1_000_000_000
    }

    static func srtSeeds() -> [(name: String, bytes: [UInt8])] {
        let names = [
            "anna", "live/anna?e=1&n=2&s=3", "publish:live/anna", "read:anna", "/live/anna",
            "#!::r=live/anna,m=publish,u=me", "#!::m=request,r=x", "#!::u=anna,m=publish,h=host,s=1,t=stream", "#!::r",
        ]
        // SRT 1.5.1, then the stream id `anna`, in byte-swapped words.
        let version: [UInt8] = [0, 1, 0, 3, 0, 1, 5, 1, 0, 0, 0, 0xBF, 0, 0x78, 0, 0]
        let name: [UInt8] = [0, 5, 0, 1, 0x61, 0x6E, 0x6E, 0x61]
        let comes: [UInt8] = [1, 2, 24] + version + name
        let isAgreed: [UInt8] = [3, 6, 0, 0, 0, 0, 9, 6, 1, 0, 0, 0, 9]
        let isRefused: [UInt8] = [3, 6, 0, 0, 0, 0, 9, 6, 2, 0, 0, 0, 10]
        let leaves: [UInt8] = [0, 16, 0x80, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let sends: [UInt8] = [0, 3, 0, 1, 2, 5, 2, 0, 1]
        let others: [UInt8] = [9, 10, 0, 17, 18, 0, 25, 26, 0]
        let steps: [[UInt8]] = [
            comes, comes + comes, comes + isAgreed, comes + isRefused, comes + isAgreed + sends + leaves,
            comes + isAgreed + [2, 0, 7, 20], comes + [4, 4, 0xB1, 2, 0, 7, 8], others + comes, comes + [3, 7, 1],
        ]
        var seeds: [(name: String, bytes: [UInt8])] = []
        for (index, text) in names.enumerated() { seeds.append(("srt.name.\(index)", [4] + Array(text.utf8))) }
        for (index, step) in steps.enumerated() { seeds.append(("srt.steps.\(index)", [5] + step)) }
        return seeds
    }

    static func streamID(_ text: String) -> String? {
        guard case .publish(let address) = SRTStreamID.read(text, app: "live") else { return nil }
        if text.utf8.count > SRTStreamID.maximumLength { return "a stream id too long" }
        if address.segments.contains(where: { $0.isEmpty }) { return "an empty segment" }
        return nil
    }

    static func callers(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        var street = Street()
        while input.left > 0 {
            if let broken = Self.step(&input, &street) { return broken }
            let most = Self.mostCallers + SRTHandshakeProxy<Int>.maximumRefusals
            if street.front.count > most { return "more callers are remembered than the limit" }
        }
        return nil
    }

    private static func step(_ input: inout FuzzInput, _ street: inout Street) -> String? {
        let step = input.byte()
        let who = Int(step >> 3 & 3)
        switch step & 7 {
        case 0:
            let count = Int(input.byte())
            return Self.called(input.take(count), who, &street)
        case 1: return Self.called(Self.handshake(SRTHandshake.induction, cookie: 0), who, &street)
        case 2:
            let count = Int(input.byte())
            let conclusion = Self.handshake(SRTHandshake.conclusion, cookie: street.callers[who].cookie ?? 0)
            return Self.called(conclusion + input.take(count), who, &street)
        case 3:
            if case .ask(let question) = street.front.admit(who), question.count != 64 {
                return "a listener is asked in \(question.count) bytes"
            }
            _ = street.front.retry(who)
            return nil
        case 4:
            if case .answer(let answer) = street.front.refuse(who, code: Int(input.number(2)), now: street.now) {
                street.callers[who].isRelaying = false
                if answer.count > 64 { return "a refusal of \(answer.count) bytes" }
            }
            return nil
        case 5:
            let count = Int(input.byte())
            return Self.listened(input.take(count), who, &street)
        case 6:
            let form = input.byte()
            let number = input.number(4)
            let induction = Self.handshake(SRTHandshake.induction, cookie: 0)
            switch form & 3 {
            case 0: return Self.listened(SRTHandshake.inductionAnswer(to: induction, cookie: number), who, &street)
            case 1:
                return Self.listened(Self.handshake(SRTHandshake.conclusion, cookie: number), who, &street)
            default:
                return Self.listened(SRTHandshake.refusal(of: induction, code: Int(number & 0xFFFF)), who, &street)
            }
        default:
            let seconds = input.byte()
            street.now += Int64(seconds) * 1_000_000_000
            for silent in street.front.sweep(now: street.now) {
                street.front.forget(silent)
                street.callers[silent].isRelaying = false
            }
            if seconds & 1 == 1 {
                street.front.release(who)
                street.callers[who].isRelaying = false
            }
            return nil
        }
    }

    /// A datagram from a caller.
    private static func called(_ datagram: [UInt8], _ who: Int, _ street: inout Street) -> String? {
        let isRelaying = street.callers[who].isRelaying
        if let first = datagram.first, street.front.passes(first, from: who, now: street.now), !isRelaying {
            return "a datagram is passed to a listener that has not agreed"
        }
        switch street.front.receive(datagram, from: who, now: street.now) {
        case .answer(let answer):
            if answer.count > datagram.count { return "an answer longer than its request" }
            if let handshake = SRTHandshake(answer), handshake.type == SRTHandshake.induction {
                street.callers[who].cookie = handshake.cookie
            }
        case .decide(let caller):
            if street.callers[who].cookie == nil { return "a caller without a cookie asks to publish" }
            if let name = caller.streamID {
                if name.utf8.count > SRTStreamID.maximumLength { return "a stream id too long" }
                return Self.streamID(name)
            }
        case .forward, .left, .ask:
            if !isRelaying { return "a datagram is forwarded to a listener that has not agreed" }
        case .established, .refusedByListener: return "a caller's datagram counts as its listener's"
        case .drop: break
        }
        return nil
    }

    /// A datagram from a listener.
    private static func listened(_ datagram: [UInt8], _ who: Int, _ street: inout Street) -> String? {
        switch street.front.receive(datagram, fromListenerOf: who, now: street.now) {
        case .established:
            if street.callers[who].isRelaying { return "a listener agrees twice" }
            street.callers[who].isRelaying = true
        case .forward:
            if !street.callers[who].isRelaying { return "a datagram of a listener that has not agreed is forwarded" }
        case .answer, .decide, .left: return "a listener's datagram counts as its caller's"
        case .refusedByListener(let code): if code < 0 { return "a negative code" }
        case .ask, .drop: break
        }
        return nil
    }

    /// The fixed part of version 5.
    private static func handshake(_ type: Int32, cookie: UInt32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        bytes[0] = 0x80
        bytes[19] = 5
        bytes[43] = 7
        for index in 0..<4 {
            bytes[36 + index] = UInt8(truncatingIfNeeded: UInt32(bitPattern: type) >> UInt32(24 - 8 * index))
        }
        return SRTHandshake.conclusion(bytes, cookie: cookie)
    }
}
