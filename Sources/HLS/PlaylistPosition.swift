/// The position of a media playlist's end, which decides how requests for the playlist are answered.
package struct PlaylistPosition: Sendable, Hashable {
    /// How to answer a playlist request.
    package enum Decision: Sendable, Hashable {
        /// Answer with the current playlist.
        case serve
        /// Wait, and decide again when the playlist has changed.
        case hold
        /// Answer with status 400 and this reason.
        case refuse(String)
    }

    /// Media sequence number of the first segment that is not complete yet.
    package let nextMediaSequence: Int64
    /// Number of listed parts of the segment ``nextMediaSequence``, which is in progress.
    package let partCount: Int
    /// Number of listed parts of the last complete segment.
    package let lastPartCount: Int
    /// Whether the playlist has `EXT-X-ENDLIST`.
    package let isEnded: Bool

    package init(nextMediaSequence: Int64, partCount: Int, lastPartCount: Int, isEnded: Bool) {
        self.nextMediaSequence = nextMediaSequence
        self.partCount = partCount
        self.lastPartCount = lastPartCount
        self.isEnded = isEnded
    }

    /// Media sequence number of the newest segment, complete or not.
    package var lastMediaSequence: Int64 {
        self.partCount > 0 ? self.nextMediaSequence : self.nextMediaSequence &- 1
    }

    /// Returns the rendition report about this playlist, which the other playlists contain.
    package func report(uri: String) -> RenditionReport {
        let last = self.partCount > 0 ? self.partCount : self.lastPartCount
        return RenditionReport(
            uri: uri, lastMediaSequence: max(0, self.lastMediaSequence), lastPart: last > 0 ? last - 1 : nil)
    }

    /// Decides how to answer a blocking reload. Spec: rfc8216bis §6.2.5.2.
    ///
    /// - Parameter advancePartLimit: See ``ServerControl/advancePartLimit``.
    package func decide(_ directives: ReloadDirectives, advancePartLimit: Int64) -> Decision {
        if self.isEnded { return .serve }
        if let fault = directives.fault { return .refuse(fault) }
        guard let number = directives.mediaSequence else { return .serve }
        guard number <= self.lastMediaSequence.addingReportingOverflow(2).partialValue else {
            return .refuse("_HLS_msn \(number) is more than two segments ahead of \(self.lastMediaSequence)")
        }
        guard let part = directives.part else { return number < self.nextMediaSequence ? .serve : .hold }
        if number < self.nextMediaSequence {
            // A part number after a complete segment's last part means the first part of the next segment.
            let isBehind = number == self.nextMediaSequence &- 1 && part >= Int64(self.lastPartCount)
            return isBehind && self.partCount == 0 ? .hold : .serve
        }
        let ahead = number == self.nextMediaSequence ? part &- Int64(self.partCount) : part
        if ahead < 0 { return .serve }
        guard ahead < advancePartLimit else {
            return .refuse("_HLS_part \(part) of segment \(number) is more than \(advancePartLimit) parts ahead")
        }
        return .hold
    }
}
