import MediaTypes
import Testing

@Suite("Base64: RFC 4648 §4")
struct Base64Tests {
    @Test("Base64 is written with padding and read with or without it; invalid text is refused")
    func bytes() {
        for (plain, coded) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            #expect(Base64.encode(Array(plain.utf8)) == coded)
            #expect(Base64.decode(coded) == Array(plain.utf8))
            #expect(Base64.decode(coded.filter { $0 != "=" }) == Array(plain.utf8), "padding may be left out")
        }
        let all = (0..<256).map { UInt8($0) }
        #expect(Base64.decode(Base64.encode(all)) == all)
        for wrong in ["Z", "Zg=", "Zm9v!", "Zg==Zg==", "====", "="] { #expect(Base64.decode(wrong) == nil, "\(wrong)") }
    }
}
