import PublishAuth
import MediaTypes
import RTMP
import Testing

@Suite("Hashed stream keys ($sha256$): accept the right key, do not reveal it")
struct HashedStreamKeyTests {
    private static let salt = "00112233445566778899aabbccddeeff"

    @Test("a hashed key accepts the key it was made from, and not the hash itself")
    func admits() throws {
        let sealed = HashedStreamKey.seal("secret-key", salt: Self.salt)
        #expect(!sealed.contains("secret-key"))
        #expect(HashedStreamKey.seal(sealed, salt: "ff") == sealed)
        let source = SourceID(uid: "1")
        let table = KeyTable(app: "live", bindings: [IngestBinding(source: source, streamKey: sealed)])
        func find(_ name: String) throws -> SourceID? {
            table.source(of: try #require(StreamAddress(app: "live", streamName: name)))
        }
        #expect(try find("secret-key") == source)
        #expect(try find("secret-key?x=1") == source)
        #expect(try find("secret-kez") == nil)
        #expect(try find(sealed) == nil)
    }

    @Test(
        "text that is not a complete $sha256$ hash is not read as a hashed stream key",
        arguments: [
            "", "a", "$sha256$", "$sha256$zz$00", "$sha256$00$00", "$sha256$$\(String(repeating: "0", count: 64))",
        ])
    func plain(text: String) { #expect(HashedStreamKey(text) == nil) }
}
