package import PipelineSpec
package import TLSFiles

/// Settings of an edge.
package struct EdgeSettings: Sendable {
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

    /// Listen address of unencrypted RTMP, `HOST:PORT`; port 0 lets the system choose; nil: no unencrypted RTMP.
    package var listen: String?
    /// The RTMPS listener; nil: no RTMPS.
    package var secure: Secure?
    package var directory: KeyDirectory
    /// True if rooms get the publisher's address in a PROXY header; they must expect it (`ingest.proxies`).
    package var sendsProxyHeader = false
    /// Connections from these addresses must begin with a PROXY header; others must not.
    package var proxies: [AddressRange] = []
    /// True if several processes may listen on the same port of this machine; the kernel distributes connections.
    package var sharesPort = false
    /// Maximum number of connections. If another one arrives, the edge closes one that does not publish.
    package var maximumConnections = 1024
    /// Maximum number of connections from one client network that do not publish. If there are more, the edge closes
    /// those that make no progress.
    package var maximumWaitingPerAddress = 8
    /// How long received bytes may wait in a publisher's socket so that more are forwarded at once, in nanoseconds. 0:
    /// they are forwarded as they arrive.
    package var readDelay: Int64 = 100_000_000
    /// Whether bytes move from a publisher's socket to its room's by splice(2), if the system can do that; false: they are
    /// copied. Publishers with TLS, and all publishers without a ``readDelay``, are always copied.
    package var splices = true
    /// Time between two checks of the key directory for rooms that have moved, in nanoseconds.
    package var moveCheck: Int64 = 2_000_000_000
    package var session = EdgeSession.Settings()

    package init(listen: String?, directory: KeyDirectory) {
        self.listen = listen
        self.directory = directory
    }
}
