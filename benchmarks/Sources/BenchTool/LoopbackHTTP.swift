#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An HTTP client for a listener on 127.0.0.1 with one request per connection.
enum LoopbackHTTP {
    /// - Parameter address: `http://127.0.0.1:port`, as `room.ready` gives it.
    /// - Returns: The status code.
    static func request(_ method: String, _ address: String, _ path: String, body: String = "") throws(BenchError)
        -> Int
    {
        try self.exchange(method, address, path, body: body).status
    }

    /// As ``request(_:_:_:body:)``, but also returns the body of the response.
    static func exchange(
        _ method: String, _ address: String, _ path: String, body: String = ""
    ) throws(BenchError) -> (status: Int, body: String) {
        guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw BenchError("no address: \(address)")
        }
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let file = socket(AF_INET, stream, 0)
        guard file >= 0 else { throw BenchError("no socket") }
        defer { close(file) }
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = port.bigEndian
        target.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw BenchError("connection to \(address) failed") }
        let text =
            "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body
        _ = Array(text.utf8).withUnsafeBytes { send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while case let count = recv(file, &chunk, chunk.count, 0), count > 0 { answer += chunk[..<count] }
        let whole = String(decoding: answer, as: UTF8.self)
        guard let status = whole.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw BenchError("no response to \(method) \(path)")
        }
        return (status, whole.split(separator: "\r\n\r\n", maxSplits: 1).dropFirst().first.map(String.init) ?? "")
    }
}
