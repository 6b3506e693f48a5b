package import MediaTypes
package import RTMP

/// Sources that nobody may publish for some time, whatever key is shown. Pure.
package struct RefusalTable: Sendable {
    private struct Entry: Sendable {
        var refusal: PublishRefusal
        var until: Int64
    }

    private var entries: [SourceID: Entry] = [:]

    package init() {}

    /// - Parameter until: Nanoseconds of the clock that ``refusal(of:now:)`` is asked with; an earlier one replaces a later.
    package mutating func refuse(_ source: SourceID, _ refusal: PublishRefusal, until: Int64) {
        self.entries[source] = Entry(refusal: refusal, until: until)
    }

    /// Nothing is known of the source any more.
    package mutating func forget(_ source: SourceID) { self.entries[source] = nil }

    /// What whoever wants to publish `source` is told; nil: it may be published.
    package mutating func refusal(of source: SourceID, now: Int64) -> PublishRefusal? {
        guard let entry = self.entries[source] else { return nil }
        guard now < entry.until else {
            self.entries[source] = nil
            return nil
        }
        return entry.refusal
    }
}
