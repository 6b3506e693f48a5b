package import MediaTypes

/// Why a publisher is turned away, as a status code that encoders understand.
///
/// Encoders show `BadName` and `Denied` to their user; other codes leave some of them waiting for ever, so these two carry
/// every refusal behind `publish`.
package struct PublishRefusal: Sendable, Hashable {
    /// `onStatus` code.
    package let code: String
    /// Shown to the person at the encoder. Never says whether a key exists.
    package let text: String
    /// What operators are told.
    package let errorCode: ErrorCode

    package init(code: String, text: String, errorCode: ErrorCode = .authDenied) {
        self.code = code
        self.text = text
        self.errorCode = errorCode
    }

    /// The stream key is unknown or wrong; the same text for both.
    package static let denied = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "The stream key is not valid. Check the server address and the key.")
    /// The same, to somebody who wants to log in by name and password.
    package static let noLogin = PublishRefusal(
        code: "NetStream.Publish.Denied",
        text:
            "The stream key is not valid. This server knows no user names and passwords: the stream key alone lets in.")
    /// The key was right, and its time is over.
    package static let expired = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "The stream key has expired. Get a new one.")
    /// Nobody publishes from there. The answer to `connect`.
    package static let address = PublishRefusal(
        code: "NetConnection.Connect.Rejected", text: "Publishing from this network address is not allowed.")
    /// Someone publishes with this key already.
    package static let busy = PublishRefusal(
        code: "NetStream.Publish.BadName", text: "This stream key is in use by another encoder.",
        errorCode: .busyChannel)
    /// A newer connection took the key over.
    package static let takenOver = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "Another encoder took over this stream key.",
        errorCode: .busyChannel)
    /// The key is right and has been used too often in too short a time.
    package static let tooOften = PublishRefusal(
        code: "NetStream.Publish.Denied",
        text: "This stream key was used too often in a short time. Wait some seconds before you try again.",
        errorCode: .limitExceeded)
    /// No decision in time.
    package static let undecided = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "The stream key could not be checked in time.",
        errorCode: .requestFailed)
    /// The operator has sent the publisher away, for some time.
    package static let kicked = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "The operator has ended this publication.")
    /// The room has no such source any more.
    package static let removed = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "This stream has been taken out of the room.")
    /// Decoders have failed of it, and taken the room with them.
    package static let quarantined = PublishRefusal(
        code: "NetStream.Publish.Denied",
        text: "This stream could not be decoded safely. Try again in five minutes, with other encoder settings.",
        errorCode: .unsupportedCodec)
    /// The room ends.
    package static let ended = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "The room has ended.", errorCode: .roomExited)

    /// Nothing that was sent can be decoded, or the picture cannot.
    package static func unsupportedCodec(_ name: String) -> PublishRefusal {
        PublishRefusal(
            code: "NetStream.Publish.Denied", text: "The codec \(name) is not supported here. Use H.264 and AAC.",
            errorCode: .unsupportedCodec)
    }
}
