import Foundation
import Glibc

/// HTTP/1.1 with one request per connection, to a listener on this machine.
enum HTTPClient {
    struct Reply {
        var status: Int
        /// The status line and the header fields.
        var head: String
        var bytes: [UInt8]

        /// The body as text; invalid UTF-8 is replaced.
        var body: String { String(decoding: self.bytes, as: UTF8.self) }

        func json() -> [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(self.body.utf8)) as? [String: Any]) ?? [:]
        }
    }

    /// - Parameters:
    ///   - address: `http://host:port`, as in `room.ready`.
    ///   - body: JSON unless `fields` has another `Content-Type`.
    ///   - fields: More header fields.
    static func request(
        _ method: String, _ address: String, _ path: String, body: String = "", fields: [String: String] = [:]
    ) throws -> Reply {
        let parts = address.replacingOccurrences(of: "http://", with: "").split(separator: ":")
        guard parts.count == 2, let port = UInt16(parts[1]) else { throw Missing("no HTTP address: \(address)") }
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        guard LoopbackAddress.withAddress(port: port, { connect(socket, $0, $1) }) == 0 else {
            throw Missing("cannot connect to \(address)")
        }
        let text =
            "\(method) \(path) HTTP/1.1\r\nHost: \(parts[0]):\(port)\r\nConnection: close\r\n"
            + (body.isEmpty || fields["Content-Type"] != nil ? "" : "Content-Type: application/json\r\n")
            + fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
            + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
        _ = Array(text.utf8).withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while case let count = recv(socket, &chunk, chunk.count, 0), count > 0 { bytes += chunk[..<count] }
        // Searched as bytes, since the start of a body must not combine with the end of the head.
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)),
            let status = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: " ").dropFirst()
                .first
                .flatMap({ Int($0) })
        else {
            throw Missing("no HTTP answer to \(method) \(path): \(String(decoding: bytes.prefix(200), as: UTF8.self))")
        }
        return Reply(
            status: status, head: String(decoding: bytes[..<end.lowerBound], as: UTF8.self),
            bytes: Array(bytes[end.upperBound...]))
    }
}

/// 127.0.0.1 in the form of the system calls.
enum LoopbackAddress {
    static func withAddress<T>(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// A TCP port with a listener until `body` has returned.
    static func withTakenPort<T>(_ body: (UInt16) throws -> T) throws -> T {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        guard self.withAddress(port: 0, { bind(socket, $0, $1) }) == 0, listen(socket, 1) == 0 else {
            throw Missing("no free port")
        }
        var bound = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        return try body(UInt16(bigEndian: bound.sin_port))
    }
}
