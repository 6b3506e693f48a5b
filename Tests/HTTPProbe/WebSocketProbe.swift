package import NIOCore
import NIOPosix
import NIOSSL

/// A WebSocket client for tests, in clear text or over TLS without certificate checks: sends any frames, also invalid
/// ones, and parses the server's frames independently.
package struct WebSocketProbe {
    package struct Frame: Sendable, Hashable {
        package let opcode: UInt8
        package let payload: [UInt8]

        package init(opcode: UInt8, payload: [UInt8]) { (self.opcode, self.payload) = (opcode, payload) }

        /// The code of a close frame that has one.
        package var code: Int? {
            self.opcode == 8 && self.payload.count >= 2 ? Int(self.payload[0]) << 8 | Int(self.payload[1]) : nil
        }
    }

    package enum Failure: Error, Hashable {
        /// The server closed before the head of its answer was complete.
        case closed
        /// A frame that a server must not send, with its first bytes.
        case wrongFrame([UInt8])
    }

    /// The key of RFC 6455 §1.3.
    package static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    package static let fields = [
        "Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: \(Self.key)",
    ]

    private let address: String

    /// - Parameter address: `http://HOST:PORT` or `https://HOST:PORT`.
    package init(_ address: String) { self.address = address }

    /// One connection after the handshake.
    package struct Talk {
        /// The server's answer up to the empty line.
        package private(set) var head = ""
        private var rest: [UInt8] = []
        private var chunks: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

        fileprivate init(
            _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
        ) {
            self.chunks = inbound.makeAsyncIterator()
            self.outbound = outbound
        }

        fileprivate mutating func readHead() async throws {
            let end = Array("\r\n\r\n".utf8)
            while true {
                if let range = self.rest.firstRange(of: end) {
                    self.head = String(decoding: self.rest[..<range.upperBound], as: UTF8.self)
                    self.rest.removeFirst(range.upperBound)
                    return
                }
                guard try await self.more() else { throw Failure.closed }
            }
        }

        private mutating func more() async throws -> Bool {
            do {
                guard let chunk = try await self.chunks.next() else { return false }
                self.rest += chunk.readableBytesView
                return true
            } catch is IOError {
                // A reset counts as closing.
                return false
            }
        }

        package func send(_ bytes: [UInt8]) async throws { try await self.outbound.write(ByteBuffer(bytes: bytes)) }

        /// The server's next frame; nil: it has closed.
        package mutating func next() async throws -> Frame? {
            while true {
                if let frame = try WebSocketProbe.take(&self.rest) { return frame }
                guard try await self.more() else { return nil }
            }
        }
    }

    /// Connects, sends the handshake, reads the head of the answer and passes the connection to `body`, whatever the
    /// status is. Closes it afterwards.
    ///
    /// - Parameter ahead: Bytes sent together with the handshake.
    package func talk(
        _ path: String, _ fields: [String] = Self.fields, ahead: [UInt8] = [],
        _ body: (inout Talk) async throws -> Void
    ) async throws {
        try await self.connect().executeThenClose { inbound, outbound in
            let lines = ["GET \(path) HTTP/1.1", "Host: \(self.authority)"] + fields + ["\r\n"]
            try await outbound.write(ByteBuffer(bytes: Array(lines.joined(separator: "\r\n").utf8) + ahead))
            var talk = Talk(inbound, outbound)
            try await talk.readHead()
            try await body(&talk)
        }
    }

    private var authority: Substring { self.address.drop { $0 != "/" }.dropFirst(2) }

    /// A connection over which nothing has been sent.
    package func connect(
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        let colon = self.authority.lastIndex(of: ":") ?? self.authority.endIndex
        let address = try SocketAddress.makeAddressResolvingHost(
            String(self.authority[..<colon]), port: Int(self.authority[colon...].dropFirst()) ?? 0)
        let context = self.address.hasPrefix("https:") ? try Self.trustingContext() : nil
        return try await ClientBootstrap(group: group).connect(to: address) { channel in
            channel.eventLoop.makeCompletedFuture {
                if let context {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: nil))
                }
                return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
            }
        }
    }

    private static func trustingContext() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    // MARK: Frames

    /// A client's frame.
    ///
    /// - Parameters:
    ///   - reserved: The three reserved bits.
    ///   - mask: Four bytes; nil: not masked, which is invalid.
    ///   - announced: The length in the header; nil: the payload's own.
    package static func frame(
        _ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0,
        mask: [UInt8]? = [0x37, 0xfa, 0x21, 0x3d], announced: UInt64? = nil
    ) -> [UInt8] {
        let flag: UInt8 = mask == nil ? 0 : 0x80
        let count = announced ?? UInt64(payload.count)
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        switch count {
        case 0...125: bytes.append(flag | UInt8(count))
        case 126...65_535: bytes += [flag | 126, UInt8(count >> 8), UInt8(count & 0xff)]
        default:
            bytes.append(flag | 127)
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(count >> UInt64(shift) & 0xff)) }
        }
        guard let mask else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    /// A client's close frame with this code.
    package static func close(_ code: UInt16) -> [UInt8] { Self.frame(8, [UInt8(code >> 8), UInt8(code & 0xff)]) }

    /// Removes the first frame from `bytes`; nil if it is not complete.
    ///
    /// Spec: RFC 6455 §5.2: server frames are not masked. A fragmented one is an error here.
    private static func take(_ bytes: inout [UInt8]) throws -> Frame? {
        guard bytes.count >= 2 else { return nil }
        guard bytes[0] & 0xf0 == 0x80, bytes[1] < 128 else { throw Failure.wrongFrame(Array(bytes.prefix(16))) }
        var (start, count) = (2, Int(bytes[1]))
        if count > 125 {
            let size = count == 126 ? 2 : 8
            guard bytes.count >= start + size else { return nil }
            count = bytes[start..<start + size].reduce(0) { $0 << 8 | Int($1) }
            start += size
            // The shortest length form is required.
            guard count > (size == 2 ? 125 : 65_535) else { throw Failure.wrongFrame(Array(bytes.prefix(16))) }
        }
        guard bytes.count - start >= count else { return nil }
        let frame = Frame(opcode: bytes[0] & 0x0f, payload: Array(bytes[start..<start + count]))
        bytes.removeFirst(start + count)
        return frame
    }
}
