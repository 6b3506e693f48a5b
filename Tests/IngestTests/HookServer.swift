import NIOCore
import NIOPosix
import Synchronization

/// A webhook on a free port: accepts one request per connection and answers as configured.
final class HookServer: Sendable {
    enum Behaviour: Sendable {
        case answer(status: Int, body: String)
        /// Never answers.
        case silent
        case close
        /// Answers, and withholds the last byte of the answer.
        case withhold(status: Int, body: String)
    }

    let requests = Recorder<String>()
    /// One element for each request whose connection is closed.
    let closed = Recorder<String>()
    let port: Int
    private let channel: any Channel

    init(_ behaviour: Behaviour) async throws {
        let (requests, closed) = (self.requests, self.closed)
        self.channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(behaviour, requests, closed))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.port = self.channel.localAddress?.port ?? 0
    }

    var url: String { "http://127.0.0.1:\(self.port)/hooks/publish?t=hook_secret" }

    func stop() async { try? await self.channel.close().get() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let behaviour: Behaviour
        private let requests: Recorder<String>
        private let closed: Recorder<String>
        private var text = ""

        init(_ behaviour: Behaviour, _ requests: Recorder<String>, _ closed: Recorder<String>) {
            self.behaviour = behaviour
            self.requests = requests
            self.closed = closed
        }

        func channelInactive(context: ChannelHandlerContext) { self.closed.append(self.text) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.text += String(buffer: self.unwrapInboundIn(data))
            guard let end = self.text.firstRange(of: "\r\n\r\n") else { return }
            let length = self.text[..<end.lowerBound].split(separator: "\r\n").compactMap { line -> Int? in
                let parts = line.lowercased().split(separator: ":")
                guard parts.count == 2, parts[0] == "content-length" else { return nil }
                return Int(parts[1].drop { $0 == " " })
            }.first
            guard let length, self.text[end.upperBound...].utf8.count >= length else { return }
            self.requests.append(self.text)
            switch self.behaviour {
            case .silent: break
            case .close: context.close(promise: nil)
            case .answer(let status, let body): self.send(status, body, length: body.utf8.count, context)
            case .withhold(let status, let body): self.send(status, body, length: body.utf8.count + 1, context)
            }
        }

        private func send(_ status: Int, _ body: String, length: Int, _ context: ChannelHandlerContext) {
            let head = "HTTP/1.1 \(status) X\r\ncontent-length: \(length)\r\nconnection: close\r\n\r\n"
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: head + body)), promise: nil)
        }
    }
}
