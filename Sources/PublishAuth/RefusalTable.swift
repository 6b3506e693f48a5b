package import MediaTypes
package import RTMP

/// Sources that refuse all publishers for some time, whatever their key. Pure.
package struct RefusalTable: Sendable {
    private struct Entry: Sendable {
        var refusal: PublishRefusal
        var until: Int64
    }

    private var entries: [SourceID: Entry] = [:]

    package init() {}

    /// Makes `source` refuse all publishers until `until`.
    ///
    /// - Parameter until: Nanoseconds of the clock that ``refusal(of:now:)`` uses; a new value replaces the old value,
    ///   even if the old value is later.
    package mutating func refuse(_ source: SourceID, _ refusal: PublishRefusal, until: Int64) {
        self.entries[source] = Entry(refusal: refusal, until: until)
    }

    /// Removes the refusal of a source.
    package mutating func forget(_ source: SourceID) { self.entries[source] = nil }

    /// Why `source` refuses all publishers at present; nil: it accepts them.
    package mutating func refusal(of source: SourceID, now: Int64) -> PublishRefusal? {
        guard let entry = self.entries[source] else { return nil }
        guard now < entry.until else {
            self.entries[source] = nil
            return nil
        }
        return entry.refusal
    }
}
