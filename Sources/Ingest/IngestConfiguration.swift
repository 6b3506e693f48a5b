#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
package import Admission
package import MediaTypes
package import PipelineSpec
package import RTMP
package import TLSFiles

/// Settings of the RTMP server.
package struct IngestConfiguration: Sendable {
    /// What happens when a second encoder comes with a key that is in use.
    package enum DuplicatePolicy: Sendable, Hashable {
        /// The newer one wins: nearly always it is the same user on a new network path while the old connection is half
        /// open. At most twice in ten seconds, so that two encoders do not fight for ever.
        case takeover
        /// The older one stays, the newer one gets `BadName`.
        case reject
    }

    /// RTMP over TLS.
    package struct Secure: Sendable {
        /// `HOST:PORT`; port 0 lets the system choose.
        package var listen: String
        /// To look for new ones is the caller's.
        package var certificates: CertificateStore

        package init(listen: String, certificates: CertificateStore) {
            self.listen = listen
            self.certificates = certificates
        }
    }

    /// A source that nobody may publish for some time.
    package struct Refused: Sendable {
        package var refusal: PublishRefusal
        /// Nanoseconds of the server's clock.
        package var until: Int64

        package init(refusal: PublishRefusal, until: Int64) {
            self.refusal = refusal
            self.until = until
        }
    }

    /// What holds for one source, beside who may publish it.
    package struct Source: Sendable {
        /// How long its publisher's bytes may wait for more of them.
        package var readPatience: ReadPatience
        /// Codecs that may come in; nil: those of the server.
        package var codecs: Set<CodecName>?
        /// Refused from the start; nil: it is not.
        package var refused: Refused?

        package init(readPatience: ReadPatience, codecs: Set<CodecName>? = nil, refused: Refused? = nil) {
            self.readPatience = readPatience
            self.codecs = codecs
            self.refused = refused
        }
    }

    /// `HOST:PORT`; port 0 lets the system choose; nil: no RTMP in clear text.
    package var listen: String?
    /// nil: no RTMPS.
    package var secure: Secure?
    /// nil: no SRT.
    package var srt: SRTSettings?
    /// Connections from here begin with a PROXY header, no others.
    package var proxies: [AddressRange] = []
    /// Who may publish as what.
    package var admission: Admission
    /// Asked about each publisher whose key is right; nil: nobody is asked.
    package var hook: HookClient?
    /// Unix time in seconds, for keys that expire.
    package var wallClock: @Sendable () -> Int64 = { Int64(time(nil)) }
    package var onDuplicate = DuplicatePolicy.takeover
    /// Rules of each connection.
    package var session = RTMPServerConfiguration()
    /// Codecs that may come in.
    package var codecs = FLVDemuxer.usualCodecs
    /// The same for sources that have a list of their own.
    package var sourceCodecs: [SourceID: Set<CodecName>] = [:]
    /// Nanoseconds from the accepted publish to the refusal of a publisher that sends nothing we can read.
    package var unsupportedCodecTimeout: Int64 = 5_000_000_000
    /// How long a publisher's bytes may wait for more of them, for sources that have a jitter buffer of their own; see
    /// ``ReadPacer``.
    package var readPatience: [SourceID: ReadPatience] = [:]
    /// Refused from the start.
    package var refused: [SourceID: Refused] = [:]
    /// Nanoseconds from a wrong key to the answer: whoever guesses gets few guesses in.
    package var wrongKeyDelay: Int64 = 1_000_000_000
    /// Connections at once; one more closes one that does not publish.
    package var maximumConnections = 256
    /// Connections at once from one address that do not publish and stand still; one more closes one.
    package var maximumWaitingPerAddress = 8

    package init(listen: String = "127.0.0.1:1935", bindings: [IngestBinding]) {
        self.listen = listen
        self.admission = Admission(bindings: bindings)
    }

    package init(listen: String?, admission: Admission) {
        self.listen = listen
        self.admission = admission
    }

    /// How long bytes of `source` may wait.
    package func readPatience(of source: SourceID) -> ReadPatience { self.readPatience[source] ?? .usual }

    /// What may come in for `source`.
    package func codecs(of source: SourceID) -> Set<CodecName> { self.sourceCodecs[source] ?? self.codecs }
}
