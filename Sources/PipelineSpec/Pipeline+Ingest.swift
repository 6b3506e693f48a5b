package import MediaTypes

extension Pipeline {
    /// How media comes in from publishers.
    package struct Ingest: Sendable, Equatable {
        /// What publishers may send; anything else is refused with its name.
        package enum Codec: String, Sendable, CaseIterable {
            case h264, hevc, av1, vp9, vp8
            case aac, mp3, opus, ac3, eac3, flac, g711a, g711u, pcm, adpcm, nellymoser, speex
        }

        package var rtmp = RTMP()
        /// Keys that somebody else signs; `nil`: none are accepted.
        package var auth: Auth?
        /// Asked about each publisher whose key is right; `nil`: nobody is asked.
        package var onPublish: OnPublish?
        /// Where publishers may be; empty: anywhere.
        package var allowedAddresses: [AddressRange] = []
        package var pull = Pull()
        /// Default H.264, AAC and MP3.
        package var codecs: [Codec] = [.h264, .aac, .mp3]

        package init() {}
    }

    /// The RTMP listener.
    package struct RTMP: Sendable, Equatable {
        /// What happens when a second publisher arrives with a stream key that is in use.
        package enum OnDuplicate: String, Sendable, CaseIterable {
            /// The new publisher replaces the old one.
            case takeover
            /// The new publisher is refused.
            case reject
        }

        /// A TCP address. Default `0.0.0.0:1935`.
        package var listen = ListenAddress.tcp(host: "0.0.0.0", port: 1935)
        /// The application name in the publish URL. Default `live`.
        package var app = "live"
        /// Chunk size we announce, in bytes (128…65,536). Default 4096.
        package var chunkSize = 4096
        /// Default ``OnDuplicate/takeover``.
        package var onDuplicate = OnDuplicate.takeover
        /// Time from publish to the first media packet, in milliseconds (1,000…600,000). Default 20,000.
        package var firstPacketTimeoutMs = 20_000
        /// Time without any packet after which a connection is closed, in milliseconds (1,000…3,600,000). Default
        /// 90,000, because a screen broadcast may pause for long.
        package var idleTimeoutMs = 90_000
        /// Time a lost publisher has to come back before its source counts as gone, in milliseconds (0…600,000).
        /// Default 15,000.
        package var reconnectGraceMs = 15_000
        /// Most connections at once (1…1,024). Default 64.
        package var maxConnections = 64

        package init() {}
    }
}
