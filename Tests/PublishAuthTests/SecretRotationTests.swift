import Foundation
import MediaTypes
import PipelineSpec
import PublishAuth
import RTMP
import Secrets
import Testing

@Suite("Replacing the secret of signed keys, step by step")
struct SecretRotationTests {
    private static let expiry: Int64 = 1_800_000_000

    /// A room that reads its secret file again, as it does when the file changes.
    private struct Room {
        let path: String
        var admission: Admission

        init(_ path: String) throws {
            self.path = path
            self.admission = Admission(app: "live", bindings: [])
            self.admission.signable = [SourceID(uid: "1001")]
            self.admission.signed = SignedKeyCheck(
                form: .hmac, secrets: try Secret.file(path).lines(place: "ingest.auth"), room: "r", app: "live")
            self.admission.isSingleUse = true
        }

        mutating func read(_ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: self.path))
            var next = try Room(self.path).admission
            next.isSingleUse = true
            self.admission.renew(from: next)
        }

        /// Whether a key that is issued with `secret` is accepted.
        mutating func accepts(_ secret: String, nonce: String) throws -> Bool {
            let key = try #require(
                IssuedKey(secret: secret, room: "r", source: "1001", expiry: SecretRotationTests.expiry, nonce: nonce))
            let address = try #require(StreamAddress(app: "live", streamName: key.streamKey))
            return self.admission.answer(to: address, now: 1_700_000_000) == .source(SourceID(uid: "1001"))
        }
    }

    @Test(
        "while both secrets are in the file, keys of both are accepted; after the old one is removed, its keys are not")
    func steps() throws {
        let path = NSTemporaryDirectory() + "rotation-\(UUID().uuidString)"
        try Data("old\n".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var room = try Room(path)
        func expect(_ room: inout Room, _ accepted: [(secret: String, nonce: String)], _ refused: [(String, String)])
            throws
        {
            for (secret, nonce) in accepted {
                let isAccepted = try room.accepts(secret, nonce: nonce)
                #expect(isAccepted, "\(secret) \(nonce)")
            }
            for (secret, nonce) in refused {
                let isAccepted = try room.accepts(secret, nonce: nonce)
                #expect(!isAccepted, "\(secret) \(nonce)")
            }
        }
        try expect(&room, [("old", "a")], [("new", "b")])
        // 1. The new secret is added as the second line: issuers go on with the first.
        try room.read("old\nnew\n")
        try expect(&room, [("old", "c"), ("new", "d")], [])
        // 2. Issuers sign with the new one; keys of the old one are still in use. A key that was used stays used.
        try room.read("new\nold\n")
        try expect(&room, [("new", "e"), ("old", "f")], [("old", "c")])
        // 3. The old one is removed.
        try room.read("new\n")
        try expect(&room, [("new", "g")], [("old", "h")])
    }

    @Test("an empty or placeholder secret file is not accepted; with its next content, keys that were used stay used")
    func emptyForAMoment() throws {
        let path = NSTemporaryDirectory() + "rotation-\(UUID().uuidString)"
        try Data("old\n".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var room = try Room(path)
        let isFirst = try room.accepts("old", nonce: "used")
        #expect(isFirst)
        for text in ["", "\n", "\n\n", "REPLACE-ME\n"] {
            var failure: MediaError?
            do { try room.read(text) } catch { failure = error as? MediaError }
            #expect(failure?.code == .notReadable || failure?.code == .rejected, "\(text.debugDescription)")
        }
        try room.read("new\nold\n")
        for (secret, nonce, isValid) in [("old", "used", false), ("old", "other", true), ("new", "another", true)] {
            let isAccepted = try room.accepts(secret, nonce: nonce)
            #expect(isAccepted == isValid, "\(secret) \(nonce)")
        }
    }
}
