package import HLS
package import Packager

/// One thing to be done at a store, and how.
package struct UploadRequest: Sendable, Hashable {
    /// Where the bytes come from.
    package enum Body: Sendable, Hashable {
        /// A file of the output's directory, of the same name.
        case file
        /// A file of another directory of this machine, of the same name.
        case fileIn(directory: String)
        case bytes([UInt8])
        /// Slate as long as the segment, which could not be uploaded in time.
        case slate(Segment, track: String)
    }

    package enum Action: Sendable, Hashable {
        case put(Body)
        case delete
    }

    /// Tells it from all others of one queue.
    package let id: UInt64
    /// Relative to the store's own place.
    package let name: String
    package let action: Action
    package let contentType: String
    package let cacheControl: String
    /// Nanoseconds it may take; more than 0.
    package let timeout: Int64
}

/// What came of a request.
package enum UploadOutcome: Sendable, Hashable {
    case done
    /// For this reason; it may be tried again.
    case failed(String)
    /// The bytes are not there, and will not be.
    case absent
}

/// What is to be told of a store.
package enum UploadNotice: Sendable, Hashable {
    /// It does not take what it is sent.
    case unreachable(String)
    /// It does again, after so many failures and nanoseconds.
    case restored(failures: Int, after: Int64)
    /// Segments of these tracks could not be uploaded in time; the store lists slate or a gap instead.
    case lost(mediaSequence: Int64, tracks: [String], slate: Bool)
}

/// How a store is filled.
package struct UploadRules: Sendable, Hashable {
    /// What the store lists in the place of a segment that could not be uploaded in time.
    package enum Restamp: String, Sendable, Hashable, CaseIterable { case gap, slate }

    /// Nanoseconds from a segment's listing until it is given up; `nil`: as long as it is itself, the target duration at least.
    package var patience: Int64?
    /// Slots that wait at most; 1 or more. Behind them the oldest is given up.
    package var mostSlots = 16
    package var restamp = Restamp.gap
    /// Objects are deleted when no player can need them any more.
    package var deletes = true

    /// Nanoseconds that slate or a deletion may take, and a playlist of ``attemptBytes``; a longer one in proportion. An
    /// origin that came back is found behind an attempt that was begun before.
    static let attempt: Int64 = 2_000_000_000
    static let attemptBytes = 1 << 20
    /// Nanoseconds an attempt at a segment may take at least, however long it is, as far as its patience goes.
    static let segmentAttempt: Int64 = 4_000_000_000
    /// Shortest time an attempt is given: less than a connection over an ocean needs is no attempt.
    static let shortestAttempt: Int64 = 250_000_000
    /// Wait after the first failure; doubles up to the longest: nobody wants to find out later that an origin is back.
    static let firstWait: Int64 = 100_000_000
    static let longestWait: Int64 = 1_000_000_000
    /// Names to be deleted that are remembered: hours of a store that takes nothing.
    static let mostDeletions = 4_096
    /// Attempts at one deletion.
    static let deletionAttempts = 3

    package init() {}

    /// For what is listed of a room that is over: nobody waits at a live edge any more, so each segment is tried for as long as
    /// there is time, and all of them wait.
    ///
    /// - Parameter time: Nanoseconds.
    package func settling(_ listing: OutputListing, within time: Int64) -> UploadRules {
        var rules = self
        rules.patience = max(self.patience ?? 0, time)
        // A store that nothing is known of begins with the newest half of what may wait.
        rules.mostSlots = max(self.mostSlots, 2 * (listing.tracks.map(\.segments.count).max() ?? 0))
        return rules
    }
}

/// One after another to the same end, later each time it fails.
struct UploadLane: Sendable, Hashable {
    /// The request under way.
    var request: UInt64?
    private(set) var failures = 0
    /// Nanoseconds of the queue's clock.
    private(set) var due: Int64 = .min

    func isFree(at now: Int64) -> Bool { self.request == nil && self.due <= now }

    mutating func succeeded() {
        self.failures = 0
        self.due = .min
    }

    /// - Parameter jitter: 0…999: rooms whose origin was away do not come back all at once.
    mutating func failed(at now: Int64, jitter: Int64) {
        let wait = min(UploadRules.longestWait, UploadRules.firstWait << Int64(min(self.failures, 10)))
        self.failures += 1
        self.due = now &+ wait / 1000 * (750 + jitter / 2)
    }
}
