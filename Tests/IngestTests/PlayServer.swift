import MediaKernels
import NIOCore
import NIOPosix
import RTMP

/// A small server that plays: it answers a player like nginx-rtmp and sends scripted messages.
struct PlayServer {
    /// What the server does when a client requests to play.
    enum Script: Sendable {
        /// Accepts, sends the messages, and then does `then`.
        case media([RTMPMediaMessage], then: End)
        case status(level: String, code: String)
        /// Bytes that are not RTMP.
        case garbage([UInt8])
    }
    enum End: Sendable { case holds, unpublishes, closes }

    let channel: any Channel
    /// The requested name, one element per player.
    let requests: Recorder<String>

    var port: Int { self.channel.localAddress?.port ?? 0 }

    /// - Parameter scripts: The first for the first player, and so on; the last one repeats for all later players.
    static func start(_ scripts: [Script]) async throws -> PlayServer {
        let requests = Recorder<String>()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(scripts: scripts, requests: requests))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return PlayServer(channel: channel, requests: requests)
    }

    func stop() async throws { try await self.channel.close().get() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let scripts: [Script]
        private let requests: Recorder<String>
        private var reader = RTMPChunkReader()
        private var writer = RTMPChunkWriter()
        private var handshake: [UInt8] = []
        private var isOpen = false

        init(scripts: [Script], requests: Recorder<String>) {
            self.scripts = scripts
            self.requests = requests
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = Array(self.unwrapInboundIn(data).readableBytesView)
            if !self.isOpen {
                // C0, C1 and C2; S1 and S2 may have any content.
                self.handshake += bytes
                if self.handshake.count >= 1537, self.handshake.count - bytes.count < 1537 {
                    self.send([3] + [UInt8](repeating: 0, count: 3072), context)
                }
                guard self.handshake.count >= 3073 else { return }
                bytes = Array(self.handshake[3073...])
                self.isOpen = true
            }
            var messages: [RTMPMessage] = []
            try? self.reader.receive(bytes.span, into: &messages)
            for message in messages where message.type == .commandAMF0 {
                self.received(AMF0Reader.values(in: message.payload.bytes).values, context)
            }
        }

        private func received(_ values: [AMF0Value], _ context: ChannelHandlerContext) {
            let transaction = values.count > 1 ? values[1].number ?? 0 : 0
            switch values.first?.string {
            case "connect":
                self.command(RTMPCommand("_result", transaction: transaction, [.null, .null]), context)
            case "createStream":
                self.command(RTMPCommand("_result", transaction: transaction, [.null, .number(1)]), context)
            case "play":
                self.requests.append(values.count > 3 ? values[3].string ?? "" : "")
                let index = min(self.requests.elements.count, self.scripts.count) - 1
                self.play(self.scripts[index], context)
            default: break
            }
        }

        private func play(_ script: Script, _ context: ChannelHandlerContext) {
            switch script {
            case .status(let level, let code): self.status(level, code, context)
            case .garbage(let bytes): self.send(bytes, context)
            case .media(let messages, let end):
                self.status("status", "NetStream.Play.Start", context)
                var bytes: [UInt8] = []
                for message in messages {
                    self.writer.write(
                        RTMPMessage(
                            chunkStreamID: message.kind == .video ? 6 : 4,
                            type: message.kind == .video ? .video : .audio, streamID: 1,
                            timestamp: message.timestamp, payload: message.payload), into: &bytes)
                }
                self.send(bytes, context)
                switch end {
                case .holds: break
                case .unpublishes: self.status("status", "NetStream.Play.UnpublishNotify", context)
                case .closes: context.close(promise: nil)
                }
            }
        }

        private func status(_ level: String, _ code: String, _ context: ChannelHandlerContext) {
            let information = AMF0Value.object([
                AMF0Property("level", .string(level)), AMF0Property("code", .string(code)),
            ])
            self.command(RTMPCommand("onStatus", [.null, information]), context)
        }

        private func command(_ command: RTMPCommand, _ context: ChannelHandlerContext) {
            var bytes: [UInt8] = []
            self.writer.write(command.message(chunkStreamID: 3, streamID: 0), header: .full, into: &bytes)
            self.send(bytes, context)
        }

        private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }
    }
}
