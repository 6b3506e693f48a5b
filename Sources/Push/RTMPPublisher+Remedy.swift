import RTMP

extension RTMPPublisher {
    /// What to do after the server has refused with this text; see ``Failure/refused(code:text:)``.
    ///
    /// - Returns: An imperative sentence; `nil` if the text itself says what to do, as those of a Tandem room mostly do.
    package static func remedy(for text: String) -> String? {
        switch text {
        case PublishRefusal.ended.text: "publish to a room that runs"
        case PublishRefusal.busy.text, PublishRefusal.takenOver.text:
            "stop the other encoder, or use the stream key of another source"
        case PublishRefusal.kicked.text, PublishRefusal.removed.text: "ask the operator of the room"
        case PublishRefusal.undecided.text: "try again; the operator can check the room's webhook for publishers"
        case PublishRefusal.address.text: "publish from an address in `ingest.allowedAddresses` of the room"
        case PublishRefusal.denied.text, PublishRefusal.noLogin.text, PublishRefusal.expired.text,
            PublishRefusal.tooOften.text, PublishRefusal.quarantined.text, PublishRefusal.handedOver.text:
            nil
        case _ where text.hasPrefix("The codec ") && text.hasSuffix(" Use H.264 and AAC."): nil
        default: "check the app and the stream key"
        }
    }
}
