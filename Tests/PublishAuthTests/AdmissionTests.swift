import PublishAuth
import MediaTypes
import PipelineSpec
import RTMP
import Testing

@Suite("Publish authorization")
struct AdmissionTests {
    static let host = SourceID(uid: "1001")
    static let screen = SourceID(uid: "1001", streamType: .sub)
    static let guest = SourceID(uid: "이용자 2")
    static let good = "1001?e=1800000000&n=n1&s=\(SignedKeyCheckTests.first)"

    static func admission() -> Admission {
        var admission = Admission(
            app: "live",
            bindings: [
                IngestBinding(source: Self.host, streamKey: "old"), IngestBinding(source: Self.host, streamKey: "new"),
                IngestBinding(source: Self.guest, streamKey: "b"),
            ])
        admission.signed = SignedKeyCheck(form: .hmac, secrets: ["first secret"], room: "88231", app: "live")
        admission.signable = [Self.host, Self.screen]
        return admission
    }

    static func source(_ admission: inout Admission, _ name: String, app: String = "live") throws -> SourceID? {
        let address = try #require(StreamAddress(app: app, streamName: name))
        guard case .source(let source) = admission.answer(to: address, now: 1_700_000_000) else { return nil }
        return source
    }

    @Test("each of a source's stream keys is accepted until it is removed, and only with the configured app")
    func rotation() throws {
        var admission = Self.admission()
        #expect(try Self.source(&admission, "old") == Self.host)
        #expect(try Self.source(&admission, "new") == Self.host)
        admission.bindings.removeFirst()
        #expect(try Self.source(&admission, "old") == nil)
        #expect(try Self.source(&admission, "new") == Self.host)
        admission.app = "pk"
        #expect(try Self.source(&admission, "new") == nil)
        #expect(try Self.source(&admission, "new", app: "pk") == Self.host)
    }

    @Test("a signed key is accepted only for the source and app that it names; static keys of other sources stay valid")
    func signed() throws {
        var admission = Self.admission()
        #expect(try Self.source(&admission, Self.good) == Self.host)
        #expect(try Self.source(&admission, Self.good.replacing("n1", with: "n2")) == nil)
        #expect(try Self.source(&admission, Self.good, app: "other") == nil)
        #expect(try Self.source(&admission, "1001") == nil, "a uid alone is not a key")
        #expect(try Self.source(&admission, "b?e=1&n=2&s=3") == Self.guest)
        admission.signable = [Self.screen]
        #expect(try Self.source(&admission, Self.good) == nil, "signed, but for a source of another room")
    }

    @Test("a new configuration replaces all keys of all sources; a single-use key that was used stays used")
    func renewed() throws {
        var admission = Self.admission()
        admission.isSingleUse = true
        #expect(try Self.source(&admission, Self.good) == Self.host)
        let third = SourceID(uid: "3003")
        var next = Admission(app: "live", bindings: [IngestBinding(source: third, streamKey: "c")])
        next.signed = SignedKeyCheck(form: .hmac, secrets: ["first secret"], room: "88231", app: "live")
        next.signable = [Self.host]
        next.open = [Self.screen]
        admission.renew(from: next)
        #expect(try Self.source(&admission, "c") == third)
        #expect(try Self.source(&admission, "b") == nil, "it is no longer the key of any source")
        #expect(try Self.source(&admission, Self.screen.description) == Self.screen)
        #expect(try Self.source(&admission, Self.good) == nil, "it was used before")
        #expect(admission.sources == [third, Self.host, Self.screen])
    }

    @Test("a signed key is valid repeatedly, and only once if single use is on")
    func singleUse() throws {
        var admission = Self.admission()
        #expect(try Self.source(&admission, Self.good) == Self.host)
        admission.isSingleUse = true
        #expect(try Self.source(&admission, Self.good) == Self.host)
        #expect(try Self.source(&admission, Self.good) == nil)
    }

