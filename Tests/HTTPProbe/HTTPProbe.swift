package import NIOCore
import NIOPosix

/// An HTTP/1.1 client for tests: sends requests as given, also invalid ones, and reads one reply after another. `\n` in
/// the text of a request is sent as CRLF.
package struct HTTPProbe {
    package struct Reply: Sendable {
        package var status: Int
        /// Names in lower case.
        package var fields: [String: String]
        package var body: [UInt8]

        package var text: String { String(decoding: self.body, as: UTF8.self) }
    }

    package enum Failure: Error, Hashable {
        /// The server closed before the reply was complete.
        case closed(received: Int)
        /// The reply does not start with a status line of HTTP/1.1; has its first line.
        case notHTTP(String)
    }

    private let address: String

    /// - Parameter address: `http://HOST:PORT` or `unix:/path`.
    package init(_ address: String) {
        self.address = address
    }

    /// Sends `request` and `body` on a connection of its own.
    package func send(_ request: String, body: [UInt8] = []) async throws -> Reply {
        try await self.exchange([(request, body)])[0]
    }

    /// Sends `line`, such as `GET /path`, with a Host field of this listener, further fields, and the length of `body`.
    package func request(_ line: String, _ fields: [String] = [], body: String? = nil) async throws -> Reply {
        let host = self.address.hasPrefix("unix:") ? "localhost" : String(self.address.dropFirst("http://".count))
        var lines = ["\(line) HTTP/1.1", "Host: \(host)"] + fields
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return try await self.send(lines.joined(separator: "\n") + "\n\n", body: Array((body ?? "").utf8))
    }

    /// Sends all requests on one connection without waiting for replies, and reads as many replies. 100 (Continue) is
    /// skipped.
    package func exchange(_ requests: [(text: String, body: [UInt8])]) async throws -> [Reply] {
        let channel = try await self.connect()
        return try await channel.executeThenClose { inbound, outbound in
            for request in requests {
                var buffer = ByteBuffer(string: request.text.replacing("\n", with: "\r\n"))
                buffer.writeBytes(request.body)
                try await outbound.write(buffer)
            }
            var received: [UInt8] = []
            var replies: [Reply] = []
            var chunks = inbound.makeAsyncIterator()
            while replies.count < requests.count {
                let isHead = requests[replies.count].text.hasPrefix("HEAD")
                if let reply = try Self.takeReply(from: &received, isHead: isHead) {
                    if reply.status != 100 { replies.append(reply) }
                } else if let chunk = try await chunks.next() {
                    received.append(contentsOf: chunk.readableBytesView)
                } else {
                    throw Failure.closed(received: received.count)
                }
            }
            return replies
        }
    }

    /// Sends `request` and returns how many bytes came back by the time the server closed the connection.
    package func bytesUntilClosed(after request: String) async throws -> Int {
        try await self.connect().executeThenClose { inbound, outbound in
            var count = 0
            do {
                // On a busy machine the server's timeout may have passed before this is written.
                try await outbound.write(ByteBuffer(string: request.replacing("\n", with: "\r\n")))
                for try await chunk in inbound { count += chunk.readableBytes }
            } catch is IOError {
                // A reset counts as closing.
            } catch ChannelError.ioOnClosedChannel {
                // So does a close before the write.
            }
            return count
        }
    }

    /// Sends `request` and reads until `isEnough` of everything that came, head included, or until the server closes.
    package func read(after request: String, until isEnough: (String) -> Bool) async throws -> String {
        try await self.connect().executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request.replacing("\n", with: "\r\n")))
            var bytes: [UInt8] = []
            for try await chunk in inbound {
                bytes.append(contentsOf: chunk.readableBytesView)
                if isEnough(String(decoding: bytes, as: UTF8.self)) { break }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private func socketAddress() throws -> SocketAddress {
        if self.address.hasPrefix("unix:") {
            return try SocketAddress(unixDomainSocketPath: String(self.address.dropFirst("unix:".count)))
        }
        let authority = self.address.dropFirst("http://".count)
        let colon = authority.lastIndex(of: ":") ?? authority.endIndex
        let host = authority[..<colon].filter { $0 != "[" && $0 != "]" }
        return try SocketAddress.makeAddressResolvingHost(host, port: Int(authority[colon...].dropFirst()) ?? 0)
    }

    package func connect() async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: self.socketAddress()) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                }
            }
    }

    private static func takeReply(from bytes: inout [UInt8], isHead: Bool) throws -> Reply? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw Failure.notHTTP(String(lines.first ?? ""))
        }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1)
            fields[pair[0].lowercased()] = pair.count > 1 ? String(pair[1].drop { $0 == " " }) : ""
        }
        let length = isHead || status == 100 ? 0 : Int(fields["content-length"] ?? "0") ?? 0
        guard bytes.count - end.upperBound >= length else { return nil }
        let body = Array(bytes[end.upperBound..<end.upperBound + length])
        bytes.removeFirst(end.upperBound + length)
        return Reply(status: status, fields: fields, body: body)
    }
}
