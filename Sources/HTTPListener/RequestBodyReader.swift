import HTTPTypes
package import HummingbirdCore
import NIOCore

/// Reads a request's body up to a limit.
package struct RequestBodyReader: Sendable {
    /// Bytes.
    package let limit: Int

    package func read(_ request: Request) async throws -> ListenerRequest.Body {
        if let announced = request.headers[.contentLength].flatMap({ Int($0) }), announced > self.limit {
            return .tooLarge
        }
        var bytes: [UInt8] = []
        for try await buffer in request.body {
            guard buffer.readableBytes <= self.limit - bytes.count else { return .tooLarge }
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        return .bytes(bytes)
    }
}
