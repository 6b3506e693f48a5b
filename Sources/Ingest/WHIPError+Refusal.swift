import RTMP
import WebRTC

extension WHIPError {
    /// The reply to a POST for a refusal of the publisher.
    init(_ refusal: PublishRefusal) {
        switch refusal {
        case .busy, .takenOver: self = .inUse
        case .tooOften:
            self = .tooManyRequests("the stream key was used too often in a short time", retryAfter: 5)
        case .undecided, .ended, .handedOver: self = .overloaded(refusal.text.inSentence, retryAfter: 2)
        case .address:
            self = .forbidden(refusal.text.inSentence, fix: "add the address to ingest.allowedAddresses")
        case .kicked, .quarantined, .removed:
            self = .forbidden(refusal.text.inSentence, fix: "ask the operator of the room")
        default: self = .keyRefused
        }
    }
}

extension String {
    /// The text without its last full stop, as details are written.
    fileprivate var inSentence: String { self.hasSuffix(".") ? String(self.dropLast()) : self }
}
