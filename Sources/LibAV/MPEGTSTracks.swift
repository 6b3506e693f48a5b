package import MediaTypes

/// Assigns track numbers, per kind, to the streams of a transport stream as long as its program tables list them. Pure
/// value.
///
/// libavformat keeps every stream it has seen. The number of a stream that the tables no longer list is given to the
/// next new stream: behind a gateway that keeps the connection open, an encoder that is restarted or replaced has other
/// PIDs, and is still the same source.
///
/// Spec: ISO/IEC 13818-1 §2.4.4.8 (program map).
package struct MPEGTSTracks: Sendable {
    private struct Entry: Sendable {
        var kind: TrackKind
        /// Track number of the stream; `nil` if the number was freed for another stream.
        var number: UInt8?
        /// Whether the program tables listed the stream when it appeared. A stream that they never listed, for example
        /// before the first table, is not dropped for that reason.
        var wasNamed: Bool
    }

    /// Maximum number of tracks of one kind, so that a stream cannot add tracks without end.
    package static let most: UInt8 = 32

    private var entries: [Int32: Entry] = [:]

    package init() {}

    /// Returns the track number of a stream, and assigns one if the stream is new.
    ///
    /// - Parameters:
    ///   - index: Index of the stream.
    ///   - isNamed: Returns whether the current program tables list the stream with an index.
    /// - Returns: The track number, from 0; `nil` if the stream is no longer part of the program, or there are too
    ///   many.
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
