package import MediaTypes

/// Why a publisher is refused, as a status code that encoders understand.
///
/// Encoders show `BadName` and `Denied` to their user. Other codes leave some encoders waiting forever, so every
/// refusal of `publish` uses one of these two.
package struct PublishRefusal: Sendable, Hashable {
    /// The code that the encoder gets in `onStatus`, or in `_error` as the answer to `connect`.
    package let code: String
    /// Shown to the person at the encoder.
    package let text: String
    /// Error code for the operator.
    package let errorCode: ErrorCode

    package init(code: String, text: String, errorCode: ErrorCode = .authDenied) {
        self.code = code
        self.text = text
        self.errorCode = errorCode
    }

    /// The stream key is not accepted: it is unknown, malformed, wrongly signed or already used, its source was removed, or the
    /// webhook refuses it without a reason. The text is the same for all.
    package static let denied = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "The stream key is not valid. Check the server address and the key.")
    /// The stream key is not accepted, and the encoder tries to log in with a user name and password.
    package static let noLogin = PublishRefusal(
        code: "NetStream.Publish.Denied",
        text:
            "The stream key is not valid. This server does not use user names and passwords, only the stream key.")
    /// The key was valid but has expired.
    package static let expired = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "The stream key has expired. Get a new one.")
    /// The client's network address is not allowed. Sent as the answer to `connect`.
    package static let address = PublishRefusal(
        code: "NetConnection.Connect.Rejected", text: "Publishing from this network address is not allowed.")
    /// Another encoder publishes with this key.
    package static let busy = PublishRefusal(
        code: "NetStream.Publish.BadName", text: "This stream key is in use by another encoder.",
        errorCode: .busyChannel)
    /// A newer connection took the key over.
    package static let takenOver = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "Another encoder took over this stream key.",
        errorCode: .busyChannel)
    /// The key is valid but was used too often in a short time.
    package static let tooOften = PublishRefusal(
        code: "NetStream.Publish.Denied",
        text: "This stream key was used too often in a short time. Wait some seconds before you try again.",
        errorCode: .limitExceeded)
    /// There is no decision about the publish request: it took too long, the webhook failed, or was asked too often.
    package static let undecided = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "The stream key could not be checked in time.",
        errorCode: .requestFailed)
    /// The operator disconnected the publisher; it is refused for some time.
    package static let kicked = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "The operator has ended this publication.")
    /// The source was removed from the room.
    package static let removed = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "This stream has been taken out of the room.")
    /// The stream crashed its decoder, and the worker with it.
    package static let quarantined = PublishRefusal(
        code: "NetStream.Publish.Denied",
        text: "This stream could not be decoded safely. Try again in five minutes, with other encoder settings.",
        errorCode: .unsupportedCodec)
    /// The room has ended or is ending.
    package static let ended = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "The room has ended.", errorCode: .roomExited)
    /// The worker stops, and a successor may continue the room.
    package static let handedOver = PublishRefusal(
        code: "NetStream.Publish.Denied", text: "This server is stopping. Connect again.", errorCode: .roomExited)

    /// The publisher sends no media that can be decoded, or its video cannot be decoded.
    package static func unsupportedCodec(_ name: String) -> PublishRefusal {
        PublishRefusal(
            code: "NetStream.Publish.Denied", text: "The codec \(name) is not supported here. Use H.264 and AAC.",
            errorCode: .unsupportedCodec)
    }
}
