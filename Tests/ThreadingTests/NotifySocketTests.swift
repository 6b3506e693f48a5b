import Foundation
import Glibc
import Testing

import Threading

@Suite("NotifySocket: messages to systemd as in sd_notify(3)")
struct NotifySocketTests {
    /// The manager's socket.
    private final class Manager {
        private let descriptor: Int32

        /// - Parameter name: Bytes of `sun_path`.
        init(_ name: [UInt8]) throws {
            self.descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            let size = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
            let status = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(self.descriptor, $0, size) }
            }
            try #require(status == 0, "bind: \(errno)")
        }

        deinit { close(self.descriptor) }

        /// Text of the next datagram; nil if none has arrived.
        var next: String? {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            let count = recv(self.descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
        }
    }

    private let unique = "tandem-notify-\(UUID().uuidString)"

    @Test("a message of NotifySocket arrives at a socket with a file system path")
    func path() throws {
        let path = NSTemporaryDirectory() + self.unique
        defer { unlink(path) }
        let manager = try Manager(Array(path.utf8) + [0])
        let socket = try #require(NotifySocket(path))
        #expect(socket.send("READY=1\nSTATUS=live"))
        #expect(manager.next == "READY=1\nSTATUS=live")
        #expect(manager.next == nil)
    }

    @Test("a message of NotifySocket arrives at a socket in the abstract namespace; no NUL is added to its name")
    func abstract() throws {
        let manager = try Manager([0] + Array(self.unique.utf8))
        let socket = try #require(NotifySocket("@\(self.unique)"))
        #expect(socket.send("READY=1"))
        #expect(manager.next == "READY=1")
    }

    @Test(
        "NotifySocket refuses an invalid or too long socket name; its send() returns false if no socket listens there")
    func refused() throws {
        for name in ["", "@", "/", "vsock:2:9", "relative", "/a\0b", "@" + String(repeating: "n", count: 108)] {
            #expect(NotifySocket(name) == nil, "\(name)")
        }
        #expect(NotifySocket("@" + String(repeating: "n", count: 107)) != nil)
        #expect(NotifySocket("/" + String(repeating: "n", count: 107)) == nil, "there is no space for a NUL")
        let socket = try #require(NotifySocket("@\(self.unique)"))
        #expect(!socket.send("READY=1"))
    }

    @Test(
        "NotifySocket.send() returns false instead of blocking while the manager's queue is full, and works again later"
    )
    func full() throws {
        let manager = try Manager([0] + Array(self.unique.utf8))
        let socket = try #require(NotifySocket("@\(self.unique)"))
        let sent = (0..<1_000_000).prefix { _ in socket.send("WATCHDOG=1") }.count
        #expect(sent > 0 && sent < 1_000_000)
        while manager.next != nil {}
        #expect(socket.send("WATCHDOG=1"))
    }
}
