import Glibc
import HTTPProbe
import MediaTypes
import Testing

import TLSFiles

@Suite("Certificate files: accepted, refused, renewed")
struct CertificateStoreTests {
    /// Two pairs in a temporary directory: a.crt, a.key for 30 days, b.crt, b.key for 60 days.
    private static func withPairs(_ body: (String) throws -> Void) throws {
        try CertificateMaker.require()
        let holder = try TemporaryDirectory()
        for name in ["a", "b"] {
            try CertificateMaker.make(
                certificate: "\(holder.path)/\(name).crt", key: "\(holder.path)/\(name).key", name: name,
                days: name == "a" ? 30 : 60)
        }
        try body(holder.path)
        for name in ["a.crt", "a.key", "b.crt", "b.key"] { unlink("\(holder.path)/\(name)") }
        holder.remove()
    }

    private static func files(_ directory: String, _ certificate: String = "a.crt", _ key: String = "a.key")
        -> CertificateFiles
    {
        CertificateFiles(certificate: "\(directory)/\(certificate)", key: "\(directory)/\(key)")
    }

    @Test("a valid certificate and key are accepted, and the certificate's validity is compared with a given time")
    func good() throws {
        try Self.withPairs { directory in
            let store = try CertificateStore(Self.files(directory), place: "viewer")
            let now = Int64(time(nil))
            #expect(store.current.validUntil - now > 29 * 86_400)
            #expect(store.current.timeProblem(now: now) == nil)
            #expect(store.current.timeProblem(now: now + 31 * 86_400) == "the certificate has expired")
            #expect(store.current.timeProblem(now: now - 86_400) == "the certificate is not valid yet")
            #expect(store.check() == .unchanged)
        }
    }

    @Test(
        "a missing certificate file, one of another kind, or a key of another certificate is refused with the reason",
        arguments: [
            ("a.crt", "b.key", "does not belong to"), ("none.crt", "a.key", "No such file"),
            ("a.crt", "none.key", "No such file"), ("a.key", "a.key", "certificate"),
            ("a.crt", "a.crt", "not a PEM file with a private key"),
        ])
    func bad(certificate: String, key: String, what: String) throws {
        try Self.withPairs { directory in
            let error = #expect(throws: MediaError.self) {
                try CertificateStore(Self.files(directory, certificate, key), place: "viewer")
            }
            #expect(error?.what.contains(what) == true, "\(error?.what ?? "")")
            #expect(error?.place == "viewer")
        }
    }

    @Test(
        "a renewed certificate and key are loaded; while only one of both is new, the old pair is in use and one error is reported"
    )
    func renewal() throws {
        try Self.withPairs { directory in
            let store = try CertificateStore(Self.files(directory), place: "viewer")
            let old = store.current.validUntil
            rename("\(directory)/b.crt", "\(directory)/a.crt")
            #expect(store.check() == .unchanged, "the key may still be written")
            #expect(store.current.validUntil == old)
            guard case .refused(let error) = store.check() else {
                Issue.record("a pair that does not match was accepted")
                return
            }
            #expect(error.what.contains("does not belong to"))
            #expect(store.check() == .unchanged, "told once")
            guard case .refused = store.reload() else {
                Issue.record("a reload on request reports its result each time")
                return
            }
            #expect(store.current.validUntil == old)
            rename("\(directory)/b.key", "\(directory)/a.key")
            #expect(store.check() == .renewed(validUntil: store.current.validUntil))
            let new = store.current.validUntil
            #expect(new > old)
            #expect(store.check() == .unchanged)
            unlink("\(directory)/a.key")
            #expect(store.check() == .unchanged)
            guard case .refused(let missing) = store.check() else {
                Issue.record("a missing key was not reported")
                return
            }
            #expect(missing.code == .notReadable)
            #expect(store.current.validUntil == new)
        }
    }
}
