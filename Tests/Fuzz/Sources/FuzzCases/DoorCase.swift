import PublishAuth
import Events
import HLS
import HTTPListener
import MediaTypes
import PipelineSpec
import RTMP

/// Data of unauthenticated clients: PROXY headers, stream names and signed keys, addresses, targets of viewers'
/// requests, SRT handshakes and stream ids, webhook requests and answers.
///
/// Input: selector (1 byte), then its bytes.
enum DoorCase {
    static let entry = FuzzCase("doors", longest: 2500, seeds: Self.seeds, run: Self.run)

    static func seeds() -> [(name: String, bytes: [UInt8])] {
        let texts: [(UInt8, String)] = [
            (0, "PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\nrest"), (0, "PROXY UNKNOWN\r\n"),
            (0, "PROXY TCP6 2001:db8::1 ::1 1 65535\r\n"), (1, "live\nkey1?a=b&c"),
            (1, "/live/x//\nrtmp://h/live/..%2fk?"),
            (1, "live\nanna?txSecret=0123456789abcdef0123456789abcdef&txTime=7fffffff"),
            (1, "live\nanna?auth_key=9999999999-0-0-0123456789abcdef0123456789abcdef"),
            (1, "live\nanna?e=9999999999&n=n&s=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
            (1, "live...vhost...demo&a=b\nmp4:anna?authmod=adobe"), (2, "rtmp://u:p@[::1]:1935/a/b/c?d=e"),
            (2, "127.0.0.1:80"), (2, "[2001:db8::]:1"), (2, "10.0.0.0/8"), (2, "*.example.org:443"), (2, "unix:/run/x"),
            (3, "/live/index.m3u8?_HLS_msn=12&_HLS_part=3&_HLS_skip=YES&t=a%20b"), (3, "/a/../../etc/passwd?x"),
            (3, "/%2e%2e/%2e%2e/x"), (3, "http://h/p?q"), (3, "/a/%00"),
        ]
        let binary: [UInt8] =
            [0, 0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12]
            + [127, 0, 0, 1, 127, 0, 0, 2, 0x1F, 0x90, 0, 80, 3]
        var seeds: [(name: String, bytes: [UInt8])] = texts.enumerated().map {
            ("text.\($0.offset)", [$0.element.0] + Array($0.element.1.utf8))
        }
        seeds.append(("proxy2", binary))
        return seeds + Self.srtSeeds() + Self.hookSeeds() + Self.signedSeeds()
    }

    static func run(_ bytes: [UInt8]) -> String? {
        let rest = Array(bytes.dropFirst())
        switch (bytes.first ?? 0) & 7 {
        case 0: return Self.proxy(rest)
        case 1: return Self.stream(String(decoding: rest, as: UTF8.self))
        case 2: return Self.address(String(decoding: rest, as: UTF8.self))
        case 3: return Self.target(String(decoding: rest, as: UTF8.self))
        case 4: return Self.streamID(String(decoding: rest, as: UTF8.self))
        case 5: return Self.callers(rest)
        case 6: return Self.hook(rest)
        default: return Self.signed(rest)
        }
    }

    /// The first verdict on a prefix of a PROXY header must be that on the whole.
    private static func proxy(_ bytes: [UInt8]) -> String? {
        let whole = ProxyHeader.read(bytes)
        var first: ProxyHeader.Answer?
        for count in 0...min(bytes.count, 2100) {
            let answer = ProxyHeader.read(Array(bytes.prefix(count)))
            if answer == .incomplete { continue }
            first = answer
            break
        }
        if case .header(let header) = whole {
            if header.length > bytes.count || header.length < 8 { return "a header of \(header.length) bytes" }
            if header.port < 0 || header.port > 65_535 || (header.source == nil && header.port != 0) {
                return "a wrong port"
            }
        }
        // An early refusal or result must equal the final one.
        if let first, first != whole { return "the first verdict on a prefix differs from that on the whole" }
        return nil
    }

    private static func stream(_ text: String) -> String? {
        let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.count > 1 ? String(parts[1]) : ""
        guard let address = StreamAddress(app: String(parts.first ?? ""), streamName: name) else { return nil }
        if address.segments.contains(where: { $0.isEmpty }) { return "an empty segment" }
        if let key = address.key(app: "live"), key.isEmpty { return "an empty key" }
        for form in SignedKeyCheck.Form.allCases {
            let check = SignedKeyCheck(form: form, secrets: ["s3cr3t", "old"], room: "r", app: "live")
            // An HMAC cannot be guessed; success would mean that it is not checked.
            if case .valid = check.verdict(on: address, name: address.key(app: "live") ?? "", now: 1_700_000_000) {
                return "a key with a made-up signature is valid as \(form)"
            }
        }
        return nil
    }

    private static func address(_ text: String) -> String? {
        if let url = RTMPURL(text) {
            if !(1...65_535).contains(url.port) || url.host.isEmpty {
                return "an RTMP URL without a host or a valid port"
            }
        }
        if let address = IPAddress(text) {
            guard IPAddress(address.description) == address else {
                return "\(address) differs when it is written and read again"
            }
        }
        if let range = AddressRange(text) {
            guard AddressRange(range.description) == range else {
                return "\(range) differs when it is written and read again"
            }
        }
        if let pattern = HostPattern(text) { _ = pattern.allows(host: text, port: 443) }
        if let entry = EgressEntry(text) {
            guard EgressEntry(entry.description) == entry else {
                return "\(entry) differs when it is written and read again"
            }
        }
        if let target = EgressPolicy.Target(webhook: text) {
            guard (1...65_535).contains(target.port), !target.host.isEmpty else {
                return "a webhook target without a host or a valid port"
            }
            _ = EgressPolicy().refusal(of: target)
        }
        if let listen = try? ListenAddress(parsing: text) {
            guard (try? ListenAddress(parsing: listen.description)) == listen else {
                return "\(listen) differs when it is written and read again"
            }
        }
        if let date = ProgramDate.parse(text), date < 0 { return "a date before 1970" }
        return nil
    }

    private static func target(_ text: String) -> String? {
        guard let target = RequestTarget(parsing: text) else { return nil }
        if !target.path.hasPrefix("/") { return "a path without a root" }
        if target.path.utf8.contains(0) { return "a path with a NUL" }
        let directives = ReloadDirectives(query: target.query)
        if let number = directives.mediaSequence, number < 0 { return "a negative media sequence number" }
        if let part = directives.part, part < 0 { return "a negative part" }
        if directives.fault == nil, directives.part != nil, directives.mediaSequence == nil {
            return "a part without a segment is no fault"
        }
        return nil
    }
}
