package import MediaKernels
package import MediaTypes

/// One frame of a source for its recording.
package struct SourceSample: Sendable {
    package let kind: TrackKind
    /// Track number within its kind; see ``CodecParameters/track``.
    package let track: UInt8
    package let memory: PacketMemory
    /// Range of the frame in ``memory``.
    package let range: Range<Int>
    /// Presentation and decoding time of the source in nanoseconds: continuous over one publication.
    package let pts: Int64
    package let dts: Int64
    package let isKey: Bool
    /// When it arrived, in nanoseconds of the monotonic clock.
    package let arrival: Int64

    /// Makes a sample of a packet, with the times to which the packet's timestamps were corrected.
    package init(_ packet: CodedPacket, pts: Int64, dts: Int64) {
        (self.kind, self.track, self.memory, self.range) = (packet.kind, packet.track, packet.memory, packet.range)
        (self.pts, self.dts, self.isKey, self.arrival) = (pts, dts, packet.isKey, packet.arrival)
    }
}

/// Cuts the packets of one publication into fragmented MP4 files, without decoding.
///
/// Pure: packets in, bytes to write out. One file has a fixed set of tracks. When a codec, its parameters or the set of
/// tracks change, the file ends and the next one begins, because players do not follow a change inside a file. The
/// video of a file begins with a key frame, unless none arrives among ``keyPatience`` frames.
///
/// A part is one fragment per track (`moof` and `mdat`). Until a part is complete, its frames are in memory only, and are
/// lost if the worker is killed. The edit list skips the reorder delay, so that the first frame of the earliest track is
/// shown at time 0 of the file.
///
/// States: *gathering* (frames wait for the first part, whose tracks and start are then known) → *open* (the header is
/// written) → *gathering* for the next file, after a change or ``end()``.
package struct SourceMovieFragmenter: Sendable {
    package struct Settings: Sendable, Hashable {
        /// Length of a part in nanoseconds; a part ends earlier at a key frame after half of it.
        package var partDuration: Int64
        package var video = true
        package var audio = true

        package init(partDuration: Int64) { self.partDuration = partDuration }

        func takes(_ kind: TrackKind) -> Bool { kind == .video ? self.video : self.audio }
    }

    /// What the caller does next, in order.
    package enum Action: Sendable {
        /// Begin a file with these bytes.
        case open(SourceMovieFacts, header: [UInt8], durationOffset: Int)
        /// Append a part of one track to the file. `keyTime` is the presentation time of the part's first frame in
        /// ticks of the track, if the part begins with a key frame of a video track.
        case write(PacketMemory, keyTime: Int64?, SourceMovieFacts)
        /// The file is complete.
        case close(SourceMovieFacts, SourceMovieFacts.End)
        /// A track is not recorded.
        case skipped(SourceMovieFacts.Skipped)
    }

    /// A track of the publication.
    private struct Track: Hashable, Comparable {
        let kind: TrackKind
        let number: UInt8

        static func < (left: Track, right: Track) -> Bool {
            (left.kind == .audio ? 1 : 0, left.number) < (right.kind == .audio ? 1 : 0, right.number)
        }
    }

    /// The frames of a track that are not written yet, and its place in the open file.
    private struct Lane {
        var parameters: CodecParameters
        /// How the file describes the track; nil if its first key frame must be seen first.
        var described: SourceMovieTrack?
        /// Whether the track cannot be recorded.
        var isRefused = false
        var samples: [SourceSample] = []
        /// Index in the open file; nil if the file does not contain the track.
        var index: Int?
        /// Decoding time of the track's first frame, from which its media time counts, in nanoseconds.
        var origin: Int64 = 0
        /// Time from the decoding to the presentation of that frame, in nanoseconds: the edit list begins there.
        var lead: Int64 = 0
        /// Decoding time after the last written frame, in ticks.
        var next: Int64 = 0
        /// Nominal duration of a frame in ticks.
        var usual: Int64 = 0
        /// Latest decoding time of a received frame, in nanoseconds.
        var last: Int64?
    }

    /// A part is written when this many bytes of frames wait, even if it is shorter than a part should be.
    static let largestPart = 16 << 20
    /// A part is written when this many frames (video or audio) wait, even if it is shorter than a part should be.
    static let mostSamples = 8_192
    /// Shortest difference between the decoding times of two frames that is listed as a gap, in nanoseconds.
    static let shortestGap: Int64 = 1_000_000_000
    /// Number of video frames that are dropped while no key frame arrives, if the track's format is known; ten seconds at
    /// 30 frames per second.
    static let keyPatience = 300
    /// Most tracks of a publication; further tracks are not recorded.
    static let mostTracks = 8

    private let settings: Settings
    private var lanes: [Track: Lane] = [:]
    private var bytes = 0
    private var count = 0
    /// Earliest decoding time of the frames that are not written, in nanoseconds.
    private var partStart: Int64?
    private var isOpen = false
    private var sequence: UInt32 = 0
    private var facts = SourceMovieFacts()
    /// Whether the open file ends at the next key frame of the video, or when too much waits: frames of changed audio
    /// tracks wait for the next file.
    private var switchesAtKey = false
    private var files = 0
    private var skipped: Set<SourceMovieFacts.Skipped> = []

    package init(settings: Settings) { self.settings = settings }

    /// Whether frames wait to be written.
    package var hasPending: Bool { self.count > 0 }

    /// Whether a frame belongs to a track that is recorded.
    package func takes(_ sample: SourceSample) -> Bool {
        self.lanes[Track(kind: sample.kind, number: sample.track)].map { !$0.isRefused } ?? false
    }

    // MARK: What arrives

    /// Receives the parameters of the following frames of a track.
    package mutating func configure(_ parameters: CodecParameters) -> [Action] {
        guard self.settings.takes(parameters.kind) else { return [] }
        let track = Track(kind: parameters.kind, number: parameters.track)
        if let known = self.lanes[track], known.parameters == parameters { return [] }
        guard self.lanes[track] != nil || self.lanes.count < Self.mostTracks else {
            return self.skip(parameters, "a file has at most \(Self.mostTracks) tracks")
        }
        var lane = Lane(parameters: parameters)
        var actions: [Action] = []
        do throws(SourceMovieTrack.Refusal) {
            lane.described = try SourceMovieTrack.make(parameters)
        } catch {
            lane.isRefused = true
            actions = self.skip(parameters, error.reason)
        }
        let before = self.lanes[track]
        // Parameters that are written in the same way, and tracks that are recorded neither before nor now.
        let isSame = before.map { $0.described != nil && $0.described == lane.described } ?? false
        let isNothing = (before?.isRefused ?? true) && lane.isRefused
        if isSame || isNothing {
            if isSame { self.lanes[track]?.parameters = parameters } else { self.lanes[track] = lane }
            return actions
        }
        // A track that is new while frames are gathered joins the file that they begin.
        if self.isOpen || (before != nil && self.count > 0) {
            // Frames of the old form are written before the form changes. The video of a file must begin with a key
            // frame, so a change of audio waits for it.
            if parameters.kind == .audio, self.isOpen, self.hasVideo {
                // Frames between two changes before the same key frame fit no file.
                if let before, before.index == nil { self.facts.lost &+= before.samples.count }
                actions += self.finishLane(track)
                self.switchesAtKey = true
            } else {
                actions += self.close(.formatChanged)
            }
        }
        self.lanes[track] = lane
        return actions
    }

    private mutating func skip(_ parameters: CodecParameters, _ reason: String) -> [Action] {
        let skipped = SourceMovieFacts.Skipped(
            kind: parameters.kind, track: parameters.track, codec: parameters.codec, reason: reason)
        // A publisher that repeats a change causes no further events.
        guard self.skipped.count < 64, self.skipped.insert(skipped).inserted else { return [] }
        self.facts.skipped.append(skipped)
        return [.skipped(skipped)]
    }

    /// Receives a frame.
    package mutating func add(_ sample: SourceSample) -> [Action] {
        let track = Track(kind: sample.kind, number: sample.track)
        guard let lane = self.lanes[track], !lane.isRefused, !sample.range.isEmpty else { return [] }
        let isVideo = sample.kind == .video
        if isVideo, lane.last == nil, !sample.isKey, self.waitsForKey(lane) { return [] }
        var actions: [Action] = []
        if lane.described == nil {
            let key = sample.memory.withBytes(in: sample.range) { Array($0.prefix(1 << 14)) }
            do throws(SourceMovieTrack.Refusal) {
                let described = try SourceMovieTrack.make(lane.parameters, key: key)
                if self.isOpen { actions += self.close(.formatChanged) }
                self.lanes[track]?.described = described
            } catch {
                self.lanes[track]?.isRefused = true
                return self.skip(lane.parameters, error.reason)
            }
        }
        if self.switchesAtKey, isVideo && sample.isKey || self.isPartFull { actions += self.close(.formatChanged) }
        let isDue = self.isDue(before: sample)
        if let last = self.lanes[track]?.last, sample.dts &- last >= Self.shortestGap,
            self.facts.gaps.count < SourceMovieFacts.mostGaps
        {
            self.facts.gaps.append(
                SourceMovieFacts.Gap(kind: sample.kind, track: sample.track, start: last, duration: sample.dts &- last))
        }
        let last = max(self.lanes[track]?.last ?? sample.dts, sample.dts)
        self.lanes[track]?.last = last
        self.lanes[track]?.samples.append(sample)
        self.partStart = min(self.partStart ?? sample.dts, sample.dts)
        self.bytes &+= sample.range.count
        self.count &+= 1
        // The frame itself waits: the duration of the one before it is known now.
        if isDue { actions += self.writePart() }
        return actions
    }

    /// Whether a video frame is not recorded because a key frame must come first. A stream with intra refresh has only
    /// one key frame, at its start; it is recorded from any frame after some time.
    private mutating func waitsForKey(_ lane: Lane) -> Bool {
        guard lane.described == nil || self.facts.beforeKeyFrame < Self.keyPatience else { return false }
        self.facts.beforeKeyFrame += 1
        return true
    }

    /// Counts frames that were dropped because the disk was too slow.
    package mutating func dropped(video: Int, audio: Int) {
        self.facts.droppedVideo &+= video
        self.facts.droppedAudio &+= audio
    }

    /// Writes all frames that have arrived, because none have arrived for some time.
    package mutating func flush() -> [Action] { self.count == 0 ? [] : self.writePart(isAll: true) }

    /// Ends the file after all frames that have arrived; the publication continues in the next file, from a key frame on.
    package mutating func split(_ reason: SourceMovieFacts.End) -> [Action] { self.close(reason) }

    /// Ends the publication after all frames that have arrived.
    package mutating func end(_ reason: SourceMovieFacts.End) -> [Action] {
        let actions = self.close(reason)
        self.lanes = [:]
        self.skipped = []
        self.files = 0
        self.facts = SourceMovieFacts()
        return actions
    }

    /// Forgets the open file, which could not be written, and all waiting frames. The next file begins with the next key
    /// frame.
    ///
    /// - Parameters:
    ///   - more: Frames that are lost besides those that waited.
    ///   - files: How many files were opened that do not exist.
    package mutating func abandon(and more: Int, files: Int = 0) {
        self.files = max(0, self.files - files)
        let lost = self.facts.lost &+ self.count &+ more
        self.reset()
        self.facts.lost = lost
    }

    // MARK: Parts

    private var hasVideo: Bool { self.lanes.contains { $0.key.kind == .video && !$0.value.isRefused } }

    private var isPartFull: Bool { self.bytes >= Self.largestPart || self.count >= Self.mostSamples }

    /// Whether the part ends before a frame. Parts are cut at frames of the video if there is one.
    private func isDue(before sample: SourceSample) -> Bool {
        guard self.count > 0, let start = self.partStart else { return false }
        if self.isPartFull { return true }
        let length = sample.dts &- start
        if sample.kind == .video {
            return length >= self.settings.partDuration || (sample.isKey && length >= self.settings.partDuration / 2)
        }
        // A video that pauses does not keep the audio in memory.
        return length >= self.settings.partDuration &* (self.hasVideo ? 2 : 1)
    }

    /// Writes the waiting frames; opens the file first if none is open.
    ///
    /// - Parameter isAll: Whether the last frame of each track is written too, with its usual duration. Otherwise it
    ///   waits for the next frame, from which its duration follows.
    private mutating func writePart(isAll: Bool = false) -> [Action] {
        var actions = self.isOpen ? [] : self.open()
        guard self.isOpen else { return actions }
        for track in self.lanes.keys.sorted() { actions += self.writeLane(track, isAll: isAll) }
        self.recount()
        return actions
    }

    private mutating func recount() {
        let waiting = self.lanes.values.filter { $0.index != nil || !self.isOpen || self.switchesAtKey }
        self.bytes = 0
        self.count = 0
        self.partStart = nil
        for lane in waiting {
            for sample in lane.samples {
                self.bytes &+= sample.range.count
                self.count &+= 1
                self.partStart = min(self.partStart ?? sample.dts, sample.dts)
            }
        }
    }

    /// Begins a file with the tracks that are known.
    private mutating func open() -> [Action] {
        let tracks = self.lanes.keys.sorted().filter { self.lanes[$0]?.described != nil }
        let firsts = tracks.compactMap { track in
            self.lanes[track]?.samples.first.map { first in
                // Frames of an open GOP may be shown before the key frame; they cannot be decoded and do not count.
                max(first.pts, first.dts)
            }
        }
        guard let zero = firsts.min() else { return [] }
        self.files += 1
        self.facts.part = self.files
        self.facts.zero = zero
        self.facts.end = zero
        self.facts.arrival = tracks.compactMap { self.lanes[$0]?.samples.first?.arrival }.min() ?? 0
        self.facts.lastArrival = self.facts.arrival
        self.facts.tracks = []
        var entries: [SourceMovieHeader.Entry] = []
        for (index, track) in tracks.enumerated() {
            guard var lane = self.lanes[track], let described = lane.described else { continue }
            let first = lane.samples.first
            lane.index = index
            lane.origin = first?.dts ?? zero
            lane.lead = first.map { max(0, $0.pts &- $0.dts) } ?? 0
            (lane.next, lane.usual) = (0, 0)
            entries.append(
                SourceMovieHeader.Entry(
                    track: described, delay: max(0, lane.origin &+ lane.lead &- zero), lead: lane.lead))
            self.facts.tracks.append(SourceMovieFacts.Track(described, number: track.number))
            self.lanes[track] = lane
        }
        self.isOpen = true
        self.sequence = 0
        let header = SourceMovieHeader.header(entries)
        return [.open(self.facts, header: header.bytes, durationOffset: header.durationOffset)]
    }

    private mutating func writeLane(_ track: Track, isAll: Bool) -> [Action] {
        guard var lane = self.lanes[track], let index = lane.index, let described = lane.described,
            self.facts.tracks.indices.contains(index)
        else { return [] }
        let count = isAll ? lane.samples.count : lane.samples.count - 1
        guard count > 0, let first = lane.samples.first else { return [] }
        func ticks(_ time: Int64) -> Int64 {
            TimeMath.rescale(time &- lane.origin, from: TimeMath.nanoseconds, to: described.timescale)
        }
        var rows: [PartSample] = []
        rows.reserveCapacity(count)
        var written = self.facts.tracks[index]
        let start = max(lane.next, ticks(first.dts), 0)
        var decode = start
        for position in 0..<count {
            let sample = lane.samples[position]
            let next: Int64
            if position + 1 < lane.samples.count {
                // Decoding times always increase: files cannot contain others.
                next = max(decode + 1, ticks(lane.samples[position + 1].dts))
                if next - decode < described.timescale { lane.usual = next - decode }
            } else {
                next = decode + max(1, lane.usual)
            }
            let isKey = sample.isKey || sample.kind == .audio
            rows.append(
                PartSample(
                    memory: sample.memory, range: sample.range, duration: UInt32(clamping: next - decode),
                    flags: isKey ? SourceMovieFragmenter.syncSample : SourceMovieFragmenter.dependentSample,
                    compositionOffset: Int32(clamping: ticks(sample.pts) - decode)))
            written.frames += 1
            if isKey { written.keyFrames += 1 }
            written.bytes &+= Int64(sample.range.count)
            decode = next
        }
        lane.next = decode
        let last = lane.samples[count - 1]
        let media = TimeMath.rescale(decode, from: described.timescale, to: TimeMath.nanoseconds)
        let end = lane.origin &+ lane.lead &+ media
        self.facts.end = max(self.facts.end, end)
        self.facts.lastArrival = max(self.facts.lastArrival, last.arrival)
        self.facts.tracks[index] = written
        lane.samples.removeFirst(count)
        self.lanes[track] = lane
        self.sequence &+= 1
        let isIndexed = track.kind == .video && first.isKey
        let memory = SourceMovieFragmenter.fragment(
            track.kind, id: UInt32(index) + 1, sequence: self.sequence, decodeTime: start, rows)
        return [.write(memory, keyTime: isIndexed ? max(0, ticks(first.pts)) : nil, self.facts)]
    }

    /// Writes the waiting frames of a track whose parameters change, as the last ones of it in the open file.
    private mutating func finishLane(_ track: Track) -> [Action] {
        let actions = self.writeLane(track, isAll: true)
        self.recount()
        return actions
    }

    private mutating func close(_ reason: SourceMovieFacts.End) -> [Action] {
        // Frames of a changed track belong to the next file.
        var later: [Track: [SourceSample]] = [:]
        if self.switchesAtKey {
            for (track, lane) in self.lanes where lane.index == nil {
                later[track] = lane.samples
                self.lanes[track]?.samples = []
            }
        }
        var actions = self.writePart(isAll: true)
        if self.isOpen { actions.append(.close(self.facts, reason)) }
        self.reset()
        for (track, samples) in later { self.lanes[track]?.samples = samples }
        self.recount()
        if reason != .formatChanged, !later.values.allSatisfy(\.isEmpty) {
            actions += self.writePart(isAll: true)
            if self.isOpen { actions.append(.close(self.facts, reason)) }
            self.reset()
        }
        return actions
    }

    private mutating func reset() {
        self.isOpen = false
        self.switchesAtKey = false
        for track in self.lanes.keys {
            self.lanes[track]?.samples = []
            self.lanes[track]?.index = nil
            self.lanes[track]?.last = nil
        }
        self.facts.nextFile()
        self.recount()
    }
}
