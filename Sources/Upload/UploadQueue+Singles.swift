import MediaTypes

/// An object with a name of its own that is sent once, such as a still for moderation.
struct UploadSingle: Sendable {
    let name: String
    let bytes: [UInt8]
    let contentType: String
}

/// Objects that are sent once, in order. No playlist and no end of the room waits for them.
extension UploadQueue {
    /// Maximum number of waiting objects. Beyond it the oldest one that is not in flight is dropped.
    package static let mostSingles = 32

    /// Number of waiting objects, with the one in flight.
    package var waitingSingles: Int { self.singles.count }

    /// Queues an object that is sent once.
    package mutating func put(single name: String, _ bytes: [UInt8], contentType: String) {
        if self.singles.count >= Self.mostSingles {
            self.singles.remove(at: self.singleLane.request == nil ? 0 : 1)
        }
        self.singles.append(UploadSingle(name: name, bytes: bytes, contentType: contentType))
    }

    /// Returns the request for the next object; `nil` if none is due. Only one such request is in flight at a time, so that
    /// the other connections are free for media.
    mutating func nextSingle(_ now: Int64) -> UploadRequest? {
        guard let single = self.singles.first, self.singleLane.isFree(at: now) else { return nil }
        let request = self.request(
            .single(name: single.name), single.name, .put(.bytes(single.bytes)), single.contentType, "max-age=31536000")
        self.singleLane.request = request.id
        return request
    }

    mutating func answeredSingle(_ name: String, _ outcome: UploadOutcome, _ now: Int64, _ jitter: Int64) {
        self.singleLane.answered(outcome, now, jitter)
        if case .failed = outcome { return }
        if self.singles.first?.name == name { self.singles.removeFirst() }
    }
}
