import MediaTypes
import WebRTC

/// Data that WHIP clients, WHEP viewers and others send before any media: offers, fragments, connectivity checks, framed
/// packets, requests.
///
/// Input: selector (1 byte), then its bytes.
enum WebRTCCase {
    static let entry = FuzzCase(
        "webrtc", longest: 6500, mutate: WebRTCMutator.mutate, seeds: Self.seeds, run: Self.run)

    static let settings = AnswerSettings(
        credentials: ICECredentials(ufrag: "OekIMsK/", password: "aPHokNaddphe2WuFEurJcfFL"),
        fingerprint: SDPFingerprint(algorithm: "sha-256", bytes: [UInt8](repeating: 0xA5, count: 32)),
        candidates: [.init(address: "192.0.2.2", port: 21150), .init(address: "192.0.2.2", port: 21150, isTCP: true)],
        sessionID: 1)

    static func seeds() -> [(name: String, bytes: [UInt8])] {
        let folder = FuzzFiles.tests + "/WebRTCTests/Offers"
        let offers = FuzzFiles.names(folder).filter { $0.hasSuffix(".sdp") }.map {
            (name: "offer.\($0)", bytes: [0] + FuzzFiles.bytes("\(folder)/\($0)"))
        }
        let restart = FuzzFiles.bytes(FuzzFiles.tests + "/WebRTCTests/Golden/restart.sdpfrag")
        let requests = [
            "POST /whip/live/key?a=b\nBearer k\n\"e\"\napplication/sdp\nhttps://a.example\nv=0",
            "DELETE /whip/~/00112233445566778899aabbccddeeff\nk\n\n\n\n",
            "PATCH /whip/~/00112233445566778899aabbccddeeff\nk\n\"e\"\napplication/trickle-ice-sdpfrag\n\na=candidate:1",
            "PATCH /whip/~/00112233445566778899aabbccddeeff\nk\n*\napplication/trickle-ice-sdpfrag\n\n"
                + "a=ice-ufrag:abcd\na=ice-pwd:0123456789012345678901",
            "OPTIONS /whip/live%2f\n\n\n\nhttps://a.example\nx", "PUT /whip//live/%zz\n\n\n\n\n",
        ]
        let viewers = offers.map { ("viewer.\($0.name)", [5] + ViewerOffers.recvonly(Array($0.bytes.dropFirst()))) }
        return offers + viewers + [("fragment", [1] + restart)] + Self.checkSeeds()
            + [("framed", [3, 9, 0, 3, 1, 2, 3, 0, 0, 0, 1, 7, 0x10, 1])]
            + requests.enumerated().map { ("request.\($0.offset)", [4] + Array($0.element.utf8)) }
            + ViewerOffers.requests.enumerated().map { ("viewing.\($0.offset)", [6] + Array($0.element.utf8)) }
    }

    static func run(_ bytes: [UInt8]) -> String? {
        let rest = Array(bytes.dropFirst())
        switch (bytes.first ?? 0) % 7 {
        case 0: return Self.offer(rest)
        case 1: return Self.fragment(rest)
        case 2: return Self.checks(rest)
        case 3: return Self.framed(rest)
        case 5: return ViewerOffers.check(rest)
        case 6: return ViewerOffers.request(rest)
        default: return Self.request(rest)
        }
    }

    private static func fragment(_ bytes: [UInt8]) -> String? {
        guard let fragment = try? SDPFragment(parsing: bytes) else { return nil }
        guard let credentials = fragment.credentials else {
            return fragment.candidates > 0 || fragment.endsCandidates ? nil : "a fragment without content"
        }
        return ICECredentials.isUfrag(credentials.ufrag) && ICECredentials.isPassword(credentials.password)
            ? nil : "credentials of a wrong form"
    }

    /// The same packets for any split. Input: size of the pieces (1 byte), bytes.
    private static func framed(_ bytes: [UInt8]) -> String? {
        let size = max(1, Int(bytes.first ?? 1))
        let rest = Array(bytes.dropFirst())
        func packets(_ size: Int) -> (packets: [[UInt8]], end: FramedStream.Next, most: Int) {
            var (stream, found, end, most) = (FramedStream(), [[UInt8]](), FramedStream.Next.needsBytes, 0)
            for start in stride(from: 0, to: rest.count, by: size) {
                stream.append(rest[start..<min(start + size, rest.count)])
                end = stream.next()
                while case .packet(let packet) = end {
                    found.append(packet)
                    end = stream.next()
                }
                most = max(most, stream.count)
            }
            return (found, end, most)
        }
        let (whole, pieces) = (packets(max(1, rest.count)), packets(size))
        if whole.packets != pieces.packets || whole.end != pieces.end { return "other packets in other pieces" }
        if pieces.most > FramedStream.largestPacket + 2 + size { return "\(pieces.most) bytes are buffered" }
        for packet in whole.packets where packet.isEmpty || packet.count > FramedStream.largestPacket {
            return "a packet of \(packet.count) bytes"
        }
        return nil
    }

    /// Input: method and target, authorization, If-Match, type, origin in a line each, then the body.
    private static func request(_ bytes: [UInt8]) -> String? {
        let lines = bytes.split(separator: 0x0A, maxSplits: 5, omittingEmptySubsequences: false)
        func text(_ index: Int) -> String? {
            lines.count > index && !lines[index].isEmpty ? String(decoding: lines[index], as: UTF8.self) : nil
        }
        let words = (text(0) ?? "").split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let request = WHIPRequest(
            method: String(words[0]), path: String(target[0]), query: target.count > 1 ? String(target[1]) : nil,
            contentType: text(3), authorization: text(1), ifMatch: text(2), origin: text(4),
            requestedMethod: text(4).map { _ in "POST" }, body: lines.count > 5 ? Array(lines[5]) : [])
        let endpoint = WHIPRequests(settings: WHIPSettings(app: "live", iceServers: [.init(url: "stun:s")]))
        let state = WHIPSessionState(etag: "\"e\"", remoteUfrag: "abcd", key: "k")
        switch endpoint.decision(on: request, session: { $0.hasPrefix("0") ? state : nil }) {
        case .other: return request.path.hasPrefix("/whip/") ? "a path below /whip/ is not handled" : nil
        case .publish(let key, _, _):
            return key.isEmpty || key.utf8.count > 512 || request.method != "POST"
                ? "a publisher without a valid key or with another method than POST" : nil
        case .delete, .restart:
            let isKnown = text(1)?.split(separator: " ").last == "k"
            return isKnown ? nil : "a session is changed without its key"
        case .reply(let reply):
            for field in reply.fields
            where (field.name + field.value).utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
                return "\(field.name) contains a line end"
            }
            guard reply.status >= 400 else { return reply.status == 204 ? nil : "status \(reply.status)" }
            let root = JSONParser.parse(Array(reply.body.utf8)).root
            return root?[key: "fix"]?.string?.isEmpty == false ? nil : "a refusal without a remedy"
        }
    }
}
