import MediaKernels

/// Commands and media of a client that plays.
///
/// Spec: RTMP 1.0 §7.2.2.1 (play), §7.1.7 (SetBufferLength).
extension RTMPClientSession {
    /// Removes and returns the media that arrived since the last call, in order.
    package mutating func takeMedia() -> [RTMPMediaMessage] {
        defer { self.media = [] }
        return self.media
    }

    /// Buffer length that the client announces, in milliseconds: servers pace a recording by it, and send a live stream
    /// at once.
    private static let bufferMilliseconds: UInt32 = 1000

    mutating func requestPlay() {
        // Start −2 in the specification, −2000 in players, which send milliseconds: the live stream, or else the recorded
        // one with that name.
        let arguments = [AMF0Value.null, .string(self.url.streamName), .number(-2000)]
        self.command(RTMPCommand("play", arguments), streamID: self.streamID)
        let length = RTMPServerSession.bytes(Self.bufferMilliseconds)
        self.write(.userControl, [0, 3] + RTMPServerSession.bytes(self.streamID) + length)
    }

    mutating func received(playStatus status: RTMPClientStatus) {
        switch status.code {
        case "NetStream.Play.Start", "NetStream.Play.PublishNotify": self.begin()
        case "NetStream.Play.UnpublishNotify", "NetStream.Play.Stop", "NetStream.Play.Complete":
            // Only some servers allow another stream on a connection whose stream has ended; a new connection works
            // with all.
            self.fail(.rejected(status))
        default: break
        }
    }

    mutating func received(media message: RTMPMessage) {
        guard self.purpose == .play else { return }
        if message.type == .aggregate {
            for inner in RTMPAggregate(message) { self.received(media: inner) }
            return
        }
        guard message.type == .audio || message.type == .video else { return }
        // If a server sends media without a status before it, it has accepted as well.
        self.begin()
        guard self.state == .ready else { return }
        self.media.append(
            RTMPMediaMessage(
                kind: message.type == .video ? .video : .audio, timestamp: message.timestamp, payload: message.payload))
    }

    private mutating func begin() {
        guard self.state == .requested else { return }
        self.state = .ready
        self.actions.append(.ready)
    }
}
