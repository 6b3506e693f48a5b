package import Events
package import MediaTypes

/// The parts that are permanently missing from the room's outputs. A value.
///
/// A segment that could not be written stays a gap in the playlists. What another worker can still complete is not
/// damage, but pending work of the room.
package struct OutputDamage: Sendable, Hashable {
    /// Number of lost segments by output. A segment number counts once if it is a gap in at least one rendition.
    package private(set) var segments: [String: Int64] = [:]
    /// The first error of each damaged output.
    package private(set) var failures: [String: MediaError] = [:]

    package init() {}

    package var isEmpty: Bool { self.failures.isEmpty }
    /// Number of lost segments of all outputs.
    package var lostSegments: Int64 { self.segments.values.reduce(0, +) }

    /// Records that `count` segments of the output are lost, or the loss that the error describes if `count` is 0.
    package mutating func lost(_ count: Int64 = 0, of outputID: String, because error: MediaError) {
        if count > 0 { self.segments[outputID, default: 0] += count }
        if self.failures[outputID] == nil { self.failures[outputID] = error }
    }

    /// The alarms: one for each damaged output.
    package var alarms: [RoomAlarm] {
        self.failures.sorted { $0.key < $1.key }.map { id, failure in
            RoomAlarm(
                "output.damaged", "alert_3", kind: "output", subject: id,
                message: "\(self.loss(of: id)): \(failure.what)")
        }
    }

    /// Describes what an output has lost, without the reason.
    private func loss(of outputID: String) -> String {
        guard let count = self.segments[outputID] else { return "\(outputID) is incomplete" }
        return "\(outputID) has lost \(count) \(count == 1 ? "segment" : "segments")"
    }

    /// The error of an offline job with damaged outputs; nil if nothing is lost.
    ///
    /// - Parameter published: Number of segments that the HLS output has published.
    package func error(published: Int64) -> MediaError? {
        guard let (id, first) = self.failures.min(by: { $0.key < $1.key }) else { return nil }
        let isFull = self.failures.values.contains { $0.code == .diskFull }
        let extent = self.segments[id].map { " (\($0) of \(max($0, published)) segments)" } ?? ""
        return MediaError(
            isFull ? .diskFull : .outputLost, "output \(id) is incomplete\(extent): \(first.what)", at: first.place,
            fix: "free space or restore the directory, then run the job again with --new-session")
    }
}
