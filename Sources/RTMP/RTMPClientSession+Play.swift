import MediaKernels

/// Playing: what a client asks for and hears when the media flows towards it.
///
/// Spec: RTMP 1.0 §7.2.2.1 (play), §7.1.7 (SetBufferLength).
extension RTMPClientSession {
    /// Takes what has arrived since the last call, in order. Media precedes the actions of the same ``receive(_:)``.
    package mutating func takeMedia() -> [RTMPMediaMessage] {
        defer { self.media = [] }
        return self.media
    }

    /// Milliseconds of media the player says it buffers: servers pace a recording by it, and send a live stream at once.
    private static let bufferMilliseconds: UInt32 = 1000

    mutating func requestPlay() {
        // −2: the live stream, else the recorded one of that name; what every player sends.
        let arguments = [AMF0Value.null, .string(self.url.streamName), .number(-2000)]
        self.command(RTMPCommand("play", arguments), streamID: self.streamID)
        let length = RTMPServerSession.bytes(Self.bufferMilliseconds)
        self.write(.userControl, [0, 3] + RTMPServerSession.bytes(self.streamID) + length)
    }

    mutating func received(playStatus status: RTMPClientStatus) {
        switch status.code {
        case "NetStream.Play.Start", "NetStream.Play.PublishNotify": self.begin()
        case "NetStream.Play.UnpublishNotify", "NetStream.Play.Stop", "NetStream.Play.Complete":
            // A connection whose stream is over may begin another one only on some servers; connecting anew works on all.
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
        // Servers that say nothing before the media have agreed all the same.
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
