package import HLS
package import MediaTypes

/// What an output lists, for another store that lists the same: everything the first time, afterwards what has come.
package struct OutputListing: Sendable {
    package struct Track: Sendable {
        /// Begins the names of its files.
        package let name: String
        package let kind: TrackKind
        package let playlistName: String
        package let contentType: String
        package let style: PlaylistWindow.Style
        /// Seconds.
        package let targetDuration: Int
        /// Nanoseconds, as ``PlaylistWindow/slack`` and ``PlaylistWindow/longestDuration``.
        package let slack: Int64
        package let longestDuration: Int64
        /// Of the first of ``segments``.
        package let discontinuitySequence: Int64
        /// Without gaps in their numbers, the newest last.
        package let segments: [Segment]
        /// No longer listed, but not deleted; the first time alone.
        package let retired: [RetiredSegment]
        package let iFrames: IFrames?
        /// As ``PlaylistWindow/mostSegments``: a disk is short of space.
        package let mostSegments: Int?
        /// That it declares; `nil`: it is not known.
        package let rates: BitRates?

        /// Its I-frame playlist.
        package struct IFrames: Sendable, Hashable {
            package let name: String
            /// As ``PlaylistWindow/iFrameSequence``, of the first of ``Track/segments``.
            package let sequence: Int64

            package init(name: String, sequence: Int64) {
                self.name = name
                self.sequence = sequence
            }
        }

        package init(
            name: String, kind: TrackKind, playlistName: String, contentType: String, style: PlaylistWindow.Style,
            targetDuration: Int, slack: Int64 = 0, longestDuration: Int64 = 0, discontinuitySequence: Int64 = 0,
            segments: [Segment], retired: [RetiredSegment] = [], iFrames: IFrames? = nil, mostSegments: Int? = nil,
            rates: BitRates? = nil
        ) {
            self.rates = rates
            self.iFrames = iFrames
            self.mostSegments = mostSegments
            self.name = name
            self.kind = kind
            self.playlistName = playlistName
            self.contentType = contentType
            self.style = style
            self.targetDuration = targetDuration
            self.slack = slack
            self.longestDuration = longestDuration
            self.discontinuitySequence = discontinuitySequence
            self.segments = segments
            self.retired = retired
        }
    }

    /// Time zero of the room: nanoseconds since the Unix epoch. Numbers of another origin are another room's.
    package let origin: Int64
    package let tracks: [Track]
    package let dateRanges: DateRangeList
    package let multivariantName: String
    package let multivariant: String
    /// The playlists carry `EXT-X-ENDLIST`.
    package let isEnded: Bool
    /// Behind the newest.
    package let nextMediaSequence: Int64

    package init(
        origin: Int64, tracks: [Track], dateRanges: DateRangeList = DateRangeList(), multivariantName: String,
        multivariant: String, isEnded: Bool, nextMediaSequence: Int64
    ) {
        self.origin = origin
        self.tracks = tracks
        self.dateRanges = dateRanges
        self.multivariantName = multivariantName
        self.multivariant = multivariant
        self.isEnded = isEnded
        self.nextMediaSequence = nextMediaSequence
    }

    /// - Parameter number: Of the first segment that is told; `nil`: all that are listed.
    init(_ publication: Publication, from number: Int64?) {
        self.init(
            origin: publication.origin,
            tracks: publication.tracks.map { track in
                let window = track.window
                let news = number.map { max(0, window.nextMediaSequence - $0) } ?? .max
                let told = window.segments.dropLast(Int(clamping: news))
                let skipped = told.reduce(0) { $0 &+ Int64($1.iFrameCount) }
                return Track(
                    name: track.names.track, kind: track.kind, playlistName: track.names.playlist,
                    contentType: track.contentType, style: window.style, targetDuration: window.targetDuration,
                    slack: window.slack, longestDuration: window.longestDuration,
                    discontinuitySequence: window.discontinuitySequence
                        &+ Int64(told.count(where: \.discontinuity)),
                    segments: Array(window.segments.suffix(Int(clamping: news))),
                    retired: number == nil ? window.retired : [],
                    iFrames: window.iFrameSequence.map {
                        Track.IFrames(name: track.names.iFramePlaylist, sequence: $0 &+ skipped)
                    }, mostSegments: window.mostSegments, rates: track.description.rates)
            }, dateRanges: publication.dateRanges, multivariantName: publication.settings.multivariantName,
            multivariant: publication.multivariant.rendered(), isEnded: publication.isEnded,
            nextMediaSequence: publication.nextMediaSequence)
    }
}

extension HLSPackager {
    /// Tells of everything that is listed, with its files in the directory; before ``begin(now:)``. Calls come from the
    /// writer's thread: they must not block.
    ///
    /// - Parameter watcher: Says whether it has taken it. One that has not is told everything anew the next time, and is to
    ///   forget what it was told before.
    package func watchListing(_ watcher: @escaping @Sendable (OutputListing) -> Bool) {
        self.listingWatchers.withLock { $0.append(ListingWatcher(told: nil, tell: watcher)) }
    }

