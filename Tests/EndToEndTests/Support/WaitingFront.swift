import Foundation
import Glibc

/// A load balancer before a worker, like HAProxy with `retries`: it accepts viewers' connections at any time, and holds
/// them while no worker is running. A connection that a worker was serving when it died is closed.
final class WaitingFront: Sendable {
    /// How long a connection waits for a worker, in seconds.
    private static let patience = 10.0

    /// `http://127.0.0.1:port`.
    let address: String
    private let listener: Int32

    /// - Parameter worker: The port of the worker and of its successors.
    init(to worker: UInt16) throws {
        let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard LoopbackAddress.withAddress(port: 0, { bind(listener, $0, $1) }) == 0, listen(listener, 128) == 0 else {
            close(listener)
            throw Missing("no port for the front")
        }
        var bound = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) }
        }
        self.listener = listener
        self.address = "http://127.0.0.1:\(UInt16(bigEndian: bound.sin_port))"
        Thread.detachNewThread {
            while true {
                let near = accept(listener, nil, nil)
                // A signal or a client that has left ends only this call, not the front.
                if near < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard near >= 0 else { return }
                // A process started later must not inherit the connection.
                _ = fcntl(near, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread { Self.serve(near, worker) }
            }
        }
    }

    deinit {
        shutdown(self.listener, Int32(SHUT_RDWR))
        close(self.listener)
    }

    private static func serve(_ near: Int32, _ worker: UInt16) {
        defer { close(near) }
        let deadline = Date(timeIntervalSinceNow: Self.patience)
        while Date() < deadline {
            let far = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { close(far) }
            if LoopbackAddress.withAddress(port: worker, { connect(far, $0, $1) }) == 0 {
                return self.pump(near, far)
            }
            usleep(20_000)
        }
    }

    /// Forwards bytes in both directions until either side is done.
    private static func pump(_ near: Int32, _ far: Int32) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var files = [near, far].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&files, 2, -1) > 0 {
            for (index, file) in files.enumerated() where file.revents != 0 {
                let count = recv(file.fd, &bytes, bytes.count, 0)
                guard count > 0 else { return }
                var start = 0
                while start < count {
                    let sent = bytes[start..<count].withUnsafeBytes {
                        send(index == 0 ? far : near, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard sent > 0 else { return }
                    start += sent
                }
            }
        }
    }
}
