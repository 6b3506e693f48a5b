import MediaTypes

/// The values of `EXT-X-PART-INF` and `EXT-X-SERVER-CONTROL` in low-latency playlists. They depend only on the output's
/// grid, so they are the same in every playlist and never change for a URL: players stop when a value changes.
///
/// Spec: rfc8216bis §4.4.3.7 (`EXT-X-PART-INF`), §4.4.3.8 (`EXT-X-SERVER-CONTROL`).
package struct ServerControl: Sendable, Hashable {
    /// `EXT-X-TARGETDURATION` in whole seconds.
    package let targetDuration: Int
    /// `PART-TARGET` in milliseconds: the duration of the longest possible part, rounded up.
    package let partTarget: Int64

    package init(grid: OutputGrid) {
        let target = grid.partTarget
        self.targetDuration = grid.targetDuration
        self.partTarget = max(
            1, TimeMath.rescale(target.ticks, from: Int64(target.timescale), to: 1_000, rounding: .up))
    }

    /// `PART-HOLD-BACK` in hundredths of a second, rounded up: three part targets, which §4.4.3.8 recommends and
    /// Apple's authoring specification requires (14.3).
    package var partHoldBack: Int64 { (3 * self.partTarget + 9) / 10 }

    /// `CAN-SKIP-UNTIL` in seconds: the minimum of §4.4.3.8, since a shorter boundary makes delta updates smaller.
    package var canSkipUntil: Int { 6 * self.targetDuration }

    /// Maximum time in seconds for which a blocking playlist request waits (§6.2.5.2).
    package var longestHold: Int { 3 * self.targetDuration }

    /// The Advance Part Limit (§6.2.5.2): how many parts ahead of the last listed part a request may be.
    package var advancePartLimit: Int64 {
        self.partTarget >= 1_000 ? 3 : (3_000 + self.partTarget - 1) / self.partTarget
    }

    /// The `EXT-X-SERVER-CONTROL` tag, with a line feed; playlists of I-frames and of subtitles have no
    /// `EXT-X-PART-INF` after it.
    var controlTag: String {
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK="
            + "\(self.partHoldBack.decimal(2)),CAN-SKIP-UNTIL=\(self.canSkipUntil).0,CAN-SKIP-DATERANGES=YES\n"
    }

    /// The `EXT-X-SERVER-CONTROL` and `EXT-X-PART-INF` tags, each with a line feed.
    var tags: String {
        self.controlTag + "#EXT-X-PART-INF:PART-TARGET=\(self.partTarget.decimal(3))\n"
    }
}
