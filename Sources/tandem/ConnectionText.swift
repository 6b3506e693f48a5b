import AsyncHTTPClient
import Egress

/// Describes why a server does not answer, in plain words instead of the network library's.
enum ConnectionText {
    static func of(_ error: any Error) -> String {
        guard let error = error as? HTTPClientError else {
            return ConnectionFailure.text(error) ?? "the connection failed (\(type(of: error)))"
        }
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout: return "no connection in time"
        case .readTimeout, .writeTimeout, .deadlineExceeded: return "no answer in time"
        case .remoteConnectionClosed: return "the connection was closed before the answer"
        default: return "the request failed (\(error.shortDescription))"
        }
    }
}
