import HTTPTypes
package import HummingbirdCore
import NIOCore
import NIOPosix

/// Writes one reply: in one piece where it is small, in chunks under back-pressure where it is not.
package struct ReplySender: Sendable {
    /// Thrown to close the connection, after the reply or in the middle of one that cannot be completed.
    package enum Ending: Error {
        case closeConnection
        case fileShrank
    }

    /// Bytes in flight per connection; NIO's default high watermark, so that a slow client costs one chunk and no more.
    package static let chunkBytes = 64 << 10
    /// Bytes of a file in flight per connection: unlike shared bytes they are the connection's own, and two thousand slow
    /// readers of segments must cost less than the room's pictures.
    package static let fileChunkBytes = 16 << 10

    package let isHead: Bool
    /// Unix time, seconds.
    package let now: Int64

    package func send(_ reply: ListenerReply, to writer: consuming ResponseWriter) async throws {
        var reply = reply
        var file: ServedFile?
        if case .file(let path, _) = reply.body {
            file = try await NIOThreadPool.singleton.runIfActive { ServedFile(path: path) }
            // A segment that left the window between the look-up and now: the same answer as a moment later.
            if file == nil { reply = .plain(.notFound, "no such object") }
        }
        var head = HTTPResponse(status: reply.status, headerFields: reply.fields)
        if reply.status.mayHaveBody { head.headerFields[.contentLength] = String(reply.body.count) }
        head.headerFields[.date] = HTTPDate.text(unixSeconds: self.now)
        guard !self.isHead, reply.body.count > 0 else { return try await writer.writeResponse(head) }
        switch reply.body {
        case .none:
            try await writer.writeResponse(head)
        case .bytes(let bytes, let range) where range.count <= Self.chunkBytes:
            try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes[range])))
        case .bytes(let bytes, let range):
            var body = try await writer.writeHead(head)
            for chunk in Self.chunks(of: range) { try await body.write(ByteBuffer(bytes: bytes[chunk])) }
            try await body.finish(nil)
        case .buffers(let buffers) where reply.body.count <= Self.chunkBytes && buffers.count == 1:
            try await writer.write(response: head, body: ResponseBody(byteBuffer: buffers[0]))
        case .buffers(let buffers):
            var body = try await writer.writeHead(head)
            for buffer in buffers {
                var rest = buffer
                while let chunk = rest.readSlice(length: min(Self.chunkBytes, rest.readableBytes)),
                    chunk.readableBytes > 0
                {
                    try await body.write(chunk)
                }
            }
            try await body.finish(nil)
        case .file(_, let range):
            var body = try await writer.writeHead(head)
            for chunk in Self.chunks(of: range, size: Self.fileChunkBytes) {
                let buffer = try await NIOThreadPool.singleton.runIfActive { [file] in
                    file?.read(at: chunk.lowerBound, count: chunk.count)
                }
                // The length is promised: only closing tells the client that it is not kept.
                guard let buffer else { throw Ending.fileShrank }
                try await body.write(buffer)
            }
            try await body.finish(nil)
        }
    }

    package static func chunks(of range: Range<Int>, size: Int = Self.chunkBytes) -> some Sequence<Range<Int>> {
        stride(from: range.lowerBound, to: range.upperBound, by: size).lazy.map {
            $0..<min($0 + size, range.upperBound)
        }
    }
}

extension HTTPResponse.Status {
    /// Spec: RFC 9110 §6.4.1: 1xx, 204 and 304 have no content.
    fileprivate var mayHaveBody: Bool { self.code >= 200 && self.code != 204 && self.code != 304 }
}
