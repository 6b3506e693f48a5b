import PublishAuth
import RTMP
import Testing

@Suite("Signed keys")
struct SignedKeyCheckTests {
    static let expiry: Int64 = 1_800_000_000
    /// HMAC-SHA256 of `rtmp1|88231|1001|1800000000|n1`, by another implementation.
    static let first = "dyHoSYgbBJnqChPubkwCvSzsJERGFIusRg1e7sqiucI"
    static let second = "u5AEqSU2l3V1whKd_quuIQHBQrdC5QFrp4gYApv8gIw"

    static func verdict(
        _ form: SignedKeyCheck.Form, _ secrets: [String], _ query: String, name: String = "1001",
        room: String = "88231", now: Int64 = expiry - 60
    ) throws -> SignedKeyCheck.Verdict {
        let check = SignedKeyCheck(form: form, secrets: secrets, room: room, app: "live")
        let address = try #require(StreamAddress(app: "live", streamName: "\(name)?\(query)"))
        return check.verdict(on: address, name: name, now: now)
    }

    @Test("a key signed with HMAC-SHA256 is accepted for each secret, with and without base64 padding")
    func hmac() throws {
        let valid = SignedKeyCheck.Verdict.valid(nonce: "n1", expiry: Self.expiry)
        let secrets = ["first secret", "second"]
        for signature in [Self.first, Self.first + "=", Self.second] {
            #expect(try Self.verdict(.hmac, secrets, "e=1800000000&n=n1&s=\(signature)") == valid)
        }
        #expect(try Self.verdict(.hmac, ["first secret"], "e=1800000000&n=n1&s=\(Self.second)") == .wrong)
    }

    @Test("a change in any signed field or the signature makes a signed key wrong")
    func changed() throws {
        let secrets = ["first secret"]
        let good = "e=1800000000&n=n1&s=\(Self.first)"
        #expect(try Self.verdict(.hmac, secrets, good, name: "1002") == .wrong)
        #expect(try Self.verdict(.hmac, secrets, good, room: "88232") == .wrong)
        #expect(try Self.verdict(.hmac, secrets, "e=1800000001&n=n1&s=\(Self.first)") == .wrong)
        #expect(try Self.verdict(.hmac, secrets, "e=1800000000&n=n2&s=\(Self.first)") == .wrong)
        #expect(try Self.verdict(.hmac, secrets, "e=1800000000&n=n1&s=\(Self.first.dropLast())") == .wrong)
        #expect(try Self.verdict(.hmac, secrets, "e=1800000000&n=n1&s=") == .wrong)
        #expect(try Self.verdict(.hmac, secrets, "e=1800000000&s=\(Self.first)") == .absent)
        #expect(try Self.verdict(.hmac, [""], good) == .wrong, "an empty secret signs nothing")
        #expect(try Self.verdict(.hmac, [], good) == .wrong)
    }

    @Test("a signed key is accepted until 30 s after its expiry time; with a wrong signature it is wrong, not expired")
    func expiry() throws {
        let good = "e=1800000000&n=n1&s=\(Self.first)"
        for (now, isValid) in [(Self.expiry + 30, true), (Self.expiry + 31, false), (0, true)] {
            let verdict = try Self.verdict(.hmac, ["first secret"], good, now: now)
            #expect(verdict == (isValid ? .valid(nonce: "n1", expiry: Self.expiry) : .expired))
        }
        #expect(try Self.verdict(.hmac, ["second"], good, now: .max) == .wrong)
    }

