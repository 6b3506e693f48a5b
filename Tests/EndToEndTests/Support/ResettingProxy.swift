import Foundation
import Glibc

/// A proxy between one publisher and the room that a test can cut so that the room sees a reset, not an end.
final class ResettingProxy: @unchecked Sendable {
    // @unchecked Sendable: `lock` guards the only mutable member.
    private let lock = NSLock()
    private var isCut = false
    private let done = DispatchSemaphore(value: 0)
    let port: UInt16

    /// - Parameters:
    ///   - target: The room's port.
    ///   - prefix: Bytes sent to the room before everything else.
    init(to target: UInt16, prefix: [UInt8] = []) throws {
        let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard LoopbackAddress.withAddress(port: 0, { bind(listener, $0, $1) }) == 0, listen(listener, 1) == 0 else {
            throw Missing("no port for the proxy")
        }
        var bound = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) }
        }
        self.port = UInt16(bigEndian: bound.sin_port)
        Thread.detachNewThread { self.run(listener, target, prefix) }
    }

    /// Resets the room's connection, closes the publisher's, and waits until that is done.
    func cut() {
        self.lock.withLock { self.isCut = true }
        self.done.wait()
    }

    private func run(_ listener: Int32, _ target: UInt16, _ prefix: [UInt8]) {
        let near = accept(listener, nil, nil)
        close(listener)
        let far = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if LoopbackAddress.withAddress(port: target, { connect(far, $0, $1) }) == 0,
            send(far, prefix, prefix.count, Int32(MSG_NOSIGNAL)) == prefix.count
        {
            self.pump(near, far)
        }
        // Without lingering a close sends a reset (tcp(7), SO_LINGER of zero seconds).
        var none = linger(l_onoff: 1, l_linger: 0)
        setsockopt(far, SOL_SOCKET, SO_LINGER, &none, socklen_t(MemoryLayout<linger>.size))
        close(far)
        close(near)
        self.done.signal()
    }

    private func pump(_ near: Int32, _ far: Int32) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var files = [near, far].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while !self.lock.withLock({ self.isCut }) {
            guard poll(&files, 2, 10) > 0 else { continue }
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
