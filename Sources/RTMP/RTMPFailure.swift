package import MediaTypes

/// Why a connection ends. One case per reason, so that it can be counted and shown.
package enum RTMPFailure: Error, Sendable, Hashable {
    /// The first byte is not RTMP version 3.
    case version(RTMPVersionFault)
    /// The peer took too long.
    case deadline(RTMPDeadline)
    /// The peer exceeds a limit that no publisher needs to exceed.
    case limit(RTMPLimit)
    /// The bytes are not valid RTMP chunks; nothing after this point can be trusted.
    case desync(RTMPDesync)
    /// A message breaks the rules of the session.
    case protocolViolation(RTMPViolation)
    /// The publisher was refused or disconnected with this status code.
    case refused(PublishRefusal)
}

/// The kind of first byte that the peer sent instead of RTMP version 3.
package enum RTMPVersionFault: Sendable, Hashable {
    /// The first byte is 6: the peer uses RTMPE, which is not supported.
    case encrypted
    /// The first byte is that of a TLS handshake, on a port without TLS.
    case tls
    /// The first byte is printable ASCII, as in an HTTP request or a PROXY header.
    case text
    case other(UInt8)

    init(_ byte: UInt8) {
        switch byte {
        case 6: self = .encrypted
        case 0x16: self = .tls
        case 0x20...0x7E: self = .text
        default: self = .other(byte)
        }
    }
}

/// The phases of a connection that have a time limit.
package enum RTMPDeadline: String, Sendable, Hashable {
    case handshake, publish, decision, firstMedia, mediaIdle
}

/// The limits that a peer can exceed.
package enum RTMPLimit: String, Sendable, Hashable {
    case chunkStreams, partialMessages, partialBytes, messageLength, setupBytes, commandRate, tinyMessageRate
    case createdStreams, undecidedBytes
}

/// How the chunk stream became invalid.
package enum RTMPDesync: Sendable, Hashable {
    /// A type 2 or 3 header on a chunk stream that has no earlier header.
    case headerWithoutPredecessor(chunkStreamID: UInt32)
    /// In the middle of a message, a type 0 header, or a type 1 header with another length or message type.
    case headerInsideMessage(chunkStreamID: UInt32)
    /// A message type above 22, the last defined one.
    case messageType(UInt8)
    /// More than eight messages of undefined types up to 22.
    case unknownMessages
}

/// How a message breaks the rules of the session.
package enum RTMPViolation: String, Sendable, Hashable {
    case chunkSize, secondConnect, connectWithoutApp, malformedCommand
}

extension RTMPFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .version(.encrypted): "RTMPE is not supported"
        case .version(.tls): "the peer uses TLS on a port without TLS"
        case .version(.text): "the peer uses a text protocol instead of RTMP"
        case .version(.other(let byte)): "the first byte is \(byte) instead of RTMP version 3"
        case .deadline(let phase): "deadline passed: \(phase.rawValue)"
        case .limit(let limit): "limit exceeded: \(limit.rawValue)"
        case .desync(let desync): "invalid chunk stream: \(desync)"
        case .protocolViolation(let violation): "protocol violation: \(violation.rawValue)"
        case .refused(let refusal): "the answer was \(refusal.code)"
        }
    }
}

extension RTMPFailure {
    /// The code of this failure in the worker's error catalogue.
    package var errorCode: ErrorCode {
        switch self {
        case .version, .desync, .protocolViolation: .invalidFormat
        case .deadline: .requestFailed
        case .limit(.messageLength), .limit(.partialBytes), .limit(.setupBytes), .limit(.undecidedBytes): .inputTooLarge
        case .limit: .limitExceeded
        case .refused(let refusal): refusal.errorCode
        }
    }
}
