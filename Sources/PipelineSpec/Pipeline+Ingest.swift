package import MediaTypes

extension Pipeline {
    /// The listeners for publishers and the rules for them.
    package struct Ingest: Sendable, Equatable {
        /// A codec that publishers may be allowed to send. A publisher that sends any other codec is rejected, with the
        /// codec's name in the reason.
        package enum Codec: String, Sendable, CaseIterable {
            case h264, hevc, av1, vp9, vp8
            case aac, mp3, opus, ac3, eac3, flac, g711a, g711u, pcm, adpcm, nellymoser, speex
        }

        package var rtmp = RTMP()
        /// Stream keys that an external service signs; `nil`: not accepted.
        package var auth: Auth?
        /// Webhook that decides about each publisher with a valid key, and about the publishers of sources without a
        /// stream key; `nil`: no webhook.
        package var onPublish: OnPublish?
        /// Addresses that publishers may connect from; empty: any.
        package var allowedAddresses: [AddressRange] = []
        /// Listener for RTMP over TLS; `nil`: none.
        package var rtmps: RTMPS?
        /// Listener for MPEG-TS over SRT; `nil`: none.
        package var srt: SRT?
        /// Listener for WebRTC publishers (WHIP); `nil`: none.
        package var webRTC: WebRTC?
        /// Proxies in front of this worker; empty: none. Their RTMP and RTMPS connections must begin with a PROXY header;
        /// their HTTP connections to ``webRTC`` may begin with it, or name the client in `X-Forwarded-For`.
        package var proxies: [AddressRange] = []
        package var pull = Pull()
        /// Codecs that publishers may send. Default H.264, AAC and MP3; with ``webRTC`` also VP8, VP9 and Opus.
        package var codecs: [Codec] = [.h264, .aac, .mp3]

        package init() {}
    }

    /// The RTMP listener.
    package struct RTMP: Sendable, Equatable {
        /// What happens when a second publisher arrives with a stream key that is in use.
        package enum OnDuplicate: String, Sendable, CaseIterable {
            /// The new publisher replaces the old one. While the old one sends media, this happens at most twice in ten
            /// seconds; further publishers are rejected.
            case takeover
            /// The new publisher is rejected.
            case reject
        }

        /// TCP address of the listener. `nil`: no listener; publishers then need RTMPS, SRT or WHIP. Default
        /// `0.0.0.0:1935`.
        package var listen: ListenAddress? = .tcp(host: "0.0.0.0", port: 1935)
        /// The application name in the publish URL. Default `live`.
        package var app = "live"
        /// Chunk size that the worker announces, in bytes (128…65,536). Default 4096.
        package var chunkSize = 4096
        /// What happens to a second publisher with a stream key that is in use. Default ``OnDuplicate/takeover``.
        package var onDuplicate = OnDuplicate.takeover
        /// Time from the connection to the end of its handshake, TLS included, in milliseconds (500…60,000). Default
        /// 5,000.
        package var handshakeTimeoutMs = 5000
        /// Time from the connection, or from the end of a publication, to publish, in milliseconds (1,000…60,000).
        /// Default 10,000.
        package var publishTimeoutMs = 10_000
        /// Time from publish to the first media packet, in milliseconds (1,000…600,000). Default 20,000.
        package var firstPacketTimeoutMs = 20_000
        /// Time without any packet after which a connection is closed, in milliseconds (1,000…3,600,000). Default
        /// 90,000, because a screen broadcast may pause for a long time.
        package var idleTimeoutMs = 90_000
        /// Time that a lost or silent publisher has to send media again before its source counts as gone, in
        /// milliseconds (0…600,000). Default 15,000.
        package var reconnectGraceMs = 15_000
        /// Maximum number of concurrent connections (1…1,024). Default 256. If there are more, one that does not
        /// publish is closed.
        package var maxConnections = 256
        /// Maximum number of concurrent connections from one address, or from one /64 of IPv6, that do not publish
        /// (1…1,024). Default 8. If there are more, those that have made no progress for 500 ms are closed, the longest
        /// inactive first.
        package var maxConnectionsPerAddress = 8
        /// Largest audio or video message, in bytes (65,536…16,777,215). Default 8 MiB.
        package var maxMessageBytes = 8 << 20
        /// Maximum size of a connection's incomplete messages together, in bytes (65,536…67,108,864). Default 16 MiB.
        package var maxPartialBytes = 16 << 20
        /// Maximum number of incomplete messages of a connection (2…8). Default 8.
        package var maxPartialMessages = 8
        /// Maximum number of chunk streams of a connection (4…1,024). Default 64.
        package var maxChunkStreams = 64
        /// Maximum nesting depth of objects in commands and metadata (4…64). Default 16.
        package var maxAmfDepth = 16

        package init() {}
    }
}
