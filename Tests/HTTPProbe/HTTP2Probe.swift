import NIOCore
import NIOPosix
import NIOSSL
import TestSupport

/// An HTTP/2 client for tests, over TLS without certificate checks: sends any frames, also invalid ones, and collects
/// the answers. Requests carry their fields as HPACK literals; of replies only statuses of the static table are read.
package struct HTTP2Probe {
    /// Spec: RFC 9113 §6.
    package enum Kind: UInt8, Sendable {
        case data = 0, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate
    }

    package struct Frame: Sendable {
        package var kind: UInt8
        package var flags: UInt8
        package var stream: UInt32
        package var payload: [UInt8]

        package init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
            (self.kind, self.flags, self.stream, self.payload) = (kind.rawValue, flags, stream, payload)
        }

        package var bytes: [UInt8] {
            let count = UInt32(self.payload.count)
            return [UInt8(count >> 16 & 0xff), UInt8(count >> 8 & 0xff), UInt8(count & 0xff), self.kind, self.flags]
                + HTTP2Probe.big(self.stream) + self.payload
        }
    }

    package struct Reply: Sendable {
        /// 0: not in the static table (200, 204, 206, 304, 400, 404, 500).
        package var status = 0
        package var body: [UInt8] = []
        package var isComplete = false
        package var reset: UInt32?

        package var text: String { String(decoding: self.body, as: UTF8.self) }
    }

    /// Everything the server has sent so far.
    package struct Received: Sendable {
        package var replies: [UInt32: Reply] = [:]
        /// The error code of the server's GOAWAY.
        package var goAway: UInt32?
        package var settings: [UInt16: UInt32] = [:]
        package var isClosed = false
    }

    private let address: SocketAddress

    /// - Parameter address: `https://HOST:PORT`.
    package init(_ address: String) throws {
        let authority = address.dropFirst("https://".count)
        let colon = authority.lastIndex(of: ":") ?? authority.endIndex
        self.address = try SocketAddress.makeAddressResolvingHost(
            String(authority[..<colon]), port: Int(authority[colon...].dropFirst()) ?? 0)
    }

    /// One connection.
    package struct Connection: Sendable {
        private let channel: any Channel
        private let collector: NIOLoopBound<Collector>

        fileprivate init(_ channel: any Channel, _ collector: NIOLoopBound<Collector>) {
            (self.channel, self.collector) = (channel, collector)
        }

        package func send(_ frames: [Frame]) async throws {
            try await self.channel.writeAndFlush(ByteBuffer(bytes: frames.flatMap(\.bytes)))
        }

        package func send(bytes: [UInt8]) async throws {
            try await self.channel.writeAndFlush(ByteBuffer(bytes: bytes))
        }

        /// Sends a GET request; with `ends` false, the stream stays open for a body.
        package func get(_ path: String, stream: UInt32, ends: Bool = true, fields: [(String, String)] = [])
            async throws
        {
            try await self.send([HTTP2Probe.request(path, stream: stream, ends: ends, fields: fields)])
        }

        package var received: Received {
            get async throws {
                let collector = self.collector
                return try await self.channel.eventLoop.submit { collector.value.received }.get()
            }
        }

        /// Waits until `isEnough` holds, or the server has closed; at most the default time of `waitUntil`.
        @discardableResult
        package func wait(until isEnough: (Received) -> Bool) async throws -> Received {
            try await waitUntil("enough replies", { try await self.received }) { isEnough($0) || $0.isClosed }
        }

        /// Stops reading from the socket, so that the server cannot send for long.
        package func stopReading() async throws { try await self.channel.setOption(.autoRead, value: false).get() }

        package func close() async { try? await self.channel.close() }
    }

    /// Connects, and sends the client's preface, settings, and a window of 16 MiB more for the connection.
    ///
    /// - Parameters:
    ///   - window: Initial window of each stream in the client's settings, in bytes.
    ///   - protocols: Offered by ALPN.
    package func connect(window: UInt32 = 1 << 20, protocols: [String] = ["h2"]) async throws -> Connection {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.applicationProtocols = protocols
        let context = try NIOSSLContext(configuration: configuration)
        let (channel, collector) = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: self.address) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let collector = Collector()
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: nil))
                    try channel.pipeline.syncOperations.addHandler(collector)
                    return (channel, NIOLoopBound(collector, eventLoop: channel.eventLoop))
                }
            }
        let connection = Connection(channel, collector)
        try await connection.send(
            bytes: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
                + Frame(.settings, [0, 4] + Self.big(window)).bytes
                + Frame(.windowUpdate, Self.big(1 << 24)).bytes)
        return connection
    }

    /// Sends one GET on a connection of its own.
    package func get(_ path: String, fields: [(String, String)] = []) async throws -> Reply {
        let connection = try await self.connect()
        try await connection.get(path, stream: 1, fields: fields)
        let received = try await connection.wait { $0.replies[1]?.isComplete == true }
        await connection.close()
        return received.replies[1] ?? Reply()
    }

    package static func request(
        _ path: String, stream: UInt32, ends: Bool = true, fields: [(String, String)] = []
    ) -> Frame {
        // :method GET and :scheme https of the static table (RFC 7541 appendix A), the rest as literals.
        var block: [UInt8] = [0x82, 0x87] + Self.literal(":path", path) + Self.literal(":authority", "localhost")
        for (name, value) in fields { block += Self.literal(name, value) }
        return Frame(.headers, flags: ends ? 5 : 4, stream: stream, block)
    }

    /// Spec: RFC 7541 §6.2.2, without Huffman.
    private static func literal(_ name: String, _ value: String) -> [UInt8] {
        [0] + Self.text(name) + Self.text(value)
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var (rest, prefix) = (bytes.count - 127, [UInt8(127)])
        while rest >= 128 {
            prefix.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return prefix + [UInt8(rest)] + bytes
    }

    package static func big(_ number: UInt32) -> [UInt8] {
        [UInt8(number >> 24), UInt8(number >> 16 & 0xff), UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
    }

    fileprivate final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        var received = Received()
        private var rest = ByteBuffer()

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.rest.writeImmutableBuffer(self.unwrapInboundIn(data))
            while self.takeFrame(context) {}
        }

        func channelInactive(context: ChannelHandlerContext) { self.received.isClosed = true }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func takeFrame(_ context: ChannelHandlerContext) -> Bool {
            guard let head = self.rest.getBytes(at: self.rest.readerIndex, length: 9) else { return false }
            let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard self.rest.readableBytes >= 9 + count else { return false }
            self.rest.moveReaderIndex(forwardBy: 9)
            var payload = self.rest.readSlice(length: count) ?? ByteBuffer()
            self.rest.discardReadBytes()
            let stream = UInt32(head[5] & 0x7f) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8])
            let ends = head[4] & 1 != 0
            switch Kind(rawValue: head[3]) {
            case .headers:
                let statuses: [UInt8: Int] = [
                    0x88: 200, 0x89: 204, 0x8a: 206, 0x8b: 304, 0x8c: 400, 0x8d: 404, 0x8e: 500,
                ]
                let first = payload.getInteger(at: payload.readerIndex, as: UInt8.self) ?? 0
                self.received.replies[stream, default: Reply()].status = statuses[first] ?? 0
                self.received.replies[stream, default: Reply()].isComplete = ends
            case .data:
                self.received.replies[stream, default: Reply()].body += payload.readableBytesView
                self.received.replies[stream, default: Reply()].isComplete = ends
            case .reset: self.received.replies[stream, default: Reply()].reset = payload.readInteger()
            case .goAway:
                payload.moveReaderIndex(forwardBy: 4)
                self.received.goAway = payload.readInteger()
            case .settings where !ends:
                while let (name, value) = payload.readMultipleIntegers(as: (UInt16, UInt32).self) {
                    self.received.settings[name] = value
                }
            default: break
            }
            return true
        }
    }
}
