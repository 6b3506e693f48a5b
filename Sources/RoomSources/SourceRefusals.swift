package import MediaTypes
package import RoomAPI

/// Sources that may not be published for some time: a command has kicked them, or workers have crashed while they decoded them.
///
/// A value without a clock. Times are nanoseconds since the Unix epoch, the same clock for all calls. A source has at
/// most one refusal. A refusal applies until its end, exclusive.
package struct SourceRefusals: Sendable, Equatable {
    /// The effect of a kick.
    package enum Kick: Sendable, Equatable {
        /// The source is refused until the kick ends.
        case refused
        /// The source may be published at once.
        case lifted
        /// The source is quarantined for longer than the kick would last; nothing has changed.
        case quarantined(until: Int64)
    }

    private var entries: [SourceID: SourceRefusal] = [:]

    package init() {}

    // MARK: Questions

    /// The refusal of `source` that applies at `now`; nil: the source may be published.
    package func refusal(of source: SourceID, at now: Int64) -> SourceRefusal? {
        self.entries[source].flatMap { now < $0.until ? $0 : nil }
    }

    package func isRefused(_ source: SourceID, at now: Int64) -> Bool { self.refusal(of: source, at: now) != nil }

    /// Every refusal, including those that have ended since the last ``removeEnded(at:)``.
    package var all: [SourceID: SourceRefusal] { self.entries }

    /// The quarantines, in the order of their sources' names.
    package var quarantines: [(source: SourceID, refusal: SourceRefusal)] {
        self.entries.filter { $0.value.reason == .quarantined }
            .sorted { $0.key.description < $1.key.description }.map { ($0.key, $0.value) }
    }

    // MARK: Changes

    /// Refuses `source` until `end`, or admits it if `end` is nil.
    ///
    /// A kick replaces an earlier kick, even a longer one, and lifts a quarantine if `end` is nil. It does not shorten
    /// a quarantine: an operator who kicks a source for a minute does not intend to readmit a stream that crashes
    /// workers sooner.
    package mutating func kick(_ source: SourceID, until end: Int64?) -> Kick {
        guard let end else {
            self.entries[source] = nil
            return .lifted
        }
        if let old = self.entries[source], old.reason == .quarantined, old.until > end {
            return .quarantined(until: old.until)
        }
        self.entries[source] = SourceRefusal(reason: .kicked, until: end)
        return .refused
    }

    /// Restores a kick of an earlier worker. If the source is quarantined as well, the refusal that ends later stays.
    ///
    /// - Returns: False if the kick has ended by `now`.
    package mutating func restoreKick(of source: SourceID, until end: Int64, now: Int64) -> Bool {
        guard now < end else { return false }
        self.refuse(source, SourceRefusal(reason: .kicked, until: end))
        return true
    }

    /// Refuses `source` until `end`, because workers have crashed in its decoder. If the source is kicked as well, the refusal that
    /// ends later stays.
    package mutating func quarantine(_ source: SourceID, until end: Int64, codec: String) {
        self.refuse(source, SourceRefusal(reason: .quarantined, until: end, codec: codec))
    }

    private mutating func refuse(_ source: SourceID, _ refusal: SourceRefusal) {
        if let old = self.entries[source], old.until > refusal.until { return }
        self.entries[source] = refusal
    }

    /// Removes the kick of a source that has left the room. A quarantine stays: the same stream may come back under
    /// another entry of the pipeline file.
    package mutating func remove(_ source: SourceID) {
        if self.entries[source]?.reason == .kicked { self.entries[source] = nil }
    }

    /// Forgets refusals that have ended.
    package mutating func removeEnded(at now: Int64) { self.entries = self.entries.filter { now < $0.value.until } }
}
