/// The address of a listener: `HOST:PORT`, `[IPV6]:PORT` or `unix:/path`. Port 0 requests a free port from the kernel.
package enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// `host` is a name or an address without brackets, 1 to 253 characters.
    case tcp(host: String, port: UInt16)
    /// `path` is absolute, 1 to ``longestUnixPath`` bytes of UTF-8.
    case unix(path: String)

    /// An error in the text of an address, with a remedy.
    package struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
        /// What is wrong, in one sentence without trailing period.
        package let what: String
        package let fix: String

        package var description: String { "\(self.what). Fix: \(self.fix)" }
    }

    /// Maximum length of a socket path in bytes: what fits `sockaddr_un.sun_path` on Linux (108 with the closing NUL).
    package static let longestUnixPath = 107

    package init(parsing text: String) throws(Malformed) {
        if text.hasPrefix("unix:") {
            self = .unix(path: try Self.unixPath(String(text.dropFirst("unix:".count))))
        } else {
            self = try Self.hostAndPort(text)
        }
    }

    /// Whether only this machine can connect: 127.0.0.0/8, `::1`, `localhost` and Unix sockets.
    package var isLoopback: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, _): Self.isLoopback(host: host)
        }
    }

    /// Whether a host is in 127.0.0.0/8, or is `::1` or `localhost`. A name that only begins like this is not a
    /// loopback host.
    package static func isLoopback(host: String) -> Bool {
        let host = host.lowercased()
        if host == "localhost" || host == "::1" || host == "0:0:0:0:0:0:0:1" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127"
            && octets.allSatisfy { $0.utf8.allSatisfy(\.isDigit) && UInt8($0) != nil }
    }

    package var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .tcp(let host, let port): "\(Self.bracketed(host)):\(port)"
        }
    }

    /// The address as a URL for clients on this machine, for example `http://127.0.0.1:8080`. A wildcard address
    /// becomes the loopback address of its family; a Unix socket stays `unix:/path`.
    ///
    /// - Parameters:
    ///   - scheme: Scheme of the URL, for example `http` or `rtmps`.
    ///   - boundPort: The port that the kernel assigned for port 0; `nil` keeps the configured port.
    package func url(scheme: String, boundPort: Int? = nil) -> String {
        switch self {
        case .unix: return self.description
        case .tcp(let host, let port):
            let reachable = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host
            return "\(scheme)://\(Self.bracketed(reachable)):\(boundPort ?? Int(port))"
        }
    }
}