    /// The writer's ``PublicationWriter/init(publication:store:clock:keeper:show:note:recorded:)`` `note`.
    func tellListing(_ publication: Publication) {
        self.listing.withLock { $0 = publication }
        self.listingWatchers.withLock { watchers in
            for index in watchers.indices {
                let isTaken = watchers[index].tell(OutputListing(publication, from: watchers[index].told))
                watchers[index].told = isTaken ? publication.nextMediaSequence : nil
            }
        }
    }

    /// The bytes of a file of the output; `nil` where it is not there any more. Blocks.
    package func bytes(ofFile name: String) -> [UInt8]? {
        TrackNames.isValid(name) && !name.hasSuffix(".json") ? self.store.read(name) : nil
    }

    /// The bytes of a listed segment as it was cut; `nil` where it is not there any more, or cannot be opened. Blocks.
    package func clearBytes(of segment: Segment, track: String) -> [UInt8]? {
        self.bytes(ofFile: segment.uri).flatMap { self.opened($0, of: segment.mediaSequence, track: track) }
    }

    /// A segment's file as the segment was cut; `nil` where it cannot be opened.
    package func opened(_ bytes: [UInt8], of mediaSequence: Int64, track: String) -> [UInt8]? {
        guard let keys = self.keys else { return bytes }
        return keys.opened(bytes, of: mediaSequence, track: track)
    }

    /// Notes of this worker for its successor, in the output's directory.
    ///
    /// - Parameters:
    ///   - name: A plain name that begins with a dot and is nobody else's.
    ///   - durable: Must survive a crash of the machine once this returns.
    package func keep(note bytes: [UInt8], named name: String, durable: Bool) throws(MediaError) {
        try self.store.put(name, bytes: bytes, durable: durable)
    }

    package func note(named name: String) -> [UInt8]? { self.store.read(name) }

    package func removeNote(named name: String) { try? self.store.remove(name) }
}

/// Somebody who is told what is listed.
struct ListingWatcher: Sendable {
    /// The number behind the last segment it was told of.
    var told: Int64?
    let tell: @Sendable (OutputListing) -> Bool
}

extension HLSPackager {
    /// A slate in the place of a segment: as long, under the same initialization segment.
    ///
    /// - Returns: `nil` where it does not fit: a segment that is cut short, or one of a configuration the track changed to.
    package func restamped(_ slate: Slate, like segment: Segment, track name: String) -> [UInt8]? {
        guard let index = self.tracks.firstIndex(where: { $0.name == name }), slate.tracks.indices.contains(index),
            slate.frames > 0, Self.isFirstConfiguration(segment.map.uri, of: name)
        else { return nil }
        let grid = self.settings.grid
        let timescale = Int64(segment.duration.timescale)
        func frame(_ ticks: Int64) -> Int64 {
            TimeMath.rescale(ticks, from: timescale, to: Int64(grid.fps), rounding: .nearest)
        }
        let (start, end) = (segment.start, segment.start &+ segment.duration.ticks)
        let frames = frame(start)..<max(frame(start), frame(end))
        guard self.tracks[index].kind == .audio || frames.count.isMultiple(of: slate.frames) else { return nil }
        // Its fragments are numbered as those of the segment it replaces.
        var slots = SlotTable(grid: grid)
        slots.plan(cuts: self.settings.opening?.cuts ?? [])
        var segmenter = TrackSegmenter(
            kind: self.tracks[index].kind, grid: grid, firstTick: frames.lowerBound, slots: slots,
            frameStep: self.tracks[index].frameStep)
        var output = slate.fill(frames, track: index, into: &segmenter)
        output += segmenter.finish()
        let parts = output.compactMap { item -> FinishedPart? in if case .part(let part) = item { part } else { nil } }
        guard parts.first?.start == start, parts.last?.end == end else { return nil }
        let memories = parts.map(\.memory)
        guard let keys = self.keys else { return memories.flatMap { $0.bytes } }
        return keys.sealed(memories, of: segment.mediaSequence, track: name).bytes
    }

    /// The name of an initialization segment without a change's number.
    private static func isFirstConfiguration(_ uri: String, of track: String) -> Bool {
        guard uri.hasPrefix("\(track)-"), uri.hasSuffix(".mp4") else { return false }
        return uri.dropFirst(track.utf8.count + 1).dropLast(4).utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

extension HLSPackager {
    /// Lets viewers have something beside the media, under a name that nothing listed has; callable from any thread.
    package func show(_ bytes: [UInt8], as name: String, contentType: String) {
        guard TrackNames.isValid(name), !name.hasSuffix(".m3u8"), !name.hasSuffix(".m4s"), !name.hasSuffix(".mp4")
        else {
            return
        }
        let object = PublishedObject(
            body: .bytes(bytes), contentType: contentType, cacheControl: "max-age=\(self.targetDuration)")
        self.extras.withLock { $0[name] = object }
    }
}
