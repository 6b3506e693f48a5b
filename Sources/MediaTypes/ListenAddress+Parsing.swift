extension ListenAddress {
    static func unixPath(_ path: String) throws(Malformed) -> String {
        guard path.hasPrefix("/"), path.utf8.count > 1, !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw Malformed(
                what: "\"unix:\(path)\" does not name a socket file by an absolute path",
                fix: "write unix:/run/tandem/control.sock")
        }
        guard path.utf8.count <= Self.longestUnixPath else {
            throw Malformed(
                what: "the socket path has \(path.utf8.count) bytes, but the system allows \(Self.longestUnixPath)",
                fix: "use a shorter directory, such as /run/tandem")
        }
        return path
    }

    static func hostAndPort(_ text: String) throws(Malformed) -> ListenAddress {
        guard let colon = text.lastIndex(of: ":") else {
            throw Malformed(what: "\"\(text)\" is not HOST:PORT", fix: "write \(Self.example(for: text))")
        }
        if text.hasPrefix("["), text.hasSuffix("]"), Self.looksLikeIPv6(text.dropFirst().dropLast()) {
            throw Malformed(what: "\"\(text)\" has no port", fix: "write \(text):8080")
        }
        var host = String(text[..<colon])
        let digits = text[text.index(after: colon)...]
        if host.hasPrefix("[") {
            guard host.hasSuffix("]"), Self.looksLikeIPv6(host.dropFirst().dropLast()) else {
                throw Malformed(what: "\"\(host)\" is not an IPv6 address in brackets", fix: "write [::1]:8080")
            }
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw Malformed(
                what: "\"\(text)\" has more than one colon but no brackets",
                fix: "put an IPv6 address in brackets: [::1]:8080")
        } else if host.isEmpty {
            throw Malformed(
                what: "\"\(text)\" has no host",
                fix:
                    "write 0.0.0.0:\(digits) for every address of this machine, 127.0.0.1:\(digits) for this machine only"
            )
        } else if !Self.looksLikeName(host) {
            throw Malformed(what: "\"\(host)\" is not a host name or address", fix: "write 127.0.0.1:\(digits)")
        }
        guard digits.isDigits, let port = UInt16(digits) else {
            throw Malformed(
                what: "\"\(digits)\" is not a port", fix: "use a number from 1 to 65535, or 0 for any free port")
        }
        return .tcp(host: host, port: port)
    }

    static func bracketed(_ host: String) -> String {
        host.contains(":") ? "[\(host)]" : host
    }

    /// Returns a valid address that resembles `text`, for a message: a number becomes the port, a name the host.
    private static func example(for text: String) -> String {
        if text.isDigits { return "127.0.0.1:\(text)" }
        return Self.looksLikeName(text) ? "\(text):8080" : "127.0.0.1:8080"
    }

    private static func looksLikeName(_ host: String) -> Bool {
        (1...253).contains(host.utf8.count) && host.isPlain(marks: ".-_")
    }

    private static func looksLikeIPv6(_ host: Substring) -> Bool {
        // A zone ("%eth0") may follow; bind(2) checks whether the address exists.
        let address = host.prefix { $0 != "%" }
        return host.utf8.count <= 253 && address.contains(":")
            && address.utf8.allSatisfy {
                $0.hexadecimalValue != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
    }
}
