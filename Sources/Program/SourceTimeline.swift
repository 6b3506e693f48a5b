package import MediaTypes

/// Maps one source's timestamps onto program time, the same way for all its tracks, so that lips stay with the sound.
///
/// States: unanchored → anchored (first packet) → anchored anew (a jump, or packets that keep coming too late).
/// All times in nanoseconds; "program time" counts from the room's `origin`.
package struct SourceTimeline: Sendable {
    /// A packet's place on the program.
    package struct Mapped: Sendable, Equatable {
        package var pts: Int64
        package var dts: Int64
        /// The mapping was made anew for this packet: sound and picture from before do not continue into it.
        package var isReanchored: Bool
    }

    /// Timestamps that go on more than this beyond the time that really passed have jumped.
    package static let jumpForward: Int64 = 3 * TimeMath.nanoseconds
    /// A step back by more than this is a reset, not reordering.
    package static let jumpBack: Int64 = 1 * TimeMath.nanoseconds
    /// Packets that come too late for this long have a new, longer way: the mapping follows.
    package static let latePatience: Int64 = 500_000_000

    private let jitterBuffer: Int64
    private let offset: Int64
    private var anchor: Int64?
    private var last: [TrackKind: (dts: Int64, arrival: Int64)] = [:]
    private var lateSince: Int64?
    private var worstLateness: Int64 = 0

    /// - Parameters:
    ///   - jitterBuffer: How long after its arrival the first packet is shown; 0 for files.
    ///   - offset: Added to every time; positive shows the source later.
    package init(jitterBuffer: Int64, offset: Int64 = 0) {
        self.jitterBuffer = jitterBuffer
        self.offset = offset
    }

    /// Anchors the timeline so that `timestamp` is shown at `program`, as files do.
    package mutating func anchor(timestamp: Int64, at program: Int64) { self.anchor = program &- timestamp }

    /// Forgets the anchor: the next packet starts a new life of the source.
    package mutating func reset() {
        self.anchor = nil
        self.last = [:]
        self.lateSince = nil
        self.worstLateness = 0
    }

    /// - Parameters:
    ///   - pts: Presentation time of the packet, `dts` its decoding time, both on the source's own clock.
    ///   - arrival: Program time of its arrival; `nil` where arrival has no meaning (files).
    package mutating func map(kind: TrackKind, pts: Int64, dts: Int64, arrival: Int64?) -> Mapped {
        guard let arrival else {
            let anchor = self.anchor ?? (0 &- dts)
            self.anchor = anchor
            return self.mapped(pts, dts, anchor, reanchored: false)
        }
        var reanchored = false
        if let last = self.last[kind] {
            let step = dts &- last.dts
            let elapsed = arrival &- last.arrival
            if step < -Self.jumpBack || step &- elapsed > Self.jumpForward {
                self.anchor = nil
                // The other track's history belongs to the old clock: compared with it, its own jump would count twice.
                self.last = [:]
                reanchored = true
            }
        }
        self.last[kind] = (dts, arrival)
        guard let anchor = self.anchor else {
            let anchor = arrival &+ self.jitterBuffer &- dts
            self.anchor = anchor
            self.lateSince = nil
            return self.mapped(pts, dts, anchor, reanchored: reanchored)
        }
        let lateness = arrival &- (dts &+ anchor)
        guard lateness > 0 else {
            self.lateSince = nil
            self.worstLateness = 0
            return self.mapped(pts, dts, anchor, reanchored: reanchored)
        }
        let since = self.lateSince ?? arrival
        self.lateSince = since
        self.worstLateness = max(self.worstLateness, lateness)
        guard arrival &- since >= Self.latePatience else {
            return self.mapped(pts, dts, anchor, reanchored: reanchored)
        }
        let later = anchor &+ self.worstLateness &+ self.jitterBuffer / 2
        self.anchor = later
        self.lateSince = nil
        self.worstLateness = 0
        return self.mapped(pts, dts, later, reanchored: true)
    }

    private func mapped(_ pts: Int64, _ dts: Int64, _ anchor: Int64, reanchored: Bool) -> Mapped {
        let shift = anchor &+ self.offset
        return Mapped(pts: pts &+ shift, dts: dts &+ shift, isReanchored: reanchored)
    }
}
