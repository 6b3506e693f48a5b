/// The error catalogue: a word for each thing that goes wrong, the same in problems of the control API, in events (`code`) and in the
/// last words of a worker. Live services know some of them by a number.
package enum ErrorCode: String, Sendable, Hashable, CaseIterable {
    /// A newer request has made this one void, or a newer worker serves the room.
    case superseded
    /// The request, or what a publisher sends, cannot be understood.
    case invalidFormat
    /// The room is over or is ending.
    case roomExited
    /// There are too many of something already.
    case limitExceeded
    /// Something of this id is there.
    case duplicateId
    /// What is named is not there.
    case notFound
    /// The request was understood and cannot be done.
    case requestFailed
    /// Our own mistake.
    case `internal`
    /// The scene cannot be composed.
    case invalidLayout
    /// An image cannot be shown.
    case imageError
    /// The sender may not do this.
    case authDenied
    /// Somebody publishes there already.
    case busyChannel
    /// What a publisher sends cannot be decoded here.
    case unsupportedCodec
    /// The body, the message or the picture is larger than the limit.
    case inputTooLarge
    /// Another worker can take this, no running one.
    case needsRestart
    /// A source has not come back in time.
    case sourceLost
    /// An output elsewhere is not reached.
    case outputUnreachable
    /// The server of an output elsewhere says no.
    case outputRefused
    /// An output elsewhere takes nothing.
    case outputWedged
    /// There is no space left for what was to be written.
    case diskFull
    /// The pipeline file has mistakes.
    case configInvalid
    /// An address is taken or not ours.
    case bindFailed
    /// Nobody published for as long as the pipeline waits.
    case idleTimeout

    /// What live services call it; 0 where they have no number.
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
            .outputUnreachable, .outputRefused, .outputWedged, .diskFull, .configInvalid, .bindFailed, .idleTimeout:
            0
        }
    }
}
