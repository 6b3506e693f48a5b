import MediaTypes
package import PipelineSpec

/// Reads the header with which a proxy names the client of a connection.
///
/// Pure: bytes in, one answer out; bytes after the header are not consumed.
///
/// Spec: The PROXY protocol, versions 1 and 2 (HAProxy, proxy-protocol.txt §2.1, §2.2).
package struct ProxyHeader: Sendable, Hashable {
    /// Maximum length of a version 1 header including its line end (§2.1).
    static let longestText = 107
    /// The twelve bytes with which a version 2 header begins (§2.2).
    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    /// Maximum number of bytes after the fixed part of a version 2 header: addresses and the fields that a proxy adds.
    static let longestRest = 2048

    /// Address of the client; nil if the proxy opened the connection for itself, such as for a health check, if it does
    /// not know the client, or if the address family is not IP.
    package let source: IPAddress?
    /// TCP port of the client; 0 without ``source``.
    package let port: Int
    /// Length of the header in bytes.
    package let length: Int

    package enum Answer: Sendable, Hashable {
        /// The header is not complete; more bytes are needed.
        case incomplete
        case header(ProxyHeader)
        /// The bytes are not a PROXY header.
        case malformed
    }

    /// Reads the PROXY header at the beginning of a connection.
    ///
    /// - Parameter bytes: The bytes from the beginning of the connection on.
    package static func read(_ bytes: [UInt8]) -> Answer {
        guard let first = bytes.first else { return .incomplete }
        return first == Self.signature[0] ? self.binary(bytes) : self.text(bytes)
    }

    // MARK: Version 1

    private static func text(_ bytes: [UInt8]) -> Answer {
        let word = Array("PROXY ".utf8)
        guard bytes.prefix(word.count).elementsEqual(word.prefix(bytes.count)) else { return .malformed }
        let line = bytes.prefix(self.longestText)
        guard let end = line.firstIndex(of: 0x0A) else {
            return bytes.count < self.longestText ? .incomplete : .malformed
        }
        guard end > 0, line[end - 1] == 0x0D else { return .malformed }
        let fields = line[..<(end - 1)].split(separator: 0x20, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard fields.count >= 2 else { return .malformed }
        // The rest of the line after UNKNOWN must be ignored.
        if fields[1] == "UNKNOWN" { return .header(ProxyHeader(source: nil, port: 0, length: end + 1)) }
        guard fields.count == 6, fields[1] == "TCP4" || fields[1] == "TCP6", let source = IPAddress(fields[2]),
            let target = IPAddress(fields[3]), let port = self.port(fields[4]), self.port(fields[5]) != nil
        else { return .malformed }
        let isIPv4 = fields[1] == "TCP4"
        guard fields[2].contains(":") != isIPv4, fields[3].contains(":") != isIPv4, !isIPv4 || target.isIPv4 else {
            return .malformed
        }
        return .header(ProxyHeader(source: source, port: port, length: end + 1))
    }

    private static func port(_ text: String) -> Int? {
        guard (1...5).contains(text.utf8.count), text.isDigits,
            text.utf8.count == 1 || text.utf8.first != 0x30
        else { return nil }
        return UInt16(text).map { Int($0) }
    }

    // MARK: Version 2

    private static func binary(_ bytes: [UInt8]) -> Answer {
        guard bytes.prefix(12).elementsEqual(self.signature.prefix(bytes.count)) else { return .malformed }
        guard bytes.count >= 13 else { return .incomplete }
        let command = bytes[12] & 0x0F
        guard bytes[12] >> 4 == 2, command <= 1 else { return .malformed }
        guard bytes.count >= 16 else { return .incomplete }
        let rest = Int(bytes[14]) << 8 | Int(bytes[15])
        guard rest <= self.longestRest else { return .malformed }
        guard bytes.count >= 16 + rest else { return .incomplete }
        let body = bytes[16..<(16 + rest)]
        let none = ProxyHeader(source: nil, port: 0, length: 16 + rest)
        // LOCAL: the addresses must be ignored.
        guard command == 1 else { return .header(none) }
        let width: Int
        switch bytes[13] >> 4 {
        case 1: width = 4
        case 2: width = 16
        // Unspecified, or Unix sockets.
        case 0, 3: return .header(none)
        default: return .malformed
        }
        // Only a stream (1) can arrive here.
        guard bytes[13] & 0x0F == 1, rest >= 2 * width + 4, let source = IPAddress(bytes: body.prefix(width)) else {
            return .malformed
        }
        let port = body.dropFirst(2 * width).prefix(2).reduce(0) { $0 << 8 | Int($1) }
        return .header(ProxyHeader(source: source, port: port, length: 16 + rest))
    }
}
