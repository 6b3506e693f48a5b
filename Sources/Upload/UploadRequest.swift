package import HLS
package import Packager

/// A request to a store.
package struct UploadRequest: Sendable, Hashable {
    /// Source of the bytes to upload.
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

    /// Identifier of the request, unique in its queue.
    package let id: UInt64
    /// Object name, relative to the store's base URL.
    package let name: String
    package let action: Action
    package let contentType: String
    package let cacheControl: String
    /// Timeout in nanoseconds of the request until the response's body has arrived; more than 0.
    package let timeout: Int64
}

/// Result of a request to a store.
package enum UploadOutcome: Sendable, Hashable {
    case done
    /// The request failed for this reason and may be retried.
    case failed(String)
    /// The bytes to upload do not exist and never will.
    case absent
}

/// A notice about the state of an upload.
package enum UploadNotice: Sendable, Hashable {
    /// An upload failed for this reason. Further failures are not reported until ``restored(failures:after:)``.
    case unreachable(String)
    /// The store has accepted an upload again, after this number of failures and this time in nanoseconds since the
    /// first of them.
    case restored(failures: Int, after: Int64)
    /// Segments of these tracks could not be uploaded in time, or have no file; the store lists gaps instead, or slate
    /// for all of these tracks if `slate` is true.
    case lost(mediaSequence: Int64, tracks: [String], slate: Bool)
}

/// Settings of the uploads to a store.
package struct UploadRules: Sendable, Hashable {
    /// What the store's playlists list instead of a segment that could not be uploaded in time.
    package enum Restamp: String, Sendable, Hashable, CaseIterable { case gap, slate }

    /// Time in nanoseconds after its listing at which a segment that is not uploaded is given up; `nil`: the duration
    /// of the segment, at least the target duration.
    package var patience: Int64?
    /// Maximum number of media sequence numbers that wait; 1 or more. The tracks' segments with one number count once.
    /// Beyond that the oldest are given up.
    package var mostSegments = 16
    package var restamp = Restamp.gap
    /// Whether objects are deleted when no player needs them any more.
    package var deletes = true

    /// Timeout in nanoseconds for slate, a deletion, an object that is not media (except a thumbnail sheet), or a
    /// playlist smaller than ``attemptBytes``.
    static let attempt: Int64 = 2_000_000_000
    /// Size in bytes of a playlist for which one ``attempt`` is sufficient; each further such size adds one
    /// ``attempt``.
    static let attemptBytes = 1 << 20
    /// Timeout in nanoseconds for a thumbnail sheet, and for a segment, which gets twice its duration if that is
    /// longer. The timeout of a segment ends at its deadline.
    static let segmentAttempt: Int64 = 4_000_000_000
    /// Minimum timeout in nanoseconds for a segment, even if its deadline is earlier: less would not suffice for an
    /// intercontinental connection.
    static let shortestAttempt: Int64 = 250_000_000
    /// Wait in nanoseconds after the first failure; it doubles with each failure up to ``longestWait``. Each wait
    /// varies by up to 25 %.
    static let firstWait: Int64 = 100_000_000
    /// Maximum wait in nanoseconds after a failure, short so that a store that works again is noticed soon.
    static let longestWait: Int64 = 1_000_000_000
    /// Maximum number of pending deletions. Beyond that the oldest are dropped, and their objects stay in the store.
    static let mostDeletions = 4_096
    /// Maximum number of attempts for a deletion; then the object stays in the store.
    static let deletionAttempts = 3

    package init() {}

    /// Returns settings for uploading the rest of an ended room: there is no live edge any more, so each segment is
    /// retried for the whole time, and the queue has room for all listed segments.
    ///
    /// - Parameter time: Time available in nanoseconds.
    package func settling(_ listing: OutputListing, within time: Int64) -> UploadRules {
        var rules = self
        rules.patience = max(self.patience ?? 0, time)
        // Without a record the queue starts with the newest `mostSegments / 2` segments.
        rules.mostSegments = max(self.mostSegments, 2 * (listing.tracks.map(\.segments.count).max() ?? 0))
        return rules
    }
}

/// The schedule of requests for one object or track: one request at a time, with increasing delays after failures.
struct RetrySchedule: Sendable, Hashable {
    /// Id of the request in flight; `nil` if there is none.
    var request: UInt64?
    private(set) var failures = 0
    /// Earliest time of the next request, in nanoseconds of the queue's clock.
    private(set) var due: Int64 = .min

    func isFree(at now: Int64) -> Bool { self.request == nil && self.due <= now }

    mutating func succeeded() {
        self.failures = 0
        self.due = .min
    }

    /// Notes a failed request and schedules the next attempt.
    ///
    /// - Parameter jitter: 0…999; it spreads the retries of many rooms whose store was unreachable.
    mutating func failed(at now: Int64, jitter: Int64) {
        let wait = min(UploadRules.longestWait, UploadRules.firstWait << Int64(min(self.failures, 10)))
        self.failures += 1
        self.due = now &+ wait / 1000 * (750 + jitter / 2)
    }
}
