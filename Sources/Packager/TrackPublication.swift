import HLS
import LibAV
import MediaKernels
import MediaTypes

/// The published state of one track: its listed segments, its initialization segment and its measured bit rate.
struct TrackPublication: Sendable {
    /// Description of the track. Its bit rates are those to declare in the multivariant playlist: see
    /// ``DeclaredRateHistory``.
    var description: TrackDescription
    let names: TrackNames
    let timescale: Int32
    /// RFC 6381 codec string of the track's configuration when this worker began; later configurations do not exceed its
    /// profile and level.
    let codec: String
    /// Content of the initialization segment that the next segments use.
    var initialization: [UInt8]
    /// URI of the initialization segment that the next segments use.
    var map: InitializationSegment
    /// Whether the store has the initialization segment.
    var isInitializationWritten: Bool
    /// The listed and recently unlisted segments.
    var window: PlaylistWindow
    /// Measures the peak bit rate without the short segments at the start of a room.
    var meter: BandwidthMeter
    /// Measures the peak bit rate of all segments, including the short ones at the start of a room.
    var meterOfAll: BandwidthMeter
    /// The incarnation (run number) in the file name of each listed segment, by media sequence number.
    var incarnations: [Int64: Int64] = [:]
    /// Incarnations in the names of segments that a previous worker's live edge has listed and that the state file does
    /// not have, by media sequence number.
    var given: [Int64: Int64] = [:]
    /// Encryption keys; `nil` if segments are not encrypted.
    var keys: SegmentKeys?
    /// Whether the track sleeps: nothing is encoded, its playlist is empty, and media sequence numbers pass.
    private(set) var isAsleep = false

    var kind: TrackKind { self.description.kind }

    var contentType: String { Self.contentType(of: self.kind) }

    static func contentType(of kind: TrackKind) -> String {
        switch kind {
        case .video: "video/mp4"
        case .audio: "audio/mp4"
        }
    }

    /// All initialization segments that listed or not yet deleted segments use, and the current one.
    var maps: [InitializationSegment] {
        var seen: Set<InitializationSegment> = []
        let all = self.window.retired.map(\.map) + self.window.segments.map(\.map) + [self.map]
        return all.filter { seen.insert($0).inserted }
    }

    /// Passes over a segment in which the track sleeps. If it was awake before, its playlist becomes empty.
    ///
    /// - Parameter isBreak: Whether the segment has a discontinuity in the other playlists.
    mutating func sleep(over mediaSequence: Int64, isBreak: Bool) {
        if !self.isAsleep {
            self.window.sleep()
            self.incarnations = [:]
            self.isAsleep = true
        }
        self.given[mediaSequence] = nil
        self.window.skip(to: mediaSequence + 1, discontinuities: isBreak ? 1 : 0)
        self.meter.breakRun()
        self.meterOfAll.breakRun()
    }

    /// Lists segments again, beginning with the next one.
    mutating func wake() { self.isAsleep = false }

    /// Returns the file name of a segment that this worker writes.
    ///
    /// - Parameter incarnation: This worker's incarnation.
    func segmentName(_ mediaSequence: Int64, incarnation: Int64) -> String {
        self.names.segment(mediaSequence, incarnation: self.given[mediaSequence] ?? incarnation)
    }

    /// Whether the track has an I-frame playlist.
    var hasIFrames: Bool { self.kind == .video && self.window.iFrameSequence != nil }

    /// The track's part of the state file.
    ///
    /// - Parameter archived: Further initialization segments whose files must stay, although no entry uses them.
    func state(archived: [InitializationSegment] = []) -> StateFile.Track {
        let own = self.maps
        let maps = own + archived.filter { !own.contains($0) }
        var indices: [InitializationSegment: Int] = [:]
        for (index, map) in maps.enumerated() { indices[map] = index }
        return StateFile.Track(
            name: self.names.track, maps: maps.map(\.uri),
            discontinuitySequence: self.window.discontinuitySequence, longestDuration: self.window.longestDuration,
            entries: self.window.segments.map { segment in
                StateFile.Entry(
                    segment, incarnation: self.incarnations[segment.mediaSequence] ?? 1,
                    map: indices[segment.map] ?? 0)
            },
            retired: self.window.retired.map { segment in
                StateFile.Retired(
                    uri: segment.uri, map: indices[segment.map] ?? 0, deleteAt: segment.deleteAt, gap: segment.gap,
                    byteCount: segment.byteCount)
            }, iFrameSequence: self.window.iFrameSequence, isAsleep: self.isAsleep)
    }