    @Test("Tencent's form: the documentation's key is accepted with MD5 or SHA-256; malformed ones are wrong")
    func tencent() throws {
        let secret = "e12c46f2612d5106e2034781ab261ca3"
        let md5 = "f85a2ab363fe4deaffef9754d79da6fe"
        let sha256 = "2fe51d13bff48deaddd7e4e086265e69d5a04a64db9a2cbc737bd585c472fd07"
        for digest in [md5, sha256, md5.uppercased()] {
            let verdict = try Self.verdict(
                .tencent, [secret], "txSecret=\(digest)&txTime=5C271099", name: "test", now: 1_546_064_025)
            #expect(verdict == .valid(nonce: digest.lowercased(), expiry: 1_546_064_025))
        }
        for query in ["txSecret=\(md5)&txTime=5c271099", "txSecret=\(md5)&txTime=", "txSecret=&txTime=5C271099"] {
            #expect(try Self.verdict(.tencent, [secret], query, name: "test") == .wrong)
        }
        #expect(
            try Self.verdict(.tencent, [secret], "txSecret=\(md5)&txTime=5C271099", name: "test", now: 1_546_064_056)
                == .expired)
    }

    @Test("Tencent's form: moving digits from the stream name to the expiry makes the key wrong")
    func tencentNames() throws {
        // MD5 of `key10016B49D200`, by another implementation.
        let digest = "txSecret=8f9d9a8c88763b3aec6211691f9ac5a4"
        let valid = SignedKeyCheck.Verdict.valid(nonce: String(digest.dropFirst(9)), expiry: Self.expiry)
        #expect(try Self.verdict(.tencent, ["key"], digest + "&txTime=6B49D200") == valid)
        #expect(try Self.verdict(.tencent, ["key"], digest + "&txTime=16B49D200", name: "100") == .wrong)
        #expect(try Self.verdict(.tencent, ["key"], digest + "&txTime=016B49D200", name: "10") == .wrong)
        #expect(try Self.verdict(.tencent, ["key"], digest + "&txTime=B49D200", name: "10016") == .expired)
    }

    @Test("Alibaba's form: a key is valid for 24 hours and 30 s from the time of signing that it contains")
    func alibaba() throws {
        let good = "auth_key=1800000000-0-0-54e897b1afd89005ce7ec8ff62da8c25"
        let valid = SignedKeyCheck.Verdict.valid(nonce: "1800000000-0-0", expiry: Self.expiry + 86_400)
        #expect(try Self.verdict(.alibaba, ["key"], good) == valid)
        #expect(try Self.verdict(.alibaba, ["key"], good, now: Self.expiry + 86_431) == .expired)
        #expect(try Self.verdict(.alibaba, ["key"], good.replacing("-0-0-", with: "-1-0-")) == .wrong)
        #expect(try Self.verdict(.alibaba, ["key"], "auth_key=1800000000") == .wrong)
        #expect(try Self.verdict(.alibaba, ["key"], "auth_key=") == .wrong)
        #expect(try Self.verdict(.alibaba, ["key"], "e=1") == .absent)
    }

    @Test("neither a description nor a dump of the check shows a secret")
    func hidden() {
        let check = SignedKeyCheck(form: .hmac, secrets: ["hunter2"], room: "r", app: "live")
        var dumped = ""
        dump(check, to: &dumped)
        #expect(!"\(check) \(dumped) \(String(reflecting: check))".contains("hunter2"))
    }

    @Test("a signed key with a random query is wrong or absent in each form, without a trap")
    func anything() throws {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("0123456789abcdefxyz-_=&?%+")
        for _ in 0..<2000 {
            func text() -> String {
                String(
                    (0..<Int.random(in: 0...24, using: &random)).map { _ in
                        alphabet.randomElement(using: &random) ?? "0"
                    })
            }
            for form in SignedKeyCheck.Form.allCases {
                let query = "e=\(text())&n=\(text())&s=\(text())&txSecret=\(text())&txTime=\(text())&auth_key=\(text())"
                let verdict = try Self.verdict(form, ["k"], query)
                #expect(verdict == .wrong || verdict == .absent)
            }
        }
    }
}

@Suite("UsedKeyStore: single-use keys that were used")
struct NonceStoreTests {
    static func expect(
        _ store: inout UsedKeyStore, _ isNew: Bool, _ nonce: String, expiry: Int64, now: Int64,
        at place: SourceLocation = #_sourceLocation
    ) {
        let wasTaken = store.take(nonce, expiry: expiry, now: now)
        #expect(wasTaken == isNew, sourceLocation: place)
    }

    @Test("the store of used keys accepts a single-use key once")
    func once() {
        var store = UsedKeyStore()
        Self.expect(&store, true, "a", expiry: 10, now: 0)
        Self.expect(&store, false, "a", expiry: 10, now: 5)
        Self.expect(&store, true, "b", expiry: 10, now: 5)
    }

    @Test("a full store of used keys refuses further keys until some of its keys have expired")
    func full() {
        var store = UsedKeyStore()
        for index in 0..<UsedKeyStore.maximumCount { Self.expect(&store, true, "\(index)", expiry: 10, now: 0) }
        Self.expect(&store, false, "more", expiry: 20, now: 10)
        Self.expect(&store, true, "more", expiry: 20, now: 11)
        Self.expect(&store, false, "more", expiry: 20, now: 12)
    }
}
