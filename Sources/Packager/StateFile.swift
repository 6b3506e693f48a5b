import HLS
import MediaTypes

/// The content of the room's state file, `state.json`: what a later worker needs to continue an output.
///
/// It is written before every publish that uses a new number, so that no number is ever used twice.
struct StateFile: Sendable, Hashable {
    /// A listed segment. Its file name follows from its track, number and incarnation.
    struct Entry: Sendable, Hashable {
        var mediaSequence: Int64
        var incarnation: Int64
        /// Ticks of the track's timescale.
        var start: Int64
        var duration: Int64
        var byteCount: Int
        /// Index into ``Track/maps``.
        var map: Int
        var discontinuity: Bool
        var gap: Bool
        var independent: Bool
        /// With times relative to the segment's start.
        var keyFrames: [KeyFrame] = []
    }

    /// A segment that is no longer listed but not deleted yet.
    struct Retired: Sendable, Hashable {
        var uri: String
        /// Index into ``Track/maps``.
        var map: Int
        /// Nanoseconds since the room's origin.
        var deleteAt: Int64
        var gap: Bool
        var byteCount: Int
    }

    struct Track: Sendable, Hashable {
        var name: String
        var maps: [String]
        var discontinuitySequence: Int64
        /// Nanoseconds.
        var longestDuration: Int64
        var entries: [Entry]
        var retired: [Retired]
        /// Number of entries that have left its I-frame playlist; `nil` without one.
        var iFrameSequence: Int64?
        /// Upper bound of the bit rates of all its segments; `nil` if unknown.
        var rates: BitRates?
    }

    /// The file's name.
    static let name = "state.json"

    /// Whether a worker with a higher incarnation has claimed the room. If the file is missing or damaged, the answer
    /// is no: the running worker writes it again.
    ///
    /// - Parameter known: The content that this worker wrote last.
    static func isSuperseded(_ incarnation: Int64, in store: any SegmentStore, known: [UInt8] = []) -> Bool {
        guard let bytes = store.read(Self.name), bytes != known else { return false }
        // After a day the file is megabytes, and an encoder may be waiting: usually the head is enough to answer.
        if let claimed = Self.incarnation(atHeadOf: bytes), claimed <= incarnation { return false }
        let root = JSONParser.parse(bytes, limit: Self.mostBytes).faultless
        return root?[key: "incarnation"]?.integer.map { $0 > incarnation } ?? false
    }

    /// The incarnation is within this many bytes from the beginning of the file.
    static let headSize = 256

    /// - Returns: `nil` if the head is not formatted as this worker writes it.
    static func incarnation(atHeadOf bytes: [UInt8]) -> Int64? {
        let head = bytes.prefix(Self.headSize)
        guard let start = head.firstRange(of: Array("\n\"incarnation\": ".utf8))?.upperBound,
            let end = head[start...].firstIndex(of: UInt8(ascii: ","))
        else { return nil }
        return Int64(String(decoding: head[start..<end], as: UTF8.self))
    }

    /// Time zero of the room: nanoseconds since the Unix epoch. `nil` until the program starts; every later worker keeps
    /// it.
    var origin: Int64?
    /// Number of the worker's run; 1 for the first.
    var incarnation: Int64
    var ended = false
    var multivariantName: String
    /// Must not change while the room lives, because players rely on the durations that follow from it.
    var grid: OutputGrid
    var nextMediaSequence: Int64 = 0
    /// End of the last published slot: frames since the origin.
    var nextFrame: Int64 = 0
    var tracks: [Track] = []
    /// Date ranges that are listed or open.
    var dateRanges: [Range] = []
}