    /// Makes the playlist entry of a segment.
    ///
    /// - Parameters:
    ///   - finished: The completed media; `nil` makes a gap of the length of `frames`.
    ///   - keyFrames: The segment's key frames, even if its media could not be written.
    ///   - frames: Frames of the segment's interval.
    func segment(
        _ finished: FinishedSegment?, keyFrames: [KeyFrame] = [], frames: Range<Int64>, mediaSequence: Int64,
        incarnation: Int64, origin: Int64,
        discontinuity: Bool, grid: OutputGrid
    ) -> Segment {
        let segmentStart = grid.ticks(ofFrame: frames.lowerBound, self.kind)
        let segmentEnd = grid.ticks(ofFrame: frames.upperBound, self.kind)
        let start = finished?.start ?? segmentStart
        let uri = self.segmentName(mediaSequence, incarnation: incarnation)
        return Segment(
            mediaSequence: mediaSequence, uri: uri, start: start,
            duration: finished?.duration ?? MediaDuration(ticks: segmentEnd - segmentStart, timescale: self.timescale),
            programDate: origin
                &+ TimeMath.rescale(start, from: Int64(self.timescale), to: TimeMath.nanoseconds),
            map: self.map, discontinuity: discontinuity, key: self.key(of: mediaSequence),
            gap: finished?.gap ?? true,
            byteCount: finished?.byteCount ?? 0, independent: finished?.independent ?? false,
            keyFrames: keyFrames)
    }

    /// Makes the playlist entry of a segment from its parts.
    ///
    /// - Parameters:
    ///   - start: Ticks of the track's timescale; `end` likewise.
    ///   - gap: The same segment as a gap, from which number, URI and dates are taken.
    ///   - keyFrames: See ``Segment/keyFrames``.
    func segment(
        start: Int64, end: Int64, parts: [Part], like gap: Segment, origin: Int64, keyFrames: [KeyFrame] = []
    ) -> Segment {
        Segment(
            mediaSequence: gap.mediaSequence, uri: gap.uri, start: start,
            duration: MediaDuration(ticks: end - start, timescale: self.timescale),
            programDate: origin &+ TimeMath.rescale(start, from: Int64(self.timescale), to: TimeMath.nanoseconds),
            map: gap.map, discontinuity: gap.discontinuity, key: gap.key, parts: parts,
            byteCount: parts.reduce(0) { $0 + $1.byteCount }, independent: parts.first?.independent ?? false,
            keyFrames: keyFrames)
    }
}

/// Encryption and decryption of a track's segments and parts.
extension TrackPublication {
    func key(of mediaSequence: Int64) -> SegmentKey? {
        self.keys?.segmentKey(of: mediaSequence, track: self.names.track)
    }

    /// Encrypts a segment or a part, if the room is encrypted.
    func sealed(_ pieces: [PacketMemory], of mediaSequence: Int64) -> [PacketMemory] {
        self.keys.map { [$0.sealed(pieces, of: mediaSequence, track: self.names.track)] } ?? pieces
    }

    /// Encrypts a part or a segment in one piece, if the room is encrypted.
    func sealed(_ piece: PacketMemory, of mediaSequence: Int64) -> PacketMemory {
        self.keys?.sealed([piece], of: mediaSequence, track: self.names.track) ?? piece
    }

    /// Decrypts a segment or a part; `nil` if it is damaged.
    func opened(_ bytes: [UInt8], of mediaSequence: Int64) -> [UInt8]? {
        guard let keys = self.keys else { return bytes }
        return keys.opened(bytes, of: mediaSequence, track: self.names.track)
    }

    /// Size in bytes of a file with `byteCount` clear bytes, which is larger if the room is encrypted.
    func storedSize(_ byteCount: Int) -> Int { self.keys == nil ? byteCount : BlockCipher.size(ofClear: byteCount) }
}
