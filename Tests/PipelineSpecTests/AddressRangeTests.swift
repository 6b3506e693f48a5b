import PipelineSpec
import Testing

@Suite("IP addresses and address ranges")
struct AddressRangeTests {
    @Test(
        "an IP address in any notation is written in the form of RFC 5952, an IPv4-mapped one as IPv4",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::", "::"),
            ("::1", "::1"), ("1::", "1::"), ("2001:DB8:0:0:8:0:0:1", "2001:db8::8:0:0:1"),
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("fe80::1%eth0", "fe80::1"),
            ("::ffff:192.0.2.1", "192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
            ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ])
    func addresses(text: String, written: String) {
        #expect(IPAddress(text)?.description == written)
    }

    @Test(
        "invalid addresses are refused",
        arguments: [
            "", ":", ":::", "1:", ":1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.+4", "::1::2",
            "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8:9", "12345::", "g::", "::1.2.3", "1.2.3.4::",
            "localhost", "[::1]", "::-1", " 1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4",
        ])
    func noAddresses(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(
        "an address range contains exactly the addresses with its prefix; ::/0 also contains IPv4 addresses",
        arguments: [
            ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.0.0.0", false), ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.6", false), ("0.0.0.0/0", "1.2.3.4", true), ("0.0.0.0/0", "::1", false),
            ("::/0", "1.2.3.4", true), ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/127", "2001:db8::1", true), ("2001:db8::/127", "2001:db8::2", false),
            ("2001:db8::/65", "2001:db8::8000:0:0:0", false), ("10.9.9.9/8", "10.1.1.1", true),
            ("::ffff:10.0.0.0/104", "10.4.4.4", true),
        ])
    func ranges(range: String, address: String, isInside: Bool) throws {
        let address = try #require(IPAddress(address))
        #expect(AddressRange(range)?.contains(address) == isInside)
    }

    @Test(
        "invalid address ranges are refused",
        arguments: ["", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/+8", "10.0.0.0/8/8", "fe80::1%eth0/64"])
    func noRanges(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test(
        "an address range is written with its host bits cleared, and an IPv4 range of /32 without prefix length",
        arguments: [("10.9.9.9/8", "10.0.0.0/8"), ("1.2.3.4/32", "1.2.3.4")])
    func written(text: String, as written: String) {
        #expect(AddressRange(text)?.description == written)
    }
}
