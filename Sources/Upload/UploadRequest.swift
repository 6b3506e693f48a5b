package import HLS
package import Packager

/// A request to a store.
package struct UploadRequest: Sendable, Hashable {
    /// Source of the bytes.
    package enum Body: Sendable, Hashable {
        /// The file of the same name in the output's directory.
        case file
        /// The file of the same name in another local directory.
        case fileIn(directory: String)
        case bytes([UInt8])
        /// Slate with the duration of a segment that could not be uploaded in time.
        case slate(Segment, track: String)
    }

    package enum Action: Sendable, Hashable {
        case put(Body)
        case delete
    }

    /// Unique in its queue.
    package let id: UInt64
    /// Relative to the store's base URL.
    package let name: String
    package let action: Action
    package let contentType: String
    package let cacheControl: String
    /// Timeout in nanoseconds; more than 0.
    package let timeout: Int64
}

/// Result of a request.
package enum UploadOutcome: Sendable, Hashable {
    case done
    /// Failed for this reason; it may be retried.
    case failed(String)
    /// The bytes do not exist and never will.
    case absent
}

/// Notices about a store.
package enum UploadNotice: Sendable, Hashable {
    /// The store does not accept requests.
    case unreachable(String)
    /// The store accepts requests again, after this many failures and nanoseconds.
    case restored(failures: Int, after: Int64)
    /// Segments of these tracks could not be uploaded in time; the store lists slate or a gap instead.
    case lost(mediaSequence: Int64, tracks: [String], slate: Bool)
}

/// Rules for filling a store.
package struct UploadRules: Sendable, Hashable {
    /// What the store lists instead of a segment that could not be uploaded in time.
    package enum Restamp: String, Sendable, Hashable, CaseIterable { case gap, slate }

    /// Nanoseconds from a segment's listing until it is given up; `nil`: its duration, at least the target duration.
    package var patience: Int64?
    /// Most slots that wait; 1 or more. Beyond that the oldest is given up.
    package var mostSlots = 16
    package var restamp = Restamp.gap
    /// Whether objects are deleted when no player needs them any more.
    package var deletes = true

    /// Timeout in nanoseconds for slate, a deletion, or a playlist of up to ``attemptBytes``; longer for larger
    /// playlists. An attempt that started while the store was unreachable delays the next one by at most this.
    static let attempt: Int64 = 2_000_000_000
    static let attemptBytes = 1 << 20
    /// Least timeout in nanoseconds for a segment, as far as its patience allows.
    static let segmentAttempt: Int64 = 4_000_000_000
    /// Shortest timeout in nanoseconds: less would not suffice for an intercontinental connection.
    static let shortestAttempt: Int64 = 250_000_000
    /// Wait in nanoseconds after the first failure; doubles up to the longest, which is short so that a store that is
    /// back is noticed soon.
    static let firstWait: Int64 = 100_000_000
    static let longestWait: Int64 = 1_000_000_000
    /// Most deletions to remember: hours in which the store accepts nothing.
    static let mostDeletions = 4_096
    /// Most attempts for one deletion.
    static let deletionAttempts = 3

    package init() {}

    /// Rules for the listing of an ended room: there is no live edge any more, so each segment is retried for the whole
    /// time, and no slot is dropped.
    ///
    /// - Parameter time: Nanoseconds.
    package func settling(_ listing: OutputListing, within time: Int64) -> UploadRules {
        var rules = self
        rules.patience = max(self.patience ?? 0, time)
        // Without a record the queue starts with the newest half of the slots that may wait.
        rules.mostSlots = max(self.mostSlots, 2 * (listing.tracks.map(\.segments.count).max() ?? 0))
        return rules
    }
}

/// A sequence of requests to the same object, with increasing delays after failures.
struct RetrySchedule: Sendable, Hashable {
    /// The request in flight.
    var request: UInt64?
    private(set) var failures = 0
    /// Earliest time of the next request, in nanoseconds of the queue's clock.
    private(set) var due: Int64 = .min

    func isFree(at now: Int64) -> Bool { self.request == nil && self.due <= now }

    mutating func succeeded() {
        self.failures = 0
        self.due = .min
    }

    /// - Parameter jitter: 0…999. It spreads the retries of many rooms whose store was unreachable.
    mutating func failed(at now: Int64, jitter: Int64) {
        let wait = min(UploadRules.longestWait, UploadRules.firstWait << Int64(min(self.failures, 10)))
        self.failures += 1
        self.due = now &+ wait / 1000 * (750 + jitter / 2)
    }
}
