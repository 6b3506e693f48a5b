/// Decides when a key frame is requested from a sender (PLI or FIR).
///
/// Requests are limited to one in ``interval``. Some senders ignore them: OBS and FFmpeg send key frames only at their
/// fixed interval. If requests repeatedly had no effect, then only one in ``rareInterval`` is sent, in case that changes.
package struct KeyFrameRequests: Sendable {
    /// Shortest time between two requests in nanoseconds.
    package static let interval: Int64 = 300_000_000
    /// Shortest time between two requests to a sender that does not answer them, in nanoseconds.
    package static let rareInterval: Int64 = 30_000_000_000
    /// A key frame counts as the effect of a request if it arrives within this time plus the round trip.
    private static let answerTime: Int64 = 1_000_000_000

    /// Whether the sender can be asked for a key frame at all: it offered PLI or FIR.
    package let isPossible: Bool
    /// Since when a key frame is wanted; nil: none is.
    private var wantedSince: Int64?
    private var lastSent: Int64?
    /// When the first request was sent whose effect is not known yet; nil if there is none.
    private var firstSent: Int64?
    /// Rises with requests without effect and falls with effective ones, 0…6.
    private var failures: Int
    /// Number of requests that were sent.
    package private(set) var sent: UInt64 = 0

    /// - Parameter isIgnored: Whether the sender is known to ignore requests.
    package init(isPossible: Bool, isIgnored: Bool = false) {
        self.isPossible = isPossible
        self.failures = isIgnored ? 6 : 0
    }

    /// Whether requests seem to have an effect.
    package var isEffective: Bool { self.isPossible && self.failures < 4 }

    /// When a request is due; nil: none is wanted or possible.
    package var deadline: Int64? {
        guard self.isPossible, let wantedSince = self.wantedSince else { return nil }
        guard let lastSent = self.lastSent else { return self.isEffective ? wantedSince : nil }
        return max(wantedSince, lastSent + (self.isEffective ? Self.interval : Self.rareInterval))
    }

    /// Records that a key frame is needed.
    package mutating func want(at now: Int64) {
        if self.wantedSince == nil { self.wantedSince = now }
        // The clock of the rare interval begins with the first wish, so that a sender that is known to ignore requests
        // gets none at first.
        if self.lastSent == nil, !self.isEffective { self.lastSent = now }
    }

    /// Whether the caller must send a request now. If so, the request is counted as sent.
    package mutating func take(at now: Int64, roundTrip: Int64) -> Bool {
        guard let deadline = self.deadline, now >= deadline else { return false }
        if let firstSent = self.firstSent, now - firstSent > Self.answerTime + roundTrip {
            self.failures = min(6, self.failures + 2)
            self.firstSent = nil
            guard self.isEffective else {
                // The sender has just turned out to ignore requests: the next one follows after the rare interval.
                self.lastSent = now
                return false
            }
        }
        self.lastSent = now
        if self.firstSent == nil { self.firstSent = now }
        self.sent += 1
        return true
    }

    /// Records that a key frame begins to arrive; none is wanted any more.
    package mutating func receivedKeyFrame(at now: Int64, roundTrip: Int64) {
        self.wantedSince = nil
        guard let firstSent = self.firstSent else { return }
        self.firstSent = nil
        if now - firstSent > Self.answerTime + roundTrip {
            self.failures = min(6, self.failures + 2)
        } else {
            self.failures = max(0, self.failures - 1)
        }
    }
}
