import HLS
import MediaTypes

/// The complete state of an HLS output as a value. The playlists, the state file and the objects for viewers are made
/// from it.
struct Publication: Sendable {
    let settings: HLSOutputSettings
    /// Time zero of the room: nanoseconds since the Unix epoch.
    let origin: Int64
    /// Number of this worker's run in the output directory, counted from 1.
    let incarnation: Int64
    var tracks: [TrackPublication]
    /// The listed date ranges, the same in every live playlist.
    var dateRanges = DateRangeList()
    /// The subtitle renditions, whose segments follow those of the track ``subtitleReference``.
    var subtitles: [SubtitlePublication] = []
    /// Name of the track whose segments the subtitle renditions follow.
    var subtitleTrack: String?
    var formerSubtitles: [FormerSubtitles] = []
    /// The segments of a long window that the live playlists no longer list; `nil` if the output has no archive.
    var archive: SegmentArchive?
    private(set) var nextMediaSequence: Int64
    /// First frame after the last listed segment, counted from the origin.
    private(set) var nextFrame: Int64
    private(set) var isEnded = false
    /// Whether the next segment needs an `EXT-X-DISCONTINUITY`, for example because it follows a hole in time or has
    /// another codec configuration.
    private(set) var discontinuityIsDue: Bool
    /// Names of the tracks whose measured bit rate has already been reported as too high.
    var alarmed: Set<String> = []
    /// Maximum number of initialization segments per track that keep their names: a room has a few output sizes, but a
    /// hostile operator could make many.
    private static let rememberedInitializations = 16
    /// Whether variants declare the measured peak bit rate if it is higher than the configured one.
    var declaresMeasured = false
    /// Bit rate histories by index of the tracks whose rates have changed.
    private var rates: [Int: DeclaredRateHistory] = [:]
    private var changeCount: Int64 = 0
    /// The configurations that a track has had in this run, by track index; only for tracks that have changed their
    /// configuration.
    private var initializations: [Int: [(bytes: [UInt8], map: InitializationSegment)]] = [:]

    init(
        settings: HLSOutputSettings, origin: Int64, incarnation: Int64, tracks: [TrackPublication],
        nextMediaSequence: Int64, nextFrame: Int64
    ) {
        self.settings = settings
        self.origin = origin
        self.incarnation = incarnation
        self.tracks = tracks
        self.nextMediaSequence = nextMediaSequence
        self.nextFrame = nextFrame
        self.discontinuityIsDue = nextMediaSequence > 0
    }

    var grid: OutputGrid { self.settings.grid }

    /// Begins this run with `frame`, usually where the previous worker ended. No discontinuity is needed if every
    /// playlist continues with the same initialization segment, without a hole or an overlap.
    mutating func resume(at frame: Int64) {
        let audio = self.grid.audioFrames(frame..<frame).lowerBound
        self.discontinuityIsDue = self.tracks.contains { track in
            guard let last = track.window.segments.last else { return false }
            guard last.map == track.map else { return true }
            let (start, tolerance) =
                track.kind == .video
                ? (self.grid.ticks(ofFrame: frame, .video), 0)
                // The length of a gap may not be a whole number of audio frames.
                : (audio, last.gap ? OutputGrid.samplesPerAudioFrame : 0)
            return (start - last.start - last.duration.ticks).magnitude > UInt64(tolerance)
        }
    }
    var hasSegments: Bool { self.tracks.contains { !$0.window.segments.isEmpty } }

