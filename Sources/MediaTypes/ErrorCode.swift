/// The error catalog: one code for each kind of failure, used in problem details of the control API, in events (`code`)
/// and in the final event of a worker. Some codes also have a number that NetEase's live service
/// uses.
package enum ErrorCode: String, Sendable, Hashable, CaseIterable {
    /// A newer request has replaced this one, or a newer worker serves the room.
    case superseded
    /// The request, or the data of a publisher, cannot be parsed or contains an invalid value.
    case invalidFormat
    /// The room has ended or is ending.
    case roomExited
    /// A limit on the number of something is reached.
    case limitExceeded
    /// Something with this id exists already.
    case duplicateId
    /// The named object does not exist.
    case notFound
    /// The request is valid but cannot be executed.
    case requestFailed
    /// An internal error of this program.
    case `internal`
    /// The scene cannot be composed.
    case invalidLayout
    /// An image cannot be loaded or shown.
    case imageError
    /// The client is not authorized.
    case authDenied
    /// Another publisher is using the source.
    case busyChannel
    /// The publisher's codec or format cannot be decoded here.
    case unsupportedCodec
    /// The body, the message or the frame is larger than the limit.
    case inputTooLarge
    /// The change requires a restart of the worker.
    case needsRestart
    /// A source's publisher did not reconnect in time.
    case sourceLost
    /// The server of a remote output cannot be reached.
    case outputUnreachable
    /// The server of a remote output rejected the connection.
    case outputRefused
    /// The server of a remote output is connected but accepts no data.
    case outputWedged
    /// There is no space left on the device.
    case diskFull
    /// The pipeline file has errors.
    case configInvalid
    /// An address is in use or not available.
    case bindFailed
    /// The room had no publisher for the time set in the pipeline: none came, or all have left.
    case idleTimeout
    /// A WebRTC publisher got its answer and has never published: no valid connectivity check of it arrived in time,
    /// or its checks stopped.
    case iceFailed

    /// The number that NetEase's live service uses for this error; 0 if it has none.
    package var number: Int {
        switch self {
        case .superseded: 1301
        case .invalidFormat: 1400
        case .roomExited: 1401
        case .limitExceeded: 1402
        case .duplicateId: 1403
        case .notFound: 1404
        case .requestFailed: 1417
        case .internal: 1500
        case .invalidLayout: 1501
        case .imageError: 1512
        case .authDenied, .busyChannel, .unsupportedCodec, .inputTooLarge, .needsRestart, .sourceLost,
            .outputUnreachable, .outputRefused, .outputWedged, .diskFull, .configInvalid, .bindFailed, .idleTimeout,
            .iceFailed:
            0
        }
    }
}
