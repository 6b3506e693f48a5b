import NIOCore

/// Distinguishes a request with an unknown method from data that is not HTTP at all; the HTTP/1.1 parser reports the
/// same error for both. The handler sits above TLS, before the parser.
final class MethodReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// True if the last data read begins with a word and a space, as a request does.
    private(set) var hasMethod = false

    private static let longest = 32

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let start = self.unwrapInboundIn(data).readableBytesView.prefix(Self.longest)
        let word = start.prefix { (0x41...0x5a).contains($0 & 0xdf) }
        self.hasMethod = !word.isEmpty && start.dropFirst(word.count).first == 0x20
        context.fireChannelRead(data)
    }
}