    @Test("a single-use key becomes valid again if its publish fails; the failure of another key does not restore it")
    func givenBack() throws {
        var admission = Self.admission()
        admission.isSingleUse = true
        #expect(try Self.source(&admission, Self.good) == Self.host)
        for name in ["b", Self.good.replacing("n1", with: "n2"), "1001"] {
            admission.giveBack(try #require(StreamAddress(app: "live", streamName: name)), now: 1_700_000_000)
        }
        #expect(try Self.source(&admission, Self.good) == nil)
        admission.giveBack(try #require(StreamAddress(app: "live", streamName: Self.good)), now: 1_700_000_000)
        #expect(try Self.source(&admission, Self.good) == Self.host)
        #expect(try Self.source(&admission, Self.good) == nil)
    }

    @Test(
        "with single use, a Tencent or Alibaba key is the same key in upper and lower case; one with another time is another key",
        arguments: [
            (
                .tencent, "1001?txTime=6B49D200&txSecret=8f9d9a8c88763b3aec6211691f9ac5a4",
                "1001?txTime=6B49D200&txSecret=8F9D9A8C88763B3AEC6211691F9AC5A4", false
            ),
            (
                .alibaba, "1001?auth_key=1800000000-0-0-54e897b1afd89005ce7ec8ff62da8c25",
                "1001?auth_key=1800000000-0-0-54E897B1AFD89005CE7EC8FF62DA8C25", false
            ),
            (
                .alibaba, "1001?auth_key=1800000000-0-0-54e897b1afd89005ce7ec8ff62da8c25",
                "1001?auth_key=1800000001-0-0-421634af6b3f3111aff95446ed04fd7c", true
            ),
        ] as [(SignedKeyCheck.Form, String, String, Bool)])
    func singleUseForms(form: SignedKeyCheck.Form, first: String, second: String, isOther: Bool) throws {
        var admission = Self.admission()
        admission.signed = SignedKeyCheck(form: form, secrets: ["key"], room: "88231", app: "live")
        admission.isSingleUse = true
        #expect(try Self.source(&admission, first) == Self.host)
        #expect(try Self.source(&admission, second) == (isOther ? Self.host : nil))
    }

    @Test("a correctly signed but expired key is refused as expired, any other wrong key with one common code")
    func words() throws {
        var admission = Self.admission()
        func refusal(_ name: String, now: Int64) throws -> PublishRefusal? {
            let address = try #require(StreamAddress(app: "live", streamName: name))
            guard case .deny(let refusal, _) = admission.answer(to: address, now: now) else { return nil }
            return refusal
        }
        #expect(try refusal(Self.good, now: 1_900_000_000) == .expired)
        #expect(try refusal(Self.good + "x", now: 1_900_000_000) == .denied)
        #expect(try refusal("stranger", now: 0) == .denied)
        #expect(try refusal("1001/sub?e=1&n=2&s=3", now: 0) == .denied)
    }

    @Test("a source without a key, admitted by webhook, is named by the stream name, percent-encoded or not")
    func open() throws {
        var admission = Self.admission()
        admission.open = [Self.guest, Self.screen]
        #expect(try Self.source(&admission, "1001/sub?token=1") == Self.screen)
        #expect(try Self.source(&admission, "%EC%9D%B4%EC%9A%A9%EC%9E%90%202") == Self.guest)
        #expect(try Self.source(&admission, "1001") == nil)
        #expect(try Self.source(&admission, "%E") == nil)
    }

    @Test("if there is an allow list, only addresses in it may publish: IPv4, IPv6, and IPv4 mapped to IPv6")
    func allowList() throws {
        var admission = Self.admission()
        #expect(admission.allows(nil))
        admission.allowedAddresses = try ["10.0.0.0/8", "2001:db8::/32"].map { try #require(AddressRange($0)) }
        for (text, isAllowed) in [
            ("10.255.0.1", true), ("::ffff:10.0.0.1", true), ("11.0.0.1", false), ("2001:db8:1::9", true),
            ("2001:db9::", false), ("::a00:1", false),
        ] {
            #expect(admission.allows(IPAddress(text)) == isAllowed, "\(text)")
        }
        #expect(!admission.allows(nil))
    }

    @Test(
        "a client that offers authmod credentials is accepted with a valid key, and refused with an authmod error without one",
        arguments: [
            "authmod=adobe&user=anna", "authmod=llnw&user=anna",
            "authmod=adobe&user=anna&challenge=c2c2c2c2&response=b/64==&opaque=o",
        ])
    func login(query: String) throws {
        var admission = Self.admission()
        #expect(try Self.source(&admission, "b", app: "live?\(query)") == Self.guest)
        #expect(try Self.source(&admission, Self.good, app: "live?\(query)") == Self.host)
        for name in ["wrong", "1001?e=1800000000&n=n1&s=wrong"] {
            let address = try #require(StreamAddress(app: "live?\(query)", streamName: name))
            guard case .deny(let refusal, let reason) = admission.answer(to: address, now: 1_700_000_000) else {
                Issue.record("let in")
                return
            }
            #expect(refusal == .noLogin && refusal.code == PublishRefusal.denied.code)
            #expect(reason.hasSuffix(query.hasPrefix("authmod=adobe") ? "authmod=adobe" : "authmod=llnw"))
            #expect(!reason.contains("anna") && !reason.contains("c2c2"))
        }
        let unknown = try #require(StreamAddress(app: "live?authmod=other&user=anna", streamName: "wrong"))
        #expect(admission.answer(to: unknown, now: 0) == .deny(.denied, reason: "an unknown key"))
    }
}
