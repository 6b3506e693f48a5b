import HLS
import MediaTypes

/// The content of the room's state file, `state.json`: what a later worker needs to continue an output.
///
/// The file is written before every publish that uses a new media sequence number, so that no number is ever used
/// twice.
struct StateFile: Sendable, Hashable {
    /// A listed segment. Its file name follows from its track, number and incarnation.
    struct Entry: Sendable, Hashable {
        var mediaSequence: Int64
        var incarnation: Int64
        /// Start time in ticks of the track's timescale since the room's origin.
        var start: Int64
        var duration: Int64
        var byteCount: Int
        /// Index into ``Track/maps``.
        var map: Int
        var discontinuity: Bool
        var gap: Bool
        var independent: Bool
        /// Key frames of the segment for the I-frame playlist, with times relative to the segment's start.
        var keyFrames: [KeyFrame] = []
    }

    /// A segment that is no longer listed but not deleted yet.
    struct Retired: Sendable, Hashable {
        var uri: String
        /// Index into ``Track/maps``.
        var map: Int
        /// Media time at which the file is deleted: nanoseconds since the room's origin.
        var deleteAt: Int64
        var gap: Bool
        var byteCount: Int
    }

    /// The stored state of one track's playlist.
    struct Track: Sendable, Hashable {
        var name: String
        /// URIs of the initialization segments that ``entries`` and ``retired`` refer to.
        var maps: [String]
        var discontinuitySequence: Int64
        /// Duration in nanoseconds of the longest playlist so far.
        var longestDuration: Int64
        var entries: [Entry]
        var retired: [Retired]
        /// Number of I frames that are no longer listed in the track's I-frame playlist; `nil` without such a playlist.
        var iFrameSequence: Int64?
        /// Upper bound of the bit rates of all the track's segments; `nil` if unknown.
        var rates: BitRates?
        /// Whether the track sleeps; see ``TrackPublication/isAsleep``.
        var isAsleep = false
    }

    /// A subtitle rendition; its segments are those of a track.
    struct Subtitles: Sendable, Hashable {
        var name: String
        /// Media sequence number of its first segment.
        var first: Int64
    }

    /// Name of the state file in the output directory.
    static let name = "state.json"

    /// Whether a worker with a higher incarnation (run number) has claimed the room. False if the file is missing or
    /// damaged, because the running worker then writes it again.
    ///
    /// - Parameter known: The content that this worker wrote last; if the file is unchanged, it is not parsed.
    static func isSuperseded(_ incarnation: Int64, in store: any SegmentStore, known: [UInt8] = []) -> Bool {
        guard let bytes = store.read(Self.name), bytes != known else { return false }
        // After a day the file is megabytes, and an encoder may be waiting: usually the head is enough to answer.
        if let claimed = Self.incarnation(atHeadOf: bytes), claimed <= incarnation { return false }
        let root = JSONParser.parse(bytes, limit: Self.mostBytes).faultless
        return root?[key: "incarnation"]?.integer.map { $0 > incarnation } ?? false
    }

    /// Number of bytes at the beginning of the file that contain the incarnation.
    static let headSize = 256

    /// Reads the incarnation from the beginning of a state file.
    ///
    /// - Returns: `nil` if the file is not formatted as this worker writes it.
    static func incarnation(atHeadOf bytes: [UInt8]) -> Int64? {
        let head = bytes.prefix(Self.headSize)
        guard let start = head.firstRange(of: Array("\n\"incarnation\": ".utf8))?.upperBound,
            let end = head[start...].firstIndex(of: UInt8(ascii: ","))
        else { return nil }
        return Int64(String(decoding: head[start..<end], as: UTF8.self))
    }

    /// Time zero of the room: nanoseconds since the Unix epoch; `nil` until the first worker begins its run. Every
    /// later worker keeps it.
    var origin: Int64?
    /// Number of the worker's run, counted from 1.
    var incarnation: Int64
    var ended = false
    var multivariantName: String
    /// Frame rate, GOP, segment and part lengths. They must not change while the room exists, because players rely on
    /// the resulting durations.
    var grid: OutputGrid
    var nextMediaSequence: Int64 = 0
    /// First frame after the last published segment, counted from the origin.
    var nextFrame: Int64 = 0
    var tracks: [Track] = []
    /// Date ranges that are listed or open.
    var dateRanges: [Range] = []
    /// State of the archive of segments that the live playlists no longer list; `nil` if the output has no archive.
    var archive: Archive?
    var subtitles: [Subtitles] = []
    /// Name of the track whose segments ``subtitles`` follow; `nil` without subtitles, and in files of a program that did not
    /// write it.
    var subtitleReference: String?
    var formerSubtitles: [FormerSubtitles] = []
}
