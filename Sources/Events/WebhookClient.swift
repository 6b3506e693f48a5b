import AsyncHTTPClient
import NIOCore
import NIOSSL

extension HTTPClient {
    /// A client for webhooks, which follows no redirects. The caller shuts it down.
    static func forWebhooks() -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4
        configuration.timeout.connect = .seconds(3)
        var tls = TLSConfiguration.makeClientConfiguration()
        // A receiver that hangs does not complete the TLS shutdown either, and shutting down the client would wait for
        // it.
        tls.shutdownTimeout = .seconds(1)
        configuration.tlsConfiguration = tls
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}
