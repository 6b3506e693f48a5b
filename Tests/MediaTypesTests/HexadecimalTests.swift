import MediaTypes
import Testing

@Suite("Hexadecimal digits: RFC 4648 §8")
struct HexadecimalTests {
    @Test("every byte is written in hexadecimal digits and read back, and digits of either case are read")
    func bytes() {
        let all = (0...255).map { UInt8($0) }
        let text = Hexadecimal.text(all)
        #expect(text.hasPrefix("000102030405060708090a0b0c0d0e0f10") && text.hasSuffix("fdfeff"))
        #expect(Hexadecimal.encode(all) == Array(text.utf8))
        #expect(Hexadecimal.decode(text) == all && Hexadecimal.decode(text.uppercased()) == all)
        #expect(Hexadecimal.text([]) == "" && Hexadecimal.decode("") == [])
    }

    @Test(
        "hexadecimal text with an invalid digit or half a byte is refused",
        arguments: [
            "0", "000", "0g", "0x00", "+1", "-1", " 00", "00 ", "0/", "0:", "0@", "0`", "0G", "é", "０0", "\0\0",
        ])
    func refused(text: String) { #expect(Hexadecimal.decode(text) == nil) }
}