    /// Lists the segments of all tracks for one interval. Then removes old segments from the start of each playlist, as
    /// many as the windows of all playlists allow, so that media sequence numbers stay equal.
    ///
    /// - Parameter missing: Indices of the tracks whose segment could not be written; they get a gap.
    /// - Returns: The listed segment, over all tracks.
    /// - Throws: ``MediaError/Code/internal`` if a segment breaks the playlist's rules; nothing is changed then.
    mutating func append(_ segment: AlignedSegment, missing: Set<Int>) throws(MediaError) -> ListedAlignedSegment {
        let number = self.nextMediaSequence
        let frames = segment.frames ?? self.grid.frames(ofSegment: segment.segmentIndex)
        var tracks = self.tracks
        var bytes: [String: Int] = [:]
        var listed: [(kind: TrackKind, segment: Segment)] = []
        // Opening segments are short, each with a key frame: they would raise the measured rate that alarms compare.
        let isOpening = self.settings.opening.map { frames.upperBound <= $0.end } ?? false
        for index in tracks.indices {
            guard !segment.asleep.contains(index) else {
                tracks[index].sleep(over: number, isBreak: self.discontinuityIsDue)
                continue
            }
            tracks[index].wake()
            let whole = segment.segments.indices.contains(index) ? segment.segments[index] : nil
            let segment = tracks[index].segment(
                missing.contains(index) ? nil : whole, keyFrames: whole?.keyFrames ?? [], frames: frames,
                mediaSequence: number, incarnation: self.incarnation, origin: self.origin,
                discontinuity: self.discontinuityIsDue, grid: self.grid)
            try tracks[index].window.append(segment)
            tracks[index].incarnations[number] = tracks[index].given.removeValue(forKey: number) ?? self.incarnation
            if segment.gap || isOpening {
                tracks[index].meter.breakRun()
            } else {
                tracks[index].meter.append(duration: segment.duration, byteCount: segment.byteCount)
            }
            if segment.gap {
                tracks[index].meterOfAll.breakRun()
            } else {
                tracks[index].meterOfAll.append(duration: segment.duration, byteCount: segment.byteCount)
            }
            bytes[tracks[index].names.track] = segment.byteCount
            listed.append((tracks[index].kind, segment))
        }
        self.tracks = tracks
        self.trimHeads()
        self.nextMediaSequence += 1
        self.discontinuityIsDue = false
        let firstFrame = frames.lowerBound
        self.nextFrame = frames.upperBound
        self.dropPassedRanges()
        // The segment is reported with the times of its video, if it has video.
        let video = listed.first { $0.kind == .video && !$0.segment.gap }
        let shown = (video ?? listed.first { !$0.segment.gap } ?? listed.first)?.segment
        let duration = shown?.duration ?? self.grid.segmentDuration
        return ListedAlignedSegment(
            mediaSequence: number, programDate: shown?.programDate ?? self.origin, duration: duration, bytes: bytes,
            frames: firstFrame..<(firstFrame + self.frames(in: duration)), isSlate: segment.isSlate)
    }

    private func frames(in duration: MediaDuration) -> Int64 {
        TimeMath.rescale(duration.ticks, from: Int64(duration.timescale), to: Int64(self.grid.fps), rounding: .up)
    }

    /// Applies configuration changes from the next segment on. A configuration that a track had before keeps its name,
    /// so that a room that alternates between two output sizes has two initialization segments, not one per change.
    ///
    /// - Parameter isStored: Whether the store has a file of that name.
    mutating func apply(_ changes: [ConfigurationChange], isStored: (String) -> Bool) {
        for change in changes where self.tracks.indices.contains(change.track) {
            let index = change.track
            guard self.tracks[index].initialization != change.initialization else { continue }
            let names = self.tracks[index].names
            var known = self.initializations[index] ?? [(self.tracks[index].initialization, self.tracks[index].map)]
            let map: InitializationSegment
            if let named = change.map {
                map = named
            } else if let old = known.first(where: { $0.bytes == change.initialization }) {
                map = old.map
            } else {
                self.changeCount += 1
                map = InitializationSegment(
                    uri: names.initialization(incarnation: self.incarnation, change: self.changeCount))
                known.append((change.initialization, map))
                if known.count > Self.rememberedInitializations { known.removeFirst() }
            }
            self.initializations[index] = known
            self.tracks[index].initialization = change.initialization
            self.tracks[index].map = map
            self.tracks[index].isInitializationWritten = isStored(map.uri)
            self.discontinuityIsDue = self.discontinuityIsDue || self.hasSegments
        }
    }

    /// Changes the declared bit rates of tracks, by track index, from about the next segment on.
    mutating func declare(_ rates: [Int: BitRates]) {
        for (index, rates) in rates where self.tracks.indices.contains(index) {
            var history = self.rates[index] ?? DeclaredRateHistory(self.tracks[index].description.rates)
            history.change(to: rates, at: self.nextMediaSequence)
            self.rates[index] = history
            self.tracks[index].description.rates = history.bound
            self.alarmed.remove(self.tracks[index].names.track)
        }
    }

