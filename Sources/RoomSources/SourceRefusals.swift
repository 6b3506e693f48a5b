package import MediaTypes
package import RoomAPI

/// The sources that may not be published for some time, because a command has kicked them or workers have crashed in
/// their decoders.
///
/// A value without a clock. Times are nanoseconds since the Unix epoch. A source has at most one refusal. A refusal no
/// longer applies at its end time.
package struct SourceRefusals: Sendable, Equatable {
    /// The effect of a kick command.
    package enum Kick: Sendable, Equatable {
        /// The source is refused until the end of the kick.
        case refused
        /// The command has ended the refusal, if there was one: the source may be published at once.
        case lifted
        /// Nothing has changed, because the source is quarantined for longer than the kick would last.
        case quarantined(until: Int64)
    }

    private var entries: [SourceID: SourceRefusal] = [:]

    package init() {}

    // MARK: Questions

    /// The refusal of a source that applies at `now`; nil if the source may be published.
    package func refusal(of source: SourceID, at now: Int64) -> SourceRefusal? {
        self.entries[source].flatMap { now < $0.until ? $0 : nil }
    }

    package func isRefused(_ source: SourceID, at now: Int64) -> Bool { self.refusal(of: source, at: now) != nil }

    /// All refusals, including those that have ended since the last ``removeEnded(at:)``.
    package var all: [SourceID: SourceRefusal] { self.entries }

    /// The quarantines, sorted by the names of their sources.
    package var quarantines: [(source: SourceID, refusal: SourceRefusal)] {
        self.entries.filter { $0.value.reason == .quarantined }
            .sorted { $0.key.description < $1.key.description }.map { ($0.key, $0.value) }
    }

    // MARK: Changes

    /// Refuses a source until `end`; nil lifts its refusal.
    ///
    /// A kick replaces an earlier kick, even a longer one. With `end` nil it also lifts a quarantine. It never shortens
    /// a quarantine: an operator who kicks a source for a minute does not mean to readmit a stream that crashes
    /// workers.
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

    /// Restores a kick that an earlier worker carried out. If the source is also quarantined, then the refusal that
    /// ends later applies.
    ///
    /// - Returns: False if the kick has already ended at `now`.
    package mutating func restoreKick(of source: SourceID, until end: Int64, now: Int64) -> Bool {
        guard now < end else { return false }
        self.refuse(source, SourceRefusal(reason: .kicked, until: end))
        return true
    }

    /// Refuses a source until `end`, because workers have crashed in its decoder. If the source is also kicked, then
    /// the refusal that ends later applies.
    package mutating func quarantine(_ source: SourceID, until end: Int64, codec: String) {
        self.refuse(source, SourceRefusal(reason: .quarantined, until: end, codec: codec))
    }

    private mutating func refuse(_ source: SourceID, _ refusal: SourceRefusal) {
        if let old = self.entries[source], old.until > refusal.until { return }
        self.entries[source] = refusal
    }

    /// Removes the kick of a source that has left the room. A quarantine stays, since the same stream may come back
    /// under another entry of the document.
    package mutating func remove(_ source: SourceID) {
        if self.entries[source]?.reason == .kicked { self.entries[source] = nil }
    }

    /// Removes refusals that have ended.
    package mutating func removeEnded(at now: Int64) { self.entries = self.entries.filter { now < $0.value.until } }
}
