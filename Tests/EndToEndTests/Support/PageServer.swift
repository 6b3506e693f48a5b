import Foundation
import Glibc

/// Serves a few files over HTTP/1.1 on its own port: the pages that a browser opens. Stops with the object.
final class PageServer: Sendable {
    /// `http://127.0.0.1:port`.
    let address: String
    private let listener: Int32

    /// - Parameter files: Path, media type and content.
    init(_ files: [String: (type: String, content: [UInt8])]) throws {
        let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard LoopbackAddress.withAddress(port: 0, { bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0 else {
            close(listener)
            throw Missing("no port for the pages")
        }
        var bound = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) }
        }
        self.listener = listener
        self.address = "http://127.0.0.1:\(UInt16(bigEndian: bound.sin_port))"
        Thread.detachNewThread {
            while case let socket = accept(listener, nil, nil), socket >= 0 {
                Self.answer(socket, files)
            }
        }
    }

    deinit {
        shutdown(self.listener, Int32(SHUT_RDWR))
        close(self.listener)
    }

    private static func answer(_ socket: Int32, _ files: [String: (type: String, content: [UInt8])]) {
        defer { close(socket) }
        // A browser opens connections that it may never use.
        var timeout = timeval(tv_sec: 0, tv_usec: 300_000)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var request: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 8192)
        while !request.suffix(4).elementsEqual([13, 10, 13, 10]) {
            let count = recv(socket, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            request += chunk[..<count]
        }
        let path = String(decoding: request, as: UTF8.self).split(separator: " ").dropFirst().first.map(String.init)
        let file = path.flatMap { files[$0.split(separator: "?").first.map(String.init) ?? $0] }
        let head =
            "HTTP/1.1 \(file == nil ? "404 Not Found" : "200 OK")\r\nContent-Type: \(file?.type ?? "text/plain")\r\n"
            + "Content-Length: \(file?.content.count ?? 0)\r\nConnection: close\r\n\r\n"
        let bytes = Array(head.utf8) + (file?.content ?? [])
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            start += count
        }
    }
}