    /// Takes over from the previous worker the highest bit rates of a track's listed segments, which still have to be
    /// declared.
    mutating func resumeRates(_ highest: BitRates, of index: Int) {
        let now = self.tracks[index].description.rates
        guard highest.bounding(now) != now else { return }
        var history = DeclaredRateHistory(highest)
        history.change(to: now, at: self.nextMediaSequence)
        self.rates[index] = history
        self.tracks[index].description.rates = history.bound
    }

    /// The multivariant playlist for recordings and for the playlists of the whole window. They also list older segments,
    /// so it declares at least the highest measured rates.
    var multivariantOfAll: MultivariantPlaylist {
        var all = self
        all.declaresMeasured = true
        for (index, history) in self.rates { all.tracks[index].description.rates = history.highest }
        return all.multivariant
    }

    /// Stops declaring the rates of segments that are no longer listed, and restarts the measurement.
    private mutating func forgetRates() {
        for index in self.rates.keys {
            let first = self.tracks[index].window.mediaSequence
            guard self.rates[index]?.forget(before: first) == true, let bound = self.rates[index]?.bound else {
                continue
            }
            self.tracks[index].description.rates = bound
            self.tracks[index].meter = BandwidthMeter(targetDuration: self.grid.targetDuration)
        }
    }

    /// Adds an `EXT-X-DISCONTINUITY` before the next segment, unless it is the first one of the room.
    mutating func breakTime() { self.discontinuityIsDue = self.discontinuityIsDue || self.hasSegments }

    /// Reserves the next media sequence numbers of a track for the segments that the previous worker's live edge has
    /// listed. After those segments the track continues with the configuration of this run.
    ///
    /// - Returns: Configuration changes by segment index.
    mutating func resume(_ shown: ShownTrack, track index: Int, from segmentIndex: Int64) -> [Int64:
        [ConfigurationChange]]
    {
        for (offset, segment) in shown.segments.enumerated() {
            self.tracks[index].given[self.nextMediaSequence + Int64(offset)] = segment.incarnation
        }
        let track = self.tracks[index]
        let maps = shown.maps(before: (track.map.uri, track.initialization))
        guard let first = maps.first, first.name != track.map.uri else { return [:] }
        self.tracks[index].map = InitializationSegment(uri: first.name)
        self.tracks[index].initialization = first.bytes
        self.tracks[index].isInitializationWritten = true
        var changes: [Int64: [ConfigurationChange]] = [:]
        for map in maps.dropFirst() {
            var change = ConfigurationChange(track: index, initialization: map.bytes)
            change.map = InitializationSegment(uri: map.name)
            changes[segmentIndex + Int64(map.index), default: []].append(change)
        }
        return changes
    }

    /// Begins this run with the next segment, after a discontinuity and with the initialization segments of `tracks`.
    mutating func beginRun(_ tracks: [TrackPublication]) {
        for index in self.tracks.indices where tracks.indices.contains(index) {
            self.tracks[index].map = tracks[index].map
            self.tracks[index].initialization = tracks[index].initialization
            self.tracks[index].isInitializationWritten = tracks[index].isInitializationWritten
        }
        self.breakTime()
    }

    /// Turns the segments with these URIs, whose files are lost, into gaps.
    mutating func lose(_ uris: Set<String>) {
        for index in self.tracks.indices { self.tracks[index].window.lose(uris) }
        self.archive?.lose(uris)
    }

    /// Ends all playlists.
    mutating func end() {
        self.isEnded = true
        for index in self.tracks.indices { self.tracks[index].window.end() }
    }

    /// Removes old segments from the start of each playlist, as many as the windows of all playlists allow.
    mutating func trimHeads() {
        // The first media sequence number with which all playlists may start: the playlist of a newer track started
        // later.
        let head = self.tracks.map { $0.window.mediaSequence + Int64($0.window.removableCount) }.min() ?? 0
        for index in self.tracks.indices {
            let first = self.tracks[index].window.mediaSequence
            guard head > first else { continue }
            self.tracks[index].window.removeFirst(Int(head - first))
            for segment in self.tracks[index].window.takeRemoved() {
                let incarnation = self.tracks[index].incarnations[segment.mediaSequence] ?? 1
                self.archive?.append(segment, incarnation: incarnation, track: index)
            }
            for gone in first..<head { self.tracks[index].incarnations[gone] = nil }
        }
        if self.archive != nil, !self.isEnded {
            let (windows, time) = (self.tracks.map(\.window), self.mediaTime)
            self.archive?.trim(windows, at: time)
        }
        self.forgetRates()
    }

