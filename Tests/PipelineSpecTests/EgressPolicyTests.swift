import MediaTypes
import PipelineSpec
import Testing

@Suite("Hosts that requests may make a room connect to: control.egress.allowedHosts")
struct EgressPolicyTests {
    @Test(
        "an address in any notation is classified as global, local, or link-local with cloud metadata services",
        arguments: [
            ("93.184.216.34", .global), ("2606:2800:220:1::1", .global), ("172.15.0.1", .global),
            ("172.32.0.1", .global), ("100.63.0.1", .global), ("100.128.0.1", .global),
            ("127.0.0.1", .local), ("127.9.9.9", .local), ("::1", .local), ("0.0.0.0", .local), ("::", .local),
            ("10.1.2.3", .local), ("172.16.0.1", .local), ("172.31.255.255", .local), ("192.168.1.1", .local),
            ("100.64.0.1", .local), ("fd12::1", .local), ("fec0::1", .local), ("224.0.0.1", .local),
            ("255.255.255.255", .local), ("ff02::1", .local), ("2001:db8::1", .local),
            ("169.254.169.254", .linkLocal), ("169.254.0.1", .linkLocal), ("fe80::1", .linkLocal),
            ("fe80::1%eth0", .linkLocal), ("168.63.129.16", .linkLocal), ("100.100.100.200", .linkLocal),
            ("fd00:ec2::254", .linkLocal), ("fd20:ce::254", .linkLocal), ("192.0.0.192", .linkLocal),
            // IPv4 within IPv6: mapped, compatible, NAT64 and 6to4.
            ("::ffff:127.0.0.1", .local), ("::ffff:7f00:1", .local), ("::127.0.0.1", .local),
            ("64:ff9b::10.0.0.1", .local), ("2002:7f00:1::", .local), ("::ffff:93.184.216.34", .global),
            ("::ffff:169.254.169.254", .linkLocal), ("::a9fe:a9fe", .linkLocal),
            ("64:ff9b::169.254.169.254", .linkLocal), ("2002:a9fe:a9fe::1", .linkLocal),
            ("64:ff9b::93.184.216.34", .global),
        ] as [(String, IPAddress.Reach)])
    func reach(text: String, reach: IPAddress.Reach) throws {
        #expect(try #require(IPAddress(text)).reach == reach, "\(text)")
    }

    private static func target(_ host: String, _ port: Int, _ defaultPort: Int = 1935) -> EgressPolicy.Target {
        EgressPolicy.Target(host: host, port: port, defaultPort: defaultPort)
    }

