import HTTPListener
import HTTPTypes
package import NIOCore
package import PipelineSpec
import PublishAuth

/// Clients of the WHIP listener behind proxies: a PROXY header or `X-Forwarded-For` names them.
///
/// Both are used only for connections from configured proxies: any other client could claim any address.
package enum WHIPProxies {
    /// Longest part of `X-Forwarded-For` that is read, in addresses from its end.
    private static let mostAddresses = 32

    /// The proxies as the HTTP listener uses them; nil if there are none.
    static func listener(_ ranges: [AddressRange]) -> HTTPProxies? {
        guard !ranges.isEmpty else { return nil }
        return HTTPProxies(
            contains: { address in
                address.ipAddress.flatMap { IPAddress($0) }.map { Self.contain(ranges, $0) } ?? false
            }, header: Self.header)
    }

    /// The PROXY header, if the bytes begin with one. An HTTP proxy sends none.
    private static func header(_ bytes: [UInt8]) -> HTTPProxies.Header {
        switch ProxyHeader.read(bytes) {
        case .incomplete: .incomplete
        case .malformed: Self.beginsWithHeader(bytes) ? .malformed : .none
        case .header(let header):
            .named(
                client: header.source.flatMap { try? SocketAddress(ipAddress: "\($0)", port: header.port) },
                length: header.length)
        }
    }

    /// Whether the bytes begin like a PROXY header; no HTTP request and no TLS handshake does.
    private static func beginsWithHeader(_ bytes: [UInt8]) -> Bool {
        bytes.first == 0x0D || bytes.starts(with: Array("PROXY ".utf8))
    }

    /// The address of a request's client.
    ///
    /// Every proxy appends the address of its own client to `X-Forwarded-For`. So the last address that is not a proxy's is
    /// the client's, and whatever precedes it is a claim of the client.
    ///
    /// - Parameter connection: The address of the connection, or from its PROXY header.
    /// - Returns: Has port 0 if it is from `X-Forwarded-For`.
    package static func client(
        of connection: SocketAddress?, forwarded: String?, proxies: [AddressRange]
    ) -> SocketAddress? {
        var client = connection
        guard let forwarded, !proxies.isEmpty else { return client }
        let entries = forwarded.split(separator: ",", omittingEmptySubsequences: false)
        for entry in entries.suffix(Self.mostAddresses).reversed() {
            guard let known = client?.ipAddress.flatMap({ IPAddress($0) }), Self.contain(proxies, known),
                let address = Self.address(entry), let next = try? SocketAddress(ipAddress: "\(address)", port: 0)
            else { break }
            client = next
        }
        return client
    }

    private static func contain(_ ranges: [AddressRange], _ address: IPAddress) -> Bool {
        ranges.contains { $0.contains(address) }
    }

    /// One element of `X-Forwarded-For`: an address, which some proxies write with brackets or a port.
    private static func address(_ entry: Substring) -> IPAddress? {
        var text = entry.trimmingPrefix { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        if text.first == "[", let end = text.firstIndex(of: "]") {
            text = text[text.index(after: text.startIndex)..<end]
        } else if text.count(where: { $0 == ":" }) == 1, let colon = text.firstIndex(of: ":") {
            text = text[..<colon]
        }
        return IPAddress(String(text))
    }
}

extension HTTPField.Name {
    static let xForwardedFor = HTTPField.Name("X-Forwarded-For")
}
