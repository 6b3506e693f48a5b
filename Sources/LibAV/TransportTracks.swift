package import MediaTypes

/// Which of its kind each stream of a transport stream is, as long as the stream's tables name it. Pure.
///
/// libavformat keeps every stream it has seen. One that the tables name no more leaves its number to the next: behind a gateway that
/// keeps the connection, an encoder that is started anew or another one in its place has other PIDs, and is the same source.
///
/// Spec: ISO/IEC 13818-1 §2.4.4.8 (program map).
package struct TransportTracks: Sendable {
    private struct Entry: Sendable {
        var kind: TrackKind
        /// nil: it has left its number to another.
        var number: UInt8?
        /// The tables named it when it came. One that they never named, since there are none yet, is not given up for that.
        var wasNamed: Bool
    }

    /// Streams of a kind that have a number. A stream that keeps adding tracks is not listened to for ever.
    package static let most: UInt8 = 32

    private var entries: [Int32: Entry] = [:]

    package init() {}

    /// - Parameters:
    ///   - index: Of the stream.
    ///   - isNamed: Whether the tables name a stream now.
    /// - Returns: 0 upwards; nil: it is none of the program's, or one too many.
    package mutating func number(of index: Int32, _ kind: TrackKind, isNamed: (Int32) -> Bool) -> UInt8? {
        if let known = self.entries[index], known.kind == kind {
            if let number = known.number { return number }
            guard isNamed(index) else { return nil }
        }
        self.entries[index] = nil
        let isNew = isNamed(index)
        if isNew {
            for (other, entry) in self.entries where entry.wasNamed && !isNamed(other) {
                self.entries[other]?.number = nil
            }
        }
        let taken = self.entries.values.filter { $0.kind == kind }.compactMap(\.number)
        guard let number = (0..<Self.most).first(where: { !taken.contains($0) }) else { return nil }
        self.entries[index] = Entry(kind: kind, number: number, wasNamed: isNew)
        return number
    }
}