    @Test(
        "an allowedHosts entry allows a host by name and port or by its resolved address, and never a link-local address",
        arguments: [
            // The default.
            (["public"], "cdn.example", 1935, "93.184.216.34", true),
            (["public"], "cdn.example", 9, "2606:2800::1", true),
            (["public"], "cdn.example", 1935, "127.0.0.1", false), (["public"], "localhost", 1935, "::1", false),
            (["public"], "cdn.example", 1935, "10.0.0.1", false), ([], "cdn.example", 1935, "93.184.216.34", false),
            // Ranges, at any port; a form that the resolver reads as an address is checked as that address.
            (["127.0.0.0/8"], "127.0.0.1", 4000, "127.0.0.1", true), (["127.0.0.0/8"], "localhost", 1, "::1", false),
            (["127.0.0.0/8"], "2130706433", 80, "127.0.0.1", true), (["public"], "0177.0.0.1", 80, "127.0.0.1", false),
            (["127.0.0.0/8", "::1/128"], "localhost", 1, "::1", true), (["10.0.0.0/8"], "a", 1, "10.9.9.9", true),
            (["10.0.0.0/8"], "a", 1, "11.0.0.1", false),
            // Hosts: without a port the scheme's default.
            (["10.0.0.7"], "10.0.0.7", 1935, "10.0.0.7", true), (["10.0.0.7"], "10.0.0.7", 6379, "10.0.0.7", false),
            (["10.0.0.7:*"], "10.0.0.7", 6379, "10.0.0.7", true), (["10.0.0.7:80"], "x", 80, "10.0.0.7", true),
            (["[fd12::1]:1936"], "fd12::1", 1936, "fd12::1", true),
            (["relay.lan"], "relay.lan", 1935, "10.0.0.7", true),
            (["relay.lan"], "RELAY.lan", 1935, "10.0.0.7", true), (["relay.lan"], "other.lan", 1935, "10.0.0.7", false),
            (["relay.lan:1936"], "relay.lan", 1935, "10.0.0.7", false),
            // A wildcard allows global addresses only, since others may control names below the domain.
            (["*.cdn.example"], "a.cdn.example", 1935, "93.184.216.34", true),
            (["*.cdn.example"], "a.cdn.example", 1935, "127.0.0.1", false),
            (["*.cdn.example", "127.0.0.0/8"], "a.cdn.example", 1935, "127.0.0.1", true),
            // Never allowed, for any entries.
            (["0.0.0.0/0", "::/0"], "a", 80, "169.254.169.254", false),
            (["169.254.169.254"], "a", 80, "169.254.169.254", false),
            (["::/0"], "a", 80, "fe80::1", false), (["meta.lan"], "meta.lan", 1935, "fd00:ec2::254", false),
            (["::/0"], "a", 80, "::ffff:169.254.169.254", false), (["0.0.0.0/0", "::/0"], "a", 80, "10.0.0.1", true),
        ] as [([String], String, Int, String, Bool)])
    func entries(entries: [String], host: String, port: Int, address: String, isAllowed: Bool) throws {
        let policy = EgressPolicy(allowed: try entries.map { try #require(EgressEntry($0)) })
        let resolved = try #require(IPAddress(address))
        let refusal = policy.refusal(of: Self.target(host, port), at: resolved)
        #expect((refusal == nil) == isAllowed, "\(String(describing: refusal))")
        #expect(refusal.map { !"\($0)".contains(address) || host == address } ?? true, "no refusal reveals an address")
    }

    @Test("servers named in the pipeline file are allowed, except names that resolve to link-local addresses")
    func named() throws {
        let policy = EgressPolicy(
            allowed: [],
            named: [Self.target("relay.lan", 1936), Self.target("127.0.0.1", 4000), Self.target("169.254.1.1", 80)])
        func refusal(_ host: String, _ port: Int, _ address: String) throws -> EgressPolicy.Refusal? {
            policy.refusal(of: Self.target(host, port), at: try #require(IPAddress(address)))
        }
        #expect(try refusal("relay.lan", 1936, "10.0.0.7") == nil)
        #expect(try refusal("relay.lan", 1935, "10.0.0.7") != nil)
        #expect(try refusal("127.0.0.1", 4000, "127.0.0.1") == nil)
        #expect(try refusal("127.0.0.1", 4001, "127.0.0.1") != nil)
        #expect(try refusal("relay.lan", 1936, "169.254.169.254") == .linkLocal("relay.lan:1936"))
        #expect(try refusal("169.254.1.1", 80, "169.254.1.1") == nil, "the operator has written the address")
    }

    @Test("a host that no entry matches, or a local address, is refused before its name is resolved")
    func early() throws {
        let open = EgressPolicy()
        #expect(open.refusal(of: Self.target("cdn.example", 1935)) == nil)
        #expect(open.refusal(of: Self.target("127.0.0.1", 1935)) == .local("127.0.0.1:1935"))
        #expect(open.refusal(of: Self.target("::1", 1935)) == .local("[::1]:1935"))
        let closed = EgressPolicy(allowed: [try #require(EgressEntry("*.cdn.example"))])
        #expect(closed.refusal(of: Self.target("evil.example", 1935)) == .notListed("evil.example:1935"))
        #expect(closed.refusal(of: Self.target("a.cdn.example", 1935)) == nil)
        #expect(closed.refusal(of: Self.target("a.cdn.example", 443, 443)) == nil)
    }

    @Test(
        "malformed allowedHosts entries are refused",
        arguments: ["", "*", "10.0.0.0/33", "10.0.0.0/x", "a b", "u@a", "::1", "a:0"])
    func noEntry(text: String) {
        #expect(EgressEntry(text) == nil)
    }

    @Test("the entry `public` (all global addresses) is recognized in any case; `public:80` is not that entry")
    func publicWord() {
        for word in ["public", "Public", "PUBLIC"] { #expect(EgressEntry(word) == .publicAddresses) }
        #expect(EgressEntry("public:80") != .publicAddresses)
    }

    @Test(
        "an allowedHosts entry is written with the text that it was read from",
        arguments: ["public", "127.0.0.0/8", "10.0.0.7/32", "::1/128", "relay.lan", "*.cdn.example:*", "[::1]:1936"])
    func written(text: String) throws {
        #expect(try #require(EgressEntry(text)).description == text)
    }
}
