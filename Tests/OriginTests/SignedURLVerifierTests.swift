import Origin
import Testing

@Suite("Signed URLs for viewers")
struct SignedURLVerifierTests {
    private static let now: Int64 = 1_800_000_000

    private static func gate(_ secrets: [String] = ["s3cret"], room: String = "88231", now: Int64 = now)
        -> SignedURLVerifier
    {
        SignedURLVerifier(room: room, secrets: secrets) { now }
    }

    private static func pairs(_ query: String) -> [(name: String, value: String)] {
        query.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1).map(String.init)
            return (parts[0], parts.count > 1 ? parts[1].replacing("%2F", with: "/") : "")
        }
    }

    @Test("a viewers' URL is signed with the HMAC-SHA256 of `tandem-playback`, room, scope and expiry, one per line")
    func known() {
        // printf 'tandem-playback\n88231\n/\n1800003600' | openssl dgst -sha256 -hmac s3cret
        #expect(
            Self.gate().query(scope: "/", seconds: 3600)
                == "exp=1800003600&sig=1aabf9c347e9f035d75ca8a2a518d5216cdd1aae4f0b1b317621430ed0c09926")
    }

    @Test("neither a description nor a dump of the verifier shows a secret")
    func hidden() {
        let gate = Self.gate(["hunter2"])
        var dumped = ""
        dump(gate, to: &dumped)
        let shown = "\(gate) \(dumped) \(String(reflecting: gate))"
        #expect(shown.contains("88231") && !shown.contains("hunter2") && !shown.contains("\(Array("hunter2".utf8))"))
        #expect(!dumped.contains("104"), "nor the bytes of one")
    }

    @Test("a signature is valid for its path prefix until its expiry, with each secret, beside other parameters")
    func open() {
        let all = Self.pairs(Self.gate().query(scope: "/", seconds: 60))
        let gate = Self.gate(["new", "s3cret"])
        #expect(gate.verdict(path: "/index.m3u8", query: all) == .open)
        #expect(gate.verdict(path: "/720p-1-4.m4s", query: all + [("_HLS_msn", "4")]) == .open)
        let one = Self.pairs(Self.gate().query(scope: "/360p", seconds: 60))
        #expect(gate.verdict(path: "/360p.m3u8", query: one) == .open)
        #expect(gate.verdict(path: "/720p.m3u8", query: one) == .elsewhere)
        #expect(Self.gate(now: Self.now + 60).verdict(path: "/index.m3u8", query: all) == .expired)
        #expect(Self.gate(room: "1").verdict(path: "/index.m3u8", query: all) == .forged)
        #expect(Self.gate(["new"]).verdict(path: "/index.m3u8", query: all) == .forged)
    }

    @Test("new secrets replace the old ones in every copy of the verifier")
    func renewed() {
        let gate = Self.gate(["old"])
        let copy = gate
        let before = Self.pairs(gate.query(scope: "/", seconds: 60))
        let after = Self.pairs(Self.gate(["new"]).query(scope: "/", seconds: 60))
        #expect(copy.verdict(path: "/a", query: before) == .open && copy.verdict(path: "/a", query: after) == .forged)
        gate.renew(secrets: ["new", "old"])
        #expect(copy.verdict(path: "/a", query: before) == .open && copy.verdict(path: "/a", query: after) == .open)
        gate.renew(secrets: ["new"])
        #expect(copy.verdict(path: "/a", query: before) == .forged && copy.verdict(path: "/a", query: after) == .open)
        #expect(Self.pairs(copy.query(scope: "/", seconds: 60)).map(\.value) == after.map(\.value))
    }

    @Test("signed URLs with a missing, repeated or changed parameter are refused")
    func forged() {
        var generator = SystemRandomNumberGenerator()
        let gate = Self.gate()
        let good = Self.pairs(gate.query(scope: "/a", seconds: 60))
        for index in good.indices {
            var query = good
            query.remove(at: index)
            // Without its scope it would be valid for everything.
            #expect(gate.verdict(path: "/a", query: query) == (good[index].name == "scope" ? .forged : .unsigned))
            #expect(gate.verdict(path: "/a", query: good + [good[index]]) == .unsigned)
        }
        for _ in 0..<10_000 {
            var query = good
            let index = Int.random(in: 0..<query.count, using: &generator)
            var bytes = Array(query[index].value.utf8)
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            let byte = UInt8.random(in: 0x21...0x7E, using: &generator)
            // The same value in other digits is the same signature.
            guard Character(Unicode.Scalar(byte)).lowercased() != Character(Unicode.Scalar(bytes[place])).lowercased()
            else { continue }
            bytes[place] = byte
            query[index].value = String(decoding: bytes, as: UTF8.self)
            let verdict = gate.verdict(path: "/a", query: query)
            #expect(verdict == .forged || verdict == .unsigned, "\(query)")
        }
    }
}
