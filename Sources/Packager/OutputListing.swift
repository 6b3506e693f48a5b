package import HLS
package import MediaTypes

/// The content of an output's playlists, for a consumer that builds the same playlists elsewhere, such as an upload. A
/// consumer's first listing, and each one after a listing that it did not accept, contains all segments; the others
/// only those added since the last one.
package struct OutputListing: Sendable {
    /// The listed content of one track.
    package struct Track: Sendable {
        /// Name of the track, the prefix of its file names.
        package let name: String
        package let kind: TrackKind
        package let playlistName: String
        /// MIME type of the track's segments.
        package let contentType: String
        /// Whether the playlist is a sliding window or keeps every segment.
        package let style: PlaylistWindow.Style
        /// Target duration in seconds.
        package let targetDuration: Int
        /// Nanoseconds for which unlisted segments are kept longer than required; see ``PlaylistWindow/slack``.
        package let slack: Int64
        /// Duration in nanoseconds of the longest playlist so far; see ``PlaylistWindow/longestDuration``.
        package let longestDuration: Int64
        /// Discontinuity sequence number of the first of ``segments``.
        package let discontinuitySequence: Int64
        /// The listed segments with consecutive numbers, newest last; only the new ones if the consumer has the earlier ones.
        package let segments: [Segment]
        /// Earlier segments that are no longer listed and not deleted; empty if the consumer has accepted earlier listings.
        package let retired: [RetiredSegment]
        /// The track's I-frame playlist; `nil` if it has none.
        package let iFrames: IFrames?
        /// Maximum number of listed segments, set while disk space is short; `nil`: no limit. See
        /// ``PlaylistWindow/mostSegments``.
        package let mostSegments: Int?
        /// Declared bit rates; `nil` if unknown.
        package let rates: BitRates?

        /// Name and first media sequence number of a track's I-frame playlist.
        package struct IFrames: Sendable, Hashable {
            package let name: String
            /// Number of I frames before the first of ``Track/segments``; see ``PlaylistWindow/iFrameSequence``.
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

    /// Time zero of the room: nanoseconds since the Unix epoch. Media sequence numbers with another origin belong to
    /// another room.
    package let origin: Int64
    package let tracks: [Track]
    package let dateRanges: DateRangeList
    package let multivariantName: String
    package let multivariant: String
    /// Whether the playlists have `EXT-X-ENDLIST`.
    package let isEnded: Bool
    /// Media sequence number after the newest segment.
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

    /// Makes a listing of a publication.
    ///
    /// - Parameters:
    ///   - number: Media sequence number of the first segment to include; `nil`: all listed segments.
    ///   - isWhole: Whether to list the whole window; otherwise only what the live playlists list.
    init(_ publication: Publication, from number: Int64?, isWhole: Bool) {
        self.init(
            origin: publication.origin,
            tracks: publication.tracks.enumerated().map { index, track in
                let window = track.window
                let news = number.map { max(0, window.nextMediaSequence - $0) } ?? .max
                let told = window.segments.dropLast(Int(clamping: news))
                let first = number ?? 0
                let archived =
                    isWhole && first < window.mediaSequence ? publication.archived(ofTrack: index, from: first) : []
                let skipped = told.reduce(0) { $0 &+ Int64($1.iFrameCount) }
                let before = archived.reduce(0) { $0 &+ Int64($1.iFrameCount) }
                let archive = publication.archive
                // An output that lists only the live playlist still has the files of earlier segments.
                let unlisted =
                    number != nil ? [] : window.retired + (archive?.retired(ofTrack: index, isWhole: isWhole) ?? [])
                return Track(
                    name: track.names.track, kind: track.kind, playlistName: track.names.playlist,
                    contentType: track.contentType,
                    style: isWhole ? publication.settings.windowStyle : window.style,
                    targetDuration: window.targetDuration, slack: window.slack,
                    longestDuration: isWhole
                        ? max(archive?.longest ?? 0, window.longestDuration) : window.longestDuration,
                    discontinuitySequence: window.discontinuitySequence
                        &+ Int64(told.count(where: \.discontinuity))
                        &- Int64(archived.count(where: \.discontinuity)),
                    segments: archived + Array(window.segments.suffix(Int(clamping: news))), retired: unlisted,
                    iFrames: window.iFrameSequence.map {
                        Track.IFrames(name: track.names.iFramePlaylist, sequence: $0 &+ skipped &- before)
                    }, mostSegments: window.mostSegments, rates: track.description.rates)
            }, dateRanges: isWhole ? publication.archive?.ranges ?? publication.dateRanges : publication.dateRanges,
            multivariantName: publication.settings.multivariantName,
            // The consumers do not copy the files of subtitle renditions.
            multivariant: publication.multivariant.withoutSubtitles.rendered(), isEnded: publication.isEnded,
            nextMediaSequence: publication.nextMediaSequence)
    }
}

extension HLSPackager {
    /// Registers `watcher`, which is called with every change of the listing, after the listed segments are in the
    /// directory, but before the playlists are; call this before ``begin(now:slate:)``. Calls come from the writer's
    /// thread or from that of ``begin(now:slate:)``, and delay both.
    ///
    /// - Parameters:
    ///   - isWhole: Whether the listing has the whole window; otherwise it has what the live playlists list.
    ///   - watcher: Returns whether it has accepted the listing. If it has not, it must discard earlier
    ///     listings, and the next call passes everything again.
    package func watchListing(isWhole: Bool = true, _ watcher: @escaping @Sendable (OutputListing) -> Bool) {
        self.listingWatchers.withLock { $0.append(ListingWatcher(told: nil, isWhole: isWhole, tell: watcher)) }
    }

    /// Passes the current publication to the listing watchers; the `note` callback of ``PublicationWriter``.
    func tellListing(_ publication: Publication) {
        self.listing.withLock { $0 = publication }
        self.listingWatchers.withLock { watchers in
            for index in watchers.indices {
                let isTaken = watchers[index].tell(
                    OutputListing(publication, from: watchers[index].told, isWhole: watchers[index].isWhole))
                watchers[index].told = isTaken ? publication.nextMediaSequence : nil
            }
        }
    }

    /// Reads a file of the output; `nil` if it cannot be read, or for the worker's own `.json` files. Blocks while
    /// reading.
    package func bytes(ofFile name: String) -> [UInt8]? {
        TrackNames.isValid(name) && !name.hasSuffix(".json") ? self.store.read(name) : nil
    }

    /// Reads and decrypts a listed segment; `nil` if its file no longer exists or cannot be decrypted. Blocks while
    /// reading.
    package func clearBytes(of segment: Segment, track: String) -> [UInt8]? {
        self.bytes(ofFile: segment.uri).flatMap { self.opened($0, of: segment.mediaSequence, track: track) }
    }

    /// Decrypts the bytes of a segment's file; returns them unchanged if the room is not encrypted, `nil` if decryption
    /// fails.
    package func opened(_ bytes: [UInt8], of mediaSequence: Int64, track: String) -> [UInt8]? {
        guard let keys = self.keys else { return bytes }
        return keys.opened(bytes, of: mediaSequence, track: track)
    }

    /// Stores a note, a small hidden file in the output's directory, for the next worker.
    ///
    /// - Parameters:
    ///   - name: A plain, unique name that begins with a dot.
    ///   - durable: If true, the note survives a crash of the machine once this returns.
    package func keep(note bytes: [UInt8], named name: String, durable: Bool) throws(MediaError) {
        try self.store.put(name, bytes: bytes, durable: durable)
    }

    package func note(named name: String) -> [UInt8]? { self.store.read(name) }

    package func removeNote(named name: String) { try? self.store.remove(name) }
}

/// A consumer of the listing, and what was passed to it.
struct ListingWatcher: Sendable {
    /// Media sequence number after the last segment that the watcher accepted; `nil` if it needs everything.
    var told: Int64?
    /// Whether the listing has the whole window.
    let isWhole: Bool
    let tell: @Sendable (OutputListing) -> Bool
}

extension HLSPackager {
    /// Makes a slate segment with the duration and the initialization segment of a listed segment, to replace that
    /// segment.
    ///
    /// - Returns: `nil` if slate does not fit, for example because the segment was cut short or its configuration is not
    ///   the first one of a worker.
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
        // The fragments get the same numbers as those of the replaced segment.
        var boundaries = SegmentBoundaries(grid: grid)
        boundaries.plan(cuts: self.settings.opening?.cuts ?? [])
        var segmenter = TrackSegmenter(
            kind: self.tracks[index].kind, grid: grid, firstTick: frames.lowerBound, boundaries: boundaries,
            frameStep: self.tracks[index].frameStep)
        var output = slate.fill(frames, track: index, into: &segmenter)
        output += segmenter.finish()
        let parts = output.compactMap { item -> FinishedPart? in if case .part(let part) = item { part } else { nil } }
        guard parts.first?.start == start, parts.last?.end == end else { return nil }
        let memories = parts.map(\.memory)
        guard let keys = self.keys else { return memories.flatMap { $0.bytes } }
        return keys.sealed(memories, of: segment.mediaSequence, track: name).bytes
    }

    /// Whether a URI names the initialization segment with which a worker began a track: such a name has no change
    /// number.
    private static func isFirstConfiguration(_ uri: String, of track: String) -> Bool {
        guard uri.hasPrefix("\(track)-"), uri.hasSuffix(".mp4") else { return false }
        return uri.dropFirst(track.utf8.count + 1).dropLast(4).utf8.allSatisfy(\.isDigit)
    }
}

extension HLSPackager {
    /// Makes an additional object, such as a thumbnail index, available to viewers. Names of playlists, segments and
    /// initialization segments are ignored. Callable from any thread.
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