    /// Limits the number of listed segments in all playlists; see ``PlaylistWindow/limit(to:)``.
    mutating func limit(to most: Int?) {
        for index in self.tracks.indices { self.tracks[index].window.limit(to: most) }
        let time = self.mediaTime
        self.archive?.limit(to: most, at: time)
        self.trimHeads()
        self.dropPassedRanges()
    }

    /// Returns the names of files that may be deleted now.
    ///
    /// - Parameter hurries: Whether to return all unlisted segments, even if players may still request them.
    mutating func takeExpired(hurries: Bool = false) -> [String] {
        let mediaTime = self.mediaTime
        if hurries { for index in self.tracks.indices { self.tracks[index].window.hurry(to: mediaTime) } }
        var names: [String] = []
        for index in self.tracks.indices {
            names += self.tracks[index].window.takeExpired(at: mediaTime, current: self.tracks[index].map)
        }
        let tracks = self.tracks
        names +=
            self.archive?.takeExpired(at: mediaTime, hurries: hurries) { map in
                tracks.contains { $0.map == map || $0.maps.contains(map) }
            } ?? []
        return names + self.subtitleNames(like: names) + self.formerSubtitleNames(like: names)
    }

    /// Media time of the end of the playlists: nanoseconds since the room's origin.
    var mediaTime: Int64 {
        TimeMath.rescale(self.nextFrame, from: Int64(self.grid.fps), to: TimeMath.nanoseconds)
    }

    /// All initialization segments that viewers may request, or that coming segments use.
    var maps: [InitializationSegment] { self.tracks.flatMap(\.maps) + (self.archive?.maps ?? []) }

    /// Names of all listed segments, initialization segments and playlists, and of the journal and the state file.
    var listedNames: [String] {
        let media = self.tracks.flatMap { track in
            track.maps.map(\.uri) + track.window.segments.filter { !$0.gap }.map(\.uri)
        }
        let archived = (self.archive?.maps.map(\.uri) ?? []) + (self.archive?.listedFiles ?? [])
        let files = archived + media
        return files + self.subtitleNames(like: files) + self.playlistNames
            + [self.archive?.journal, StateFile.name].compactMap { $0 }
    }

    /// Names of all playlists, including the multivariant one.
    var playlistNames: [String] {
        self.tracks.map(\.names.playlist) + self.tracks.filter(\.hasIFrames).map(\.names.iFramePlaylist)
            + self.subtitles.map(\.playlistName) + [self.settings.multivariantName] + self.wholeWindowNames
    }

    var state: StateFile {
        StateFile(
            origin: self.origin, incarnation: self.incarnation, ended: self.isEnded,
            multivariantName: self.settings.multivariantName, grid: self.grid,
            nextMediaSequence: self.nextMediaSequence, nextFrame: self.nextFrame,
            tracks: self.tracks.enumerated().map { index, track in
                var state = track.state(archived: self.archive?.maps(ofTrack: index) ?? [])
                state.rates = self.rates[index]?.highest ?? track.description.rates
                return state
            }, dateRanges: self.rangeRows, archive: self.archive?.state,
            subtitles: self.subtitles.map { StateFile.Subtitles(name: $0.name, first: $0.first) },
            subtitleReference: self.subtitleReference.map { self.tracks[$0].names.track },
            formerSubtitles: self.formerSubtitles)
    }

    /// The texts of the media playlists, audio first: a player that sees a new video segment then always finds the
    /// matching audio.
    var mediaPlaylists: [(name: String, text: String)] {
        let order = self.tracks.filter { $0.kind == .audio } + self.tracks.filter { $0.kind == .video }
        let lists = order.map {
            (name: $0.names.playlist, text: MediaPlaylist($0.window, dateRanges: self.dateRanges).rendered())
        }
        return lists
            + order.filter(\.hasIFrames).map {
                (name: $0.names.iFramePlaylist, text: MediaPlaylist(iFramesOf: $0.window).rendered())
            } + self.subtitlePlaylists
    }
}

/// A listed segment over all tracks; ``PublishedSegment`` without its publication time.
struct ListedAlignedSegment: Sendable {
    let mediaSequence: Int64
    let programDate: Int64
    let duration: MediaDuration
    let bytes: [String: Int]
    let frames: Range<Int64>
    let isSlate: Bool
}
