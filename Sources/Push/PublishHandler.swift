import MediaTypes
import NIOCore
import RTMP

/// Performs the actions of a ``RTMPClientSession`` on one connection. Bound to its event loop.
final class PublishHandler: ChannelInboundHandler, ChannelOutboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    /// A command of the sending thread to the event loop, sent as a user event of the channel.
    enum Command: Sendable {
        case describe([CodecParameters], Picture?)
        case media(RTMPMediaMessage)
        case finish

        struct Picture: Sendable {
            var width: Int
            var height: Int
            var fps: Int

            init(_ picture: (width: Int, height: Int, fps: Int)) {
                (self.width, self.height, self.fps) = picture
            }
        }
    }

    private var session: RTMPClientSession
    private let outcome: PublishOutcome

    init(url: RTMPURL, outcome: PublishOutcome) {
        self.session = RTMPClientSession(url: url)
        self.outcome = outcome
    }

    func channelActive(context: ChannelHandlerContext) {
        var random = SystemRandomNumberGenerator()
        self.write(
            self.session.start(random: (0..<1528).map { _ in UInt8.random(in: 0...255, using: &random) }), context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = self.unwrapInboundIn(data)
        let bytes = Array(buffer.readableBytesView)
        for action in self.session.receive(bytes.span) {
            switch action {
            case .send(let bytes): self.write(bytes, context)
            case .ready: self.outcome.ready()
            case .failed(.rejected(let status)): self.outcome.fail(.refused(code: status.code, text: status.text))
            case .failed(.server): self.outcome.fail(.connectionLost)
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.outcome.fail(.connectionLost)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.outcome.fail(.connectionLost)
        context.close(promise: nil)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let command = event as? Command else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        switch command {
        case .describe(let parameters, let picture): self.describe(parameters, picture, context)
        case .media(let message):
            self.write(self.session.bytes(for: message), context, accounted: message.payload.count)
        case .finish: self.write(self.session.finish(), context)
        }
        promise?.succeed()
    }

    private func describe(
        _ parameters: [CodecParameters], _ picture: Command.Picture?, _ context: ChannelHandlerContext
    ) {
        var properties: [AMF0Property] = []
        if let picture {
            properties += [
                AMF0Property("width", .number(Double(picture.width))),
                AMF0Property("height", .number(Double(picture.height))),
                AMF0Property("framerate", .number(Double(picture.fps))),
            ]
        }
        properties += FLVTagWriter.codecProperties(
            video: parameters.first { $0.kind == .video }?.codec, audio: parameters.first { $0.kind == .audio }?.codec)
        properties.append(AMF0Property("encoder", .string("Tandem")))
        self.write(self.session.bytes(forMetadata: properties), context)
        for parameters in parameters {
            guard let message = FLVTagWriter.configuration(parameters) else { continue }
            self.write(self.session.bytes(for: message), context)
        }
    }

    private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext, accounted: Int = 0) {
        guard !bytes.isEmpty else {
            self.outcome.sent(accounted)
            return
        }
        let outcome = self.outcome
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes))).whenComplete { _ in
            outcome.sent(accounted)
        }
    }
}
