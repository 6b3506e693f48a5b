import Ingest
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@Suite("SocketReader: reads a socket from a timer instead of epoll")
struct SocketReaderTests {
    /// Stores everything that is read.
    private final class Keeper: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        var reads: [ByteBuffer] = []
        var completions = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { self.reads.append(self.unwrapInboundIn(data)) }

        func channelReadComplete(context: ChannelHandlerContext) { self.completions += 1 }
    }

    private struct Seen: Sendable {
        /// nil: closed.
        var bytes: Int?
        var reads: [String]
        var completions: Int
    }

    @Test("each read passes at most a fixed amount to the pipeline, in a buffer that a handler may keep")
    func reads() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let accepted = loop.makePromise(of: (any Channel).self)
        let server = try await ServerBootstrap(group: loop)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Keeper())
                    accepted.succeed(channel)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let client = try await ClientBootstrap(group: loop).connect(host: "127.0.0.1", port: port).get()
        let channel = try await accepted.futureResult.get()
        let socket = try #require(try await loop.submit { SocketReader.socket(of: channel) }.get())
        let reader = NIOLoopBoundBox.makeBoxSendingValue(SocketReader(size: 16), eventLoop: loop)
        let step: @Sendable () async throws -> Seen = {
            try await loop.submit {
                let bytes = reader.value.read(socket, of: channel)
                let keeper = try channel.pipeline.syncOperations.handler(type: Keeper.self)
                return Seen(
                    bytes: bytes, reads: keeper.reads.map { String(buffer: $0) },
                    completions: keeper.completions)
            }.get()
        }
        let none = try await step()
        #expect(none.bytes == 0 && none.reads.isEmpty && none.completions == 0, "there is no data")
        var seen = none
        for text in ["first", "second", "longer than sixteen bytes"] {
            try await client.writeAndFlush(ByteBuffer(string: text))
            let wanted = seen.reads.joined() + text
            for _ in 0..<100_000 where seen.reads.joined() != wanted { seen = try await step() }
        }
        #expect(seen.reads == ["first", "second", "longer than sixt", "een bytes"])
        #expect(seen.completions == 4)
        #expect(seen.bytes == 9)
        try await client.close()
        try await channel.closeFuture.get()
        let read = try await loop.submit { reader.value.read(socket, of: channel) }.get()
        // Its file descriptor is closed, or belongs to another file.
        #expect(read == nil, "the channel has noticed the end itself")
        try await server.close()
    }

    @Test("an embedded channel has no socket for the reader")
    func embedded() throws {
        let channel = EmbeddedChannel()
        #expect(SocketReader.socket(of: channel) == nil)
        _ = try channel.finish()
    }
}
