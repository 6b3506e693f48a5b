import Testing

import MediaTypes

@Suite("Listen address: HOST:PORT, [IPV6]:PORT, unix:/path")
struct ListenAddressTests {
    @Test(
        "a parsed listen address is printed as it was written",
        arguments: [
            "127.0.0.1:8080", "0.0.0.0:0", "localhost:1935", "[::1]:8080", "[fe80::1%eth0]:65535",
            "room-1.example_2:80",
            "unix:/run/tandem/control.sock",
        ])
    func roundTrip(text: String) throws {
        #expect(try ListenAddress(parsing: text).description == text)
    }

    @Test(
        "the error for a malformed listen address says how to correct it",
        arguments: [
            ("8080", "127.0.0.1:8080"), ("localhost", "localhost:8080"), ("", "127.0.0.1:8080"),
            (":8080", "0.0.0.0:8080"), ("::1:80", "[::1]:8080"), ("[::1:80", "[::1]:8080"), ("[abc]:80", "[::1]:8080"),
            ("127.0.0.1:", "0 for any free port"), ("127.0.0.1:65536", "1 to 65535"), ("127.0.0.1:+80", "1 to 65535"),
            ("127.0.0.1:-1", "1 to 65535"), ("host name:80", "127.0.0.1:80"), ("http://127.0.0.1:80", "brackets"),
            ("unix:", "unix:/run"), ("unix:relative.sock", "unix:/run"), ("unix:/", "unix:/run"),
            ("unix:/dir/", "unix:/run"),
            ("unix:/" + String(repeating: "a", count: 107), "shorter"),
        ])
    func mistakes(text: String, remedy: String) {
        let mistake = #expect(throws: ListenAddress.Malformed.self) { try ListenAddress(parsing: text) }
        #expect(mistake?.fix.contains(remedy) == true, "\(String(describing: mistake))")
    }

    @Test("an IPv6 listen address without a port is refused, and the remedy shows it with a port")
    func noPort() {
        let mistake = #expect(throws: ListenAddress.Malformed.self) { try ListenAddress(parsing: "[fe80::1%eth0]") }
        #expect(mistake?.what == "\"[fe80::1%eth0]\" has no port" && mistake?.fix == "write [fe80::1%eth0]:8080")
    }

    @Test(
        "only 127.0.0.0/8, localhost, ::1 and Unix sockets count as loopback listen addresses",
        arguments: [
            ("127.0.0.1:1", true), ("127.255.3.4:1", true), ("localhost:1", true), ("LOCALHOST:1", true),
            ("[::1]:1", true),
            ("unix:/a", true), ("0.0.0.0:1", false), ("[::]:1", false), ("127.evil.example:1", false),
            ("127.0.0.999:1", false),
            ("127.0.0.1.example:1", false), ("localhost.example:1", false), ("192.168.0.1:1", false),
        ])
    func loopback(text: String, expected: Bool) throws {
        #expect(try ListenAddress(parsing: text).isLoopback == expected)
    }

    @Test(
        "the URL of a listen address has the bound port, and 127.0.0.1 or ::1 if the address is a wildcard",
        arguments: [
            ("0.0.0.0:0", "http://127.0.0.1:4321"), ("[::]:0", "http://[::1]:4321"),
            ("10.0.0.7:0", "http://10.0.0.7:4321"),
            ("[::1]:0", "http://[::1]:4321"), ("unix:/run/a.sock", "unix:/run/a.sock"),
        ])
    func urls(text: String, expected: String) throws {
        #expect(try ListenAddress(parsing: text).url(scheme: "http", boundPort: 4321) == expected)
    }
}
