import Libc
package import NIOCore
import NIOPosix
import PipelineSpec

/// Describes why a connection to another server failed, as text for users. The text never contains a type name, and of
/// the URL at most host and port.
package enum ConnectionFailure {
    /// Returns the description of a connection error.
    ///
    /// - Returns: For example `connection refused`; `nil` for an error that is not about a connection.
    package static func text(_ error: any Error) -> String? {
        switch error {
        case let error as EgressPolicy.Refusal: error.description
        case let error as NIOConnectionError:
            // There is one error for each address that was tried; the first known one is described.
            error.connectionErrors.lazy.compactMap { self.text($0.error) }.first ?? "no such host"
        case let error as SocketAddressError:
            if case .unknown = error { "no such host" } else { "the address cannot be used" }
        case let error as IOError: self.text(code: error.errnoCode)
        case let error as ChannelError: self.text(error)
        default: nil
        }
    }

    /// Returns the description of a system error.
    ///
    /// - Parameter code: Error number (`errno`).
    package static func text(code: CInt) -> String {
        switch code {
        case ECONNREFUSED: "connection refused"
        case ECONNRESET, EPIPE: "the connection was reset by the other side"
        case ETIMEDOUT: "no answer from the network in time"
        case EHOSTUNREACH: "no route to the host"
        case ENETUNREACH: "the network cannot be reached"
        case EMFILE, ENFILE: "this process has too many files open"
        default: String(cString: strerror(code)).lowercased()
        }
    }

    private static func text(_ error: ChannelError) -> String {
        switch error {
        case .connectTimeout(let time): "no connection within \(time.nanoseconds / 1_000_000) ms"
        case .ioOnClosedChannel, .alreadyClosed, .eof, .inputClosed, .outputClosed: "the connection was closed"
        default: "the connection failed"
        }
    }
}
