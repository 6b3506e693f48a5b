/// How far a media playlist is, and what follows from it for a request.
package struct PlaylistPosition: Sendable, Hashable {
    /// The answer to a playlist request.
    package enum Decision: Sendable, Hashable {
        /// With the playlist as it is now.
        case serve
        /// Not yet: decide again when the playlist has changed.
        case hold
        /// 400, for this reason.
        case refuse(String)
    }

    /// Number of the segment that is not whole yet.
    package let nextMediaSequence: Int64
    /// Listed parts of it.
    package let partCount: Int
    /// Listed parts of the last whole segment.
    package let lastPartCount: Int
    /// `EXT-X-ENDLIST` is there.
    package let isEnded: Bool

    package init(nextMediaSequence: Int64, partCount: Int, lastPartCount: Int, isEnded: Bool) {
        self.nextMediaSequence = nextMediaSequence
        self.partCount = partCount
        self.lastPartCount = lastPartCount
        self.isEnded = isEnded
    }

    /// Media sequence number of the newest segment, whole or not.
    package var lastMediaSequence: Int64 {
        self.partCount > 0 ? self.nextMediaSequence : self.nextMediaSequence &- 1
    }

    /// For the other playlists' rendition reports.
    package func report(uri: String) -> RenditionReport {
        let last = self.partCount > 0 ? self.partCount : self.lastPartCount
        return RenditionReport(
            uri: uri, lastMediaSequence: max(0, self.lastMediaSequence), lastPart: last > 0 ? last - 1 : nil)
    }

    /// Spec: rfc8216bis §6.2.5.2 (blocking playlist reload).
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
            // A part behind a whole segment's last one is the first part of the segment that follows.
            let isBehind = number == self.nextMediaSequence &- 1 && part >= Int64(self.lastPartCount)
            return isBehind && self.partCount == 0 ? .hold : .serve
        }
        let ahead = number == self.nextMediaSequence ? part &- Int64(self.partCount) : part
        if ahead < 0 { return .serve }
        guard ahead < advancePartLimit else {
            return .refuse("_HLS_part \(part) of \(number) is more than \(advancePartLimit) parts ahead")
        }
        return .hold
    }
}
