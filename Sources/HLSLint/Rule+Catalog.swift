extension Rule {
    /// The clause of a specification on which a rule is based, and the remedy.
    package struct Entry: Sendable, Hashable {
        /// The clause: one of rfc8216bis (draft 22) if it begins with §, one of Apple's HLS Authoring Specification if
        /// it begins with AAS, otherwise one of the named standard. A comma separates several clauses.
        package let clause: String
        /// What to do against a finding, as an imperative sentence without trailing period.
        package let remedy: String

        init(_ clause: String, _ remedy: String) {
            self.clause = clause
            self.remedy = remedy
        }
    }

    package var entry: Entry {
        self.textEntry ?? self.updateEntry ?? self.edgeEntry ?? self.mediaEntry ?? self.otherEntry
    }

    private var textEntry: Entry? {
        switch self {
        case .playlistEncoding:
            Entry("§4", "write UTF-8 without a byte order mark, control characters, or spaces at the ends of lines")
        case .playlistHeader: Entry("§4.4.1.1", "begin every playlist with the line #EXTM3U")
        case .playlistTorn: Entry("§6.2.1", "replace a playlist atomically (write a temporary file, then rename it)")
        case .attributeSyntax: Entry("§4.2", "write NAME=value, comma separated; strings in quotes and never empty")
        case .attributeRepeated: Entry("§4.2", "write each attribute only once in a tag")
        case .attributeMissing: Entry("§4.4", "add the attribute the tag requires")
        case .tagValue: Entry("§4.4", "write the value in the form that the tag requires")
        case .tagRepeated: Entry("§4.4.3", "write the tag only once in a playlist")
        case .tagOrder:
            Entry("§4.4.3.2, §4.4.3.3", "print both sequence numbers before EXT-X-SKIP and the first segment")
        case .tagLevel:
            Entry(
                "§4.4", "write media playlist tags only in media playlists, and multivariant playlist tags only there")
        case .versionLow: Entry("§8", "raise EXT-X-VERSION to the version that the tags in use need")
        case .versionHigh: Entry("§6.2.1", "lower EXT-X-VERSION: players refuse versions that they do not know")
        case .targetMissing: Entry("§4.4.3.1", "print EXT-X-TARGETDURATION in every media playlist")
        case .targetChanged: Entry("§6.2.1", "fix the target duration before the first publish")
        case .targetExceeded:
            Entry("§4.4.3.1, AAS 7.7", "cut segments so that the rounded length fits the target duration")
        case .extinfWrong: Entry("§4.4.4.1", "compute EXTINF from the samples of the segment")
        case .extinfDrift:
            Entry("AAS 8.1", "compute EXTINF as rounded end minus rounded start on one grid, not segment by segment")
        default: nil
        }
    }

    private var updateEntry: Entry? {
        switch self {
        case .mediaSequenceFell: Entry("§6.2.2", "keep the next media sequence number across restarts")
        case .numberReused: Entry("§6.2.2, §6.3.4", "give every segment a unique number and URI, and never reuse them")
        case .segmentChanged: Entry("§6.2.1", "never change listed segments: only append, or remove from the start")
        case .segmentsWithdrawn: Entry("§6.2.1", "never remove a segment or a part from the end")
        case .windowShort: Entry("§6.2.2", "keep at least three target durations listed")
        case .discontinuitySequenceFell: Entry("§6.2.2", "keep the discontinuity sequence across restarts")
        case .discontinuitySequenceWrong:
            Entry("§6.2.2", "raise EXT-X-DISCONTINUITY-SEQUENCE by one for each removed discontinuity tag, no sooner")
        case .discontinuitySequenceMissing:
            Entry("AAS 8.17", "print EXT-X-DISCONTINUITY-SEQUENCE from the first publish on")
        case .typeChanged: Entry("§6.2.1, §4.4.3.5", "use another URI for another playlist type")
        case .typeSliding: Entry("§6.2.2", "remove no segment from a playlist that has a type")
        case .endlistRemoved: Entry("§6.2.1", "use another URI for the next session")
        case .changedAfterEnd: Entry("§6.2.1", "change nothing after EXT-X-ENDLIST")
        case .updateLate: Entry("§6.2.1", "list a new segment within 1.5 target durations; fill holes with slate")
        case .partLate: Entry("§6.2.1", "list a new part within one part target of the previous one")
        case .updateSlow:
            Entry("§6.2.1", "list a second of media in every second; give the encoder less work or a faster machine")
        default: nil
        }
    }

    private var edgeEntry: Entry? {
        switch self {
        case .serverControlChanged: Entry("§4.4.3.8", "freeze EXT-X-SERVER-CONTROL for the life of the URL")
        case .partTargetChanged: Entry("§4.4.3.7", "freeze PART-TARGET for the life of the URL")
        case .partTargetMissing: Entry("§4.4.3.7", "print EXT-X-PART-INF in a playlist with parts")
        case .holdBackShort: Entry("§4.4.3.8", "set HOLD-BACK to three target durations or more")
        case .partHoldBackMissing: Entry("§4.4.3.8", "print PART-HOLD-BACK in a playlist with parts")
        case .partHoldBackShort: Entry("§4.4.3.8, AAS 14.3", "set PART-HOLD-BACK to three part targets or more")
        case .skipUntilShort: Entry("§4.4.3.8", "set CAN-SKIP-UNTIL to six target durations or more")
        case .partLong: Entry("§4.4.4.9", "cut parts no longer than PART-TARGET, or declare a longer PART-TARGET")
        case .partShort: Entry("§4.4.4.9", "make parts at least 85 % of PART-TARGET, except the last of a segment")
        case .partChanged: Entry("§6.2.1", "never change a listed part")
        case .partsWithdrawn: Entry("§6.2.2", "keep parts listed that are within three target durations of the end")
        case .partSum: Entry("§4.4.4.9", "make the parts' durations add up to EXTINF")
        case .partDurationWrong: Entry("§4.4.4.9", "compute DURATION from the samples of the part")
        case .partsNotSegment: Entry("§3.2", "build the segment from the bytes of its parts")
        case .independentUntrue: Entry("§4.4.4.9", "set INDEPENDENT=YES only on a part with an IDR frame")
        case .independentUnmarked: Entry("§4.4.4.9", "set INDEPENDENT=YES on every part with an IDR frame")
        case .independentMissing: Entry("§B.1", "begin at least one part of every segment with an IDR frame")
        case .hintMissing: Entry("§B.1", "hint the next part as long as the playlist is live")
        case .hintBroken: Entry("§4.4.5.3", "publish exactly the URI that was hinted")
        case .hintUnanswered: Entry("§6.2.6", "hold the request for a hinted part until the part is complete")
        case .hintAfterEnd: Entry("§4.4.5.3", "remove the hint when adding EXT-X-ENDLIST")
        case .reportMissing: Entry("§B.1", "add EXT-X-RENDITION-REPORT for every other media playlist")
        case .reportWrong: Entry("§4.4.5.4", "report the newest segment and part of the other playlist")
        case .reloadUnanswered: Entry("§6.2.5.2", "answer a blocking reload as soon as its part is listed")
        case .reloadTooEarly: Entry("§6.2.5.2", "hold a blocking reload until the requested segment or part is listed")
        case .reloadLate: Entry("§6.2.5.2", "answer a blocking reload at once when its part is available")
        case .reloadPartAlone: Entry("§6.2.5.2", "answer _HLS_part without _HLS_msn with 400")
        case .reloadTooFar: Entry("§6.2.5.2", "answer a request more than two segments ahead with 400 at once")
        case .deltaUnmergeable: Entry("§6.2.5.1", "skip only segments that the full playlist still has")
        case .deltaWrong:
            Entry("§6.2.5.1", "skip exactly the segments that end further from the end than CAN-SKIP-UNTIL")
        default: nil
        }
    }

    private var mediaEntry: Entry? {
        switch self {
        case .dateMissing: Entry("AAS 8.4, §B.1", "print EXT-X-PROGRAM-DATE-TIME, preferably on every segment")
        case .dateWrong: Entry("§6.2.1, §4.4.4.6", "compute dates from one epoch plus media time")
        case .dateRangeIncomplete:
            Entry("§4.4.5.1", "write ID in every tag, and START-DATE in the first tag of each ID")
        case .dateRangeChanged: Entry("§4.4.5.1", "only add attributes to a date range; never reuse an ID")
        case .dateRangeRemoved: Entry("§6.2.1", "keep a date range while it overlaps the listed media")
        case .dateRangeValue:
            Entry(
                "§4.4.5.1",
                "write the value in the form of the clause, and combine only attributes that may be combined")
        case .dateRangeUndated: Entry("§4.4.5.1", "print EXT-X-PROGRAM-DATE-TIME in a playlist with date ranges")
        case .resourceMissing: Entry("§6.2.1", "list an object only once it is available")
        case .mapMissing: Entry("§3.1.2", "print EXT-X-MAP before fragmented MP4 segments")
        case .mapUnreadable: Entry("§3.1.2", "write ftyp and moov with a track for each fragment's track")
        case .mapNotEmpty: Entry("§3.1.2", "leave durations and sample tables of the initialization segment empty")
        case .mapBrand: Entry("§3.1.2", "declare iso6 or a later brand in ftyp")
        case .segmentUnreadable:
            Entry("§3.1", "write whole moof and mdat boxes, or whole transport packets after a PAT and a PMT")
        case .addressing: Entry("§3.1.2", "address samples relative to the fragment (default-base-is-moof)")
        case .decodeTimeMissing: Entry("§3.1.2", "write tfdt in every track fragment")
        case .decodeTimeBroken:
            Entry("§6.2.1", "continue decode times exactly, or mark the break with EXT-X-DISCONTINUITY")
        case .sequenceBroken: Entry("§3.1.2, ISO/IEC 14496-12 §8.8.5", "number fragments upwards")
        case .syncFlagUntrue: Entry("ISO/IEC 14496-12 §8.8.3.1", "flag exactly the IDR frames as sync samples")
        case .idrMissing: Entry("§4.4.2.1, AAS 7.4", "begin every segment with an IDR frame")
        case .sliceDamaged:
            Entry(
                "ISO/IEC 14496-15 §5.3.2, ITU-T H.264 §7.4.1", "serve every slice with the bytes that the encoder wrote"
            )
        case .frameTimesBroken:
            Entry(
                "§6.2.1, ISO/IEC 14496-12 §8.6.1.3", "present every frame once, each one frame after the previous one")
        case .eventBroken:
            Entry(
                "ISO/IEC 23009-1 §5.10.3.3", "write emsg of version 1 in front of the fragment that contains its time")
        case .eventRepeated:
            Entry("ISO/IEC 23009-1 §5.10.3.3", "carry an event once per rendition, with a unique id")
        case .eventsDiffer: Entry("ISO/IEC 23000-19 §7.4.5", "carry the same events in every video rendition")
        case .keyVector: Entry("§5.2", "give EXT-X-KEY an IV of 16 bytes instead of the media sequence number")
        case .keyWrong:
            Entry(
                "§5.1, §5.2", "serve keys of 16 bytes, and encrypt each segment and part separately with PKCS7 padding")
        case .iFrameList:
            Entry("§4.4.3.6, §4.4.6.3", "add EXT-X-I-FRAMES-ONLY, and list whole key frames, no parts")
        case .iFrameRange:
            Entry(
                "§3.1.2, AAS 6.8", "let each range begin with the moof of an IDR frame and contain all of that frame")
        case .webVTTBroken:
            Entry(
                "§3.1.4",
                "begin each segment with WEBVTT, and put every cue into exactly the segments during which it is shown")
        case .segmentGone:
            Entry(
                "§6.2.2", "keep a removed segment for its own duration plus that of the longest playlist that listed it"
            )
        case .partGone: Entry("§6.2.2", "keep a part for three target durations after its tag is removed")
        case .segmentSlow:
            Entry(
                "§6.2.1",
                "serve a segment in less time than its duration; check the server's and the network's bandwidth"
            )
        default: nil
        }
    }

    private var otherEntry: Entry {
        switch self {
        case .targetDiffers: Entry("§6.2.4", "use one target duration in all media playlists")
        case .typeDiffers: Entry("§6.2.4", "use one playlist type in all media playlists")
        case .serverControlDiffers: Entry("§6.2.4", "use the same EXT-X-SERVER-CONTROL in all media playlists")
        case .discontinuityDiffers: Entry("§6.2.4", "put a discontinuity into all media playlists at the same time")
        case .datesDiffer: Entry("§6.2.4", "map media time to dates in the same way in all media playlists")
        case .boundariesDiffer: Entry("AAS 8.22", "force IDR frames at the same times in all renditions")
        case .frameTimesDiffer:
            Entry("§6.2.4, AAS 8.22", "present the same frame at the same time (tfdt plus cts) in all renditions")
        case .segmentMixedUp: Entry("§6.2.4, §3", "serve under each URI the media of its own rendition")
        case .dateRangesDiffer: Entry("§6.2.4", "list the same date ranges in all media playlists")
        case .renditionBehind: Entry("§B.1", "publish all renditions within one part target of each other")
        case .bandwidthMissing: Entry("§4.4.6.2", "declare BANDWIDTH")
        case .bandwidthExceeded: Entry("§4.4.6.2, AAS 1.28", "declare the peak segment bit rate of the combination")
        case .averageBandwidthMissing: Entry("AAS 9.14", "declare AVERAGE-BANDWIDTH")
        case .averageBandwidthExceeded: Entry("AAS 1.29", "declare the long-run average of the combination")
        case .codecsMissing: Entry("AAS 9.1, §4.4.6.2", "declare CODECS")
        case .codecsWrong:
            Entry(
                "§4.4.6.2",
                "list the codecs of the initialization segments, or their highest profile and level, including audio")
        case .channelsWrong: Entry("§4.4.6.1", "declare the number of channels of the rendition's media")
        case .resolutionMissing: Entry("AAS 9.2", "declare RESOLUTION of every variant with video")
        case .resolutionWrong: Entry("§4.4.6.2", "declare the frame size of the media")
        case .frameRateMissing: Entry("AAS 9.15", "declare FRAME-RATE of every variant with video")
        case .frameRateWrong: Entry("§4.4.6.2", "declare the highest frame rate, with three decimals")
        case .groupMissing: Entry("§4.4.6.2.1", "define the group with EXT-X-MEDIA, or name one that is defined")
        case .groupNameRepeated: Entry("§4.4.6.1.1", "give every rendition of a group a unique name")
        case .languageMissing: Entry("AAS 8.10", "declare LANGUAGE; use und if it is unknown")
        case .captionsMixed: Entry("§4.4.6.2", "set CLOSED-CAPTIONS=NONE on all variants or on none")
        case .multivariantChanged: Entry("§6.2.4", "freeze the multivariant playlist for the session")
        case .contentType:
            Entry("§4, AAS 10.4", "serve playlists as application/vnd.apple.mpegurl, fMP4 as video/mp4 or audio/mp4")
        case .gzipMissing: Entry("AAS 10.1, §B.1", "compress playlists with gzip if the client accepts it")
        case .cachingMissing: Entry("§B.1", "send Cache-Control with everything")
        case .cachingLong: Entry("§B.1", "let a playlist be cached for no longer than one target duration")
        case .redirected: Entry("AAS 8.18", "answer playlists without a redirect")
        // The four groups above contain all other rules.
        default: Entry("rfc8216bis", "follow the specification")
        }
    }
}
