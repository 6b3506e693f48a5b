import Libc
package import PublishAuth
package import MediaTypes
package import PipelineSpec
package import RTMP
package import TLSFiles

/// Settings of the ingest server.
package struct IngestConfiguration: Sendable {
    /// What happens when a second encoder publishes with a key that is in use.
    package enum DuplicatePolicy: Sendable, Hashable {
        /// The newer publisher replaces the older one: nearly always it is the same user on a new network path while
        /// the old connection is half open. At most two takeovers in ten seconds from a publisher that sends media, so
        /// that two encoders do not fight forever; see ``TakeoverLimiter``.
        case takeover
        /// The older publisher stays, and the newer one is refused.
        case reject
    }

    /// Settings of the listener for RTMP over TLS (RTMPS).
    package struct Secure: Sendable {
        /// Listen address, `HOST:PORT`; port 0 lets the system choose.
        package var listen: String
        /// Certificate and key. The caller reloads them when the files change.
        package var certificates: CertificateStore

        package init(listen: String, certificates: CertificateStore) {
            self.listen = listen
            self.certificates = certificates
        }
    }

    /// A temporary refusal of all publishers of a source.
    package struct Refused: Sendable {
        package var refusal: PublishRefusal
        /// Time of the server's clock at which the refusal ends, in nanoseconds.
        package var until: Int64

        package init(refusal: PublishRefusal, until: Int64) {
            self.refusal = refusal
            self.until = until
        }
    }

    /// Settings of one source, apart from its stream keys.
    package struct Source: Sendable {
        /// How long received bytes may wait in the socket before they are read.
        package var readPatience: ReadDelayLimits
        /// Codecs that its publishers may send; nil: those of the server.
        package var codecs: Set<CodecName>?
        /// A refusal that applies when the source is added; nil: publishers are accepted.
        package var refused: Refused?

        package init(readPatience: ReadDelayLimits, codecs: Set<CodecName>? = nil, refused: Refused? = nil) {
            self.readPatience = readPatience
            self.codecs = codecs
            self.refused = refused
        }
    }

    /// Listen address of unencrypted RTMP, `HOST:PORT`; port 0 lets the system choose; nil: no unencrypted RTMP.
    package var listen: String?
    /// The RTMPS listener; nil: no RTMPS.
    package var secure: Secure?
    /// The SRT listener; nil: no SRT.
    package var srt: SRTSettings?
    /// The listener for WebRTC publishers; nil: none.
    package var webRTC: WebRTCSettings?
    /// RTMP connections from these addresses must begin with a PROXY header, and HTTP connections may, or have
    /// `X-Forwarded-For`. Other connections must not begin with a PROXY header, and their `X-Forwarded-For` is ignored.
    package var proxies: [AddressRange] = []
    /// Decides which publisher may publish which source.
    package var admission: Admission
    /// Webhook that is asked about each publisher with a valid key; nil: none.
    package var hook: PublishWebhookClient?
    /// Returns the Unix time in seconds; keys that expire are compared with it.
    package var wallClock: @Sendable () -> Int64 = { Int64(time(nil)) }
    package var onDuplicate = DuplicatePolicy.takeover
    /// RTMP settings and limits of each connection.
    package var session = RTMPServerConfiguration()
    /// Codecs that publishers may send.
    package var codecs = FLVDemuxer.usualCodecs
    /// Codecs that publishers of these sources may send, in place of ``codecs``.
    package var sourceCodecs: [SourceID: Set<CodecName>] = [:]
    /// Nanoseconds from the accepted publish until a publisher is refused whose video codec is not supported, or that
    /// sends no supported codec.
    package var unsupportedCodecTimeout: Int64 = 5_000_000_000
    /// How long received bytes may wait in the socket; for other sources, ``ReadDelayLimits/usual`` applies. See
    /// ``ReadScheduler``.
    package var readPatience: [SourceID: ReadDelayLimits] = [:]
    /// Sources that refuse publishers from the start.
    package var refused: [SourceID: Refused] = [:]
    /// Nanoseconds between a publish request and its refusal, for a wrong key or a source that is published too often. It
    /// slows down guessing.
    package var wrongKeyDelay: Int64 = 1_000_000_000
    /// Maximum number of connections. If another connection arrives, the server closes one of those that do not
    /// publish.
    package var maximumConnections = 256
    /// Maximum number of connections from one client network that do not publish. If there are more, the server closes
    /// those that have made no progress for ``ConnectionLimiter/patience``.
    package var maximumWaitingPerAddress = 8

    package init(listen: String = "127.0.0.1:1935", bindings: [IngestBinding]) {
        self.listen = listen
        self.admission = Admission(bindings: bindings)
    }

    package init(listen: String?, admission: Admission) {
        self.listen = listen
        self.admission = admission
    }

    /// How long received bytes of `source` may wait in the socket.
    package func readPatience(of source: SourceID) -> ReadDelayLimits { self.readPatience[source] ?? .usual }

    /// Codecs that publishers of `source` may send.
    package func codecs(of source: SourceID) -> Set<CodecName> { self.sourceCodecs[source] ?? self.codecs }
}
