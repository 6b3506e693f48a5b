import Libc

/// Sends datagrams to the notification socket of a service manager (systemd), without waiting.
///
/// Spec: sd_notify(3): `$NOTIFY_SOCKET` is an absolute path, or `@` and a name in the abstract namespace of unix(7).
package final class NotifySocket: Sendable {
    private let descriptor: Int32
    /// Content of `sun_path`: a path with its NUL, or a NUL and the name.
    private let name: [UInt8]

    /// Creates a socket for sending to a service manager.
    ///
    /// - Parameter name: The value of `$NOTIFY_SOCKET`.
    /// - Returns: `nil` if the name is invalid, or if the system cannot create a socket.
    package init?(_ name: String) {
        guard let bytes = Self.path(name) else { return nil }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        self.name = bytes
    }

    deinit { close(self.descriptor) }

    /// Converts the value of `$NOTIFY_SOCKET` to the content of `sun_path`; `nil` if it is invalid. A name in the
    /// abstract namespace has no closing NUL: the length of the address ends it. Spec: unix(7).
    private static func path(_ name: String) -> [UInt8]? {
        let bytes = Array(name.utf8)
        guard !bytes.contains(0), bytes.count > 1 else { return nil }
        let path: [UInt8]
        switch bytes.first {
        case UInt8(ascii: "/"): path = bytes + [0]
        case UInt8(ascii: "@"): path = [0] + bytes.dropFirst()
        default: return nil
        }
        return path.count <= MemoryLayout.size(ofValue: sockaddr_un().sun_path) ? path : nil
    }

    /// Sends one datagram.
    ///
    /// - Returns: `false` if the datagram was not sent, for example because the manager's queue is full or no process
    ///   listens.
    package func send(_ text: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: self.name) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + self.name.count)
        let bytes = Array(text.utf8)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(self.descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), $0, size)
            }
        }
        return sent == bytes.count
    }
}
