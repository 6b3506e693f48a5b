import HLS
import MediaTypes

/// The complete state of an output as a value: the source of the playlists, the state file and the objects for viewers.
struct Publication: Sendable {
    let settings: HLSOutputSettings
    let origin: Int64
    let incarnation: Int64
    var tracks: [TrackPublication]
    /// The same in every playlist.
    var dateRanges = DateRangeList()
    private(set) var nextMediaSequence: Int64
    private(set) var nextFrame: Int64
    private(set) var isEnded = false
    /// The next segment follows a gap in time or another worker's media.
    private(set) var discontinuityIsDue: Bool
    /// Tracks already reported for their measured bit rate.
    var alarmed: Set<String> = []
    /// How many initialization segments of a track keep their names: a room has a few canvases, a hostile operator
    /// could make many.
    private static let rememberedInitializations = 16
    /// Variants declare the measured bit rate if it is higher.
    var declaresMeasured = false
    /// Bit rate histories of tracks whose rates have changed.
    private var rates: [Int: DeclaredRateHistory] = [:]
    private var changeCount: Int64 = 0
    /// Every configuration a track has had in this run, once it has had a second one.
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

    /// The next segment begins with `frame`, usually where the previous worker ended. No discontinuity is needed if
    /// every playlist continues with the same initialization segment, without a hole or an overlap.
    mutating func resume(at frame: Int64) {
        let sound = self.grid.soundFrames(frame..<frame).lowerBound
        self.discontinuityIsDue = self.tracks.contains { track in
            guard let last = track.window.segments.last else { return false }
            guard last.map == track.map else { return true }
            let (start, tolerance) =
                track.kind == .video
                ? (self.grid.ticks(ofFrame: frame, .video), 0)
                // A gap is as long as its slot, which may not be a whole number of audio frames.
                : (sound, last.gap ? OutputGrid.samplesPerAudioFrame : 0)
            return (start - last.start - last.duration.ticks).magnitude > UInt64(tolerance)
        }
    }
    var hasSegments: Bool { self.tracks.contains { !$0.window.segments.isEmpty } }

    /// Lists a slot in every playlist. Then removes from the start of each playlist the segments that all windows allow
    /// to remove, so that media sequence numbers stay equal.
    ///
    /// - Parameter missing: Tracks whose segment could not be written.
    /// - Returns: The listed slot.
    /// - Throws: ``MediaError/Code/internal`` if a segment breaks the playlist's rules; nothing is changed then.
    mutating func append(_ slot: AlignedSegment, missing: Set<Int>) throws(MediaError) -> ListedSlot {
        let number = self.nextMediaSequence
        let frames = slot.frames ?? self.grid.frames(ofSlot: slot.slot)
        var tracks = self.tracks
        var bytes: [String: Int] = [:]
        var listed: [Segment] = []
        // Opening segments are half a second long, each with a key frame: they would raise the measured rate that
        // alarms compare.
        let isOpening = self.settings.opening.map { frames.upperBound <= $0.end } ?? false
        for index in tracks.indices {
            let whole = slot.segments.indices.contains(index) ? slot.segments[index] : nil
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
            listed.append(segment)
        }
        self.tracks = tracks
        self.trimHeads()
        self.nextMediaSequence += 1
        self.discontinuityIsDue = false
        let firstFrame = frames.lowerBound
        self.nextFrame = frames.upperBound
        self.dropPassedRanges()
        // The slot is reported with the times of its video, if it has video.
        let pictures = zip(tracks, listed).first { $0.kind == .video && !$1.gap }?.1
        let shown = pictures ?? listed.first { !$0.gap } ?? listed.first
        let duration = shown?.duration ?? self.grid.segmentDuration
        return ListedSlot(
            mediaSequence: number, programDate: shown?.programDate ?? self.origin, duration: duration, bytes: bytes,
            frames: firstFrame..<(firstFrame + self.frames(in: duration)), isSlate: slot.isSlate)
    }

    private func frames(in duration: MediaDuration) -> Int64 {
        TimeMath.rescale(duration.ticks, from: Int64(duration.timescale), to: Int64(self.grid.fps), rounding: .up)
    }

    /// Applies configuration changes from the next segment on. A configuration that a track had before keeps its name,
    /// so that a room that alternates between two canvases names two initialization segments, not one per change.
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

    /// Changes the declared bit rates of tracks from about the next segment on.
    mutating func declare(_ rates: [Int: BitRates]) {
        for (index, rates) in rates where self.tracks.indices.contains(index) {
            var history = self.rates[index] ?? DeclaredRateHistory(self.tracks[index].description.rates)
            history.change(to: rates, at: self.nextMediaSequence)
            self.rates[index] = history
            self.tracks[index].description.rates = history.bound
            self.alarmed.remove(self.tracks[index].names.track)
        }
    }

    /// Takes over the highest bit rates of a track's segments that the previous worker has listed.
    mutating func resumeRates(_ highest: BitRates, of index: Int) {
        let now = self.tracks[index].description.rates
        guard highest.bounding(now) != now else { return }
        var history = DeclaredRateHistory(highest)
        history.change(to: now, at: self.nextMediaSequence)
        self.rates[index] = history
        self.tracks[index].description.rates = history.bound
    }

