import MediaTypes

/// An exact duration in ticks of a timescale.
package struct MediaDuration: Sendable, Hashable, Comparable {
    /// Ticks of ``timescale``; not negative for listed media.
    package let ticks: Int64
    /// Ticks per second; at least 1.
    package let timescale: Int32

    package init(ticks: Int64, timescale: Int32) {
        self.ticks = ticks
        self.timescale = max(1, timescale)
    }

    /// The duration rounded to the nearest nanosecond.
    package var nanoseconds: Int64 {
        TimeMath.rescale(self.ticks, from: Int64(self.timescale), to: TimeMath.nanoseconds)
    }

    /// The duration rounded to whole seconds, halves up: the value that HLS compares with the target duration.
    ///
    /// Spec: rfc8216bis §4.4.3.1.
    package var roundedSeconds: Int64 { TimeMath.rescale(self.ticks, from: Int64(self.timescale), to: 1) }

    package static func < (left: MediaDuration, right: MediaDuration) -> Bool {
        Int128(left.ticks) * Int128(right.timescale) < Int128(right.ticks) * Int128(left.timescale)
    }

    package static func == (left: MediaDuration, right: MediaDuration) -> Bool {
        Int128(left.ticks) * Int128(right.timescale) == Int128(right.ticks) * Int128(left.timescale)
    }

    package func hash(into hasher: inout Hasher) {
        // Equal lengths in different timescales must hash alike.
        hasher.combine(self.nanoseconds)
    }
}