    /// The multivariant playlist for a recording, which has all segments: it declares no less than the measured rates.
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

    /// Adds a discontinuity to the next segment.
    mutating func breakTime() { self.discontinuityIsDue = self.discontinuityIsDue || self.hasSegments }

    /// Plans the segments that viewers of a previous worker know as the next segments of a track; after them the track
    /// continues with its own configuration.
    ///
    /// - Returns: Configuration changes by slot.
    mutating func resume(_ shown: ShownTrack, track index: Int, from slot: Int64) -> [Int64: [ConfigurationChange]] {
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
            changes[slot + Int64(map.index), default: []].append(change)
        }
        return changes
    }

    /// Begins this run with the next segment: after a discontinuity, with the initialization segments of these tracks.
    mutating func beginRun(_ tracks: [TrackPublication]) {
        for index in self.tracks.indices where tracks.indices.contains(index) {
            self.tracks[index].map = tracks[index].map
            self.tracks[index].initialization = tracks[index].initialization
            self.tracks[index].isInitializationWritten = tracks[index].isInitializationWritten
        }
        self.breakTime()
    }

    /// Marks segments whose bytes are lost as gaps.
    mutating func lose(_ uris: Set<String>) {
        for index in self.tracks.indices { self.tracks[index].window.lose(uris) }
    }

    /// Ends all playlists.
    mutating func end() {
        self.isEnded = true
        for index in self.tracks.indices { self.tracks[index].window.end() }
    }

    /// Removes from the start of each playlist the segments that all windows allow to remove.
    mutating func trimHeads() {
        // The first number that all playlists may start with: a newer playlist started later than the others.
        let head = self.tracks.map { $0.window.mediaSequence + Int64($0.window.removableCount) }.min() ?? 0
        for index in self.tracks.indices {
            let first = self.tracks[index].window.mediaSequence
            guard head > first else { continue }
            self.tracks[index].window.removeFirst(Int(head - first))
            for gone in first..<head { self.tracks[index].incarnations[gone] = nil }
        }
        self.forgetRates()
    }

    /// Limits the number of listed segments; see ``PlaylistWindow/limit(to:)``.
    mutating func limit(to most: Int?) {
        for index in self.tracks.indices { self.tracks[index].window.limit(to: most) }
        self.trimHeads()
        self.dropPassedRanges()
    }

    /// Names of files that may be deleted now.
    ///
    /// - Parameter hurries: Returns all unlisted segments, even if players may still request them.
    mutating func takeExpired(hurries: Bool = false) -> [String] {
        let mediaTime = TimeMath.rescale(self.nextFrame, from: Int64(self.grid.fps), to: TimeMath.nanoseconds)
        if hurries { for index in self.tracks.indices { self.tracks[index].window.hurry(to: mediaTime) } }
        var names: [String] = []
        for index in self.tracks.indices {
            names += self.tracks[index].window.takeExpired(at: mediaTime, current: self.tracks[index].map)
        }
        return names
    }

    /// Every file that a player of the whole playlist requests, and the state file.
    var listedNames: [String] {
        let media = self.tracks.flatMap { track in
            track.maps.map(\.uri) + track.window.segments.filter { !$0.gap }.map(\.uri)
        }
        return media + self.playlistNames + [StateFile.name]
    }

    /// All playlists, including the multivariant one.
    var playlistNames: [String] {
        self.tracks.map(\.names.playlist) + self.tracks.filter(\.hasIFrames).map(\.names.iFramePlaylist)
            + [self.settings.multivariantName]
    }

    var state: StateFile {
        StateFile(
            origin: self.origin, incarnation: self.incarnation, ended: self.isEnded,
            multivariantName: self.settings.multivariantName, grid: self.grid,
            nextMediaSequence: self.nextMediaSequence, nextFrame: self.nextFrame,
            tracks: self.tracks.enumerated().map { index, track in
                var state = track.state
                state.rates = self.rates[index]?.highest ?? track.description.rates
                return state
            }, dateRanges: self.rangeRows)
    }

    /// Media playlists, audio first: a player that sees a new video segment then always finds the matching audio.
    var mediaPlaylists: [(name: String, text: String)] {
        let order = self.tracks.filter { $0.kind == .audio } + self.tracks.filter { $0.kind == .video }
        let lists = order.map {
            (name: $0.names.playlist, text: MediaPlaylist($0.window, dateRanges: self.dateRanges).rendered())
        }
        return lists
            + order.filter(\.hasIFrames).map {
                (name: $0.names.iFramePlaylist, text: MediaPlaylist(iFramesOf: $0.window).rendered())
            }
    }
}

/// A listed slot; ``PublishedSegment`` without its publication time.
struct ListedSlot: Sendable {
    let mediaSequence: Int64
    let programDate: Int64
    let duration: MediaDuration
    let bytes: [String: Int]
    let frames: Range<Int64>
    let isSlate: Bool
}
