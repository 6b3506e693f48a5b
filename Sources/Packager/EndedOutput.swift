import HLS
package import MediaTypes

/// An output's directory: media files, and small notes that a worker leaves for later workers.
package protocol OutputDirectory: Sendable {
    /// Reads a file of the output; `nil` if it cannot be read, or for the worker's own `.json` files. Blocks while
    /// reading.
    func bytes(ofFile name: String) -> [UInt8]?

    /// Stores a note, a small hidden file, for the next worker of the room.
    ///
    /// - Parameters:
    ///   - name: A plain, unique name that begins with a dot.
    ///   - durable: If true, the note survives a crash of the machine once this returns.
    func keep(note bytes: [UInt8], named name: String, durable: Bool) throws(MediaError)
    /// Reads a stored note; `nil` if it does not exist or cannot be read.
    func note(named name: String) -> [UInt8]?
    /// Removes a note that a worker has stored; errors are ignored.
    func removeNote(named name: String)
}

extension HLSPackager: OutputDirectory {}

/// The output of an ended room, read from its directory so that incomplete uploads can be finished.
package struct EndedOutput: OutputDirectory {
    private let store: any SegmentStore
    private let state: StateFile
    private let settings: HLSOutputSettings
    private let keys: SegmentKeys?

    /// Opens the directory of an ended room for reading; changes nothing in it.
    ///
    /// - Parameter settings: The output settings of the room.
    /// - Returns: `nil` if the directory has no state file or its room has not ended.
    /// - Throws: ``MediaError/Code/invalidData`` for a damaged state file, ``MediaError/Code/rejected`` if listed media
    ///   cannot be decrypted with these settings.
    package static func open(
        _ settings: HLSOutputSettings, store: (any SegmentStore)? = nil
    ) throws(MediaError) -> EndedOutput? {
        let store = store ?? DirectoryStore(directory: settings.directory)
        guard let bytes = store.read(StateFile.name) else { return nil }
        let state = try StateFile(json: bytes, path: store.path(of: StateFile.name) ?? StateFile.name)
        guard state.ended, state.origin != nil else { return nil }
        return EndedOutput(
            store: store, state: state, settings: settings,
            keys: try HLSPackager.claimKeys(settings, isBegun: true, store))
    }

    /// Returns the incarnation (run number) of the last worker of the room in a directory; `nil` without a readable
    /// state file.
    package static func lastIncarnation(inDirectory directory: String) -> Int64? {
        guard let bytes = DirectoryStore(directory: directory).read(StateFile.name) else { return nil }
        return (try? StateFile(json: bytes, path: StateFile.name))?.incarnation
    }

    /// Number of media sequence numbers that are listed as a gap in at least one track.
    package var lostSegments: Int {
        let live = self.state.tracks.flatMap { $0.entries.filter(\.gap).map(\.mediaSequence) }
        let archive = self.state.archive
        let journal = archive?.journal.flatMap { self.store.read($0) }.map(ArchiveRow.read) ?? []
        let archived = (journal + (archive?.rows ?? [])).compactMap { row -> Int64? in
            guard case .segment(_, _, let entry) = row, entry.gap, entry.mediaSequence >= archive?.head ?? 0 else {
                return nil
            }
            return entry.mediaSequence
        }
        return Set(live + archived).count
    }

    /// Returns what the output's playlists list, without the subtitle renditions.
    ///
    /// - Parameter kinds: Kinds of the tracks, by name.
    /// - Throws: ``MediaError/Code/invalidData`` if a playlist or a track does not match the state file.
    package func listing(_ kinds: [String: TrackKind]) throws(MediaError) -> OutputListing {
        let grid = self.state.grid
        let origin = self.state.origin ?? 0
        guard let multivariant = self.store.read(self.state.multivariantName) else {
            throw self.damaged("\(self.state.multivariantName) is missing")
        }
        let names = self.state.tracks.compactMap { track in kinds[track.name].map { (name: track.name, kind: $0) } }
        let archive = SegmentArchive.restore(
            self.settings, tracks: names, state: self.state, leftBehind: [], store: self.store, keys: self.keys)
        var tracks: [OutputListing.Track] = []
        for track in self.state.tracks {
            guard let kind = kinds[track.name] else { throw self.damaged("the room has no track \(track.name)") }
            let names = TrackNames(track: track.name)
            let listed = track.segments(
                timescale: grid.timescale(of: kind), origin: origin, store: self.store, keys: self.keys)
            let index = archive?.tracks.firstIndex { $0.names.track == track.name }
            let archived = index.flatMap { archive?.segments(ofTrack: $0, origin: origin, keys: self.keys) } ?? []
            let retired = index.flatMap { archive?.retired(ofTrack: $0, isWhole: true) }
            let segments = archived + listed
            guard segments.last.map({ $0.mediaSequence + 1 == self.state.nextMediaSequence }) ?? true else {
                throw self.damaged("its segment numbers are inconsistent")
            }
            tracks.append(
                OutputListing.Track(
                    name: track.name, kind: kind, playlistName: names.playlist,
                    contentType: TrackPublication.contentType(of: kind), style: self.settings.windowStyle,
                    targetDuration: grid.targetDuration,
                    slack: Int64(max(grid.targetDuration, self.settings.deleteGraceSeconds)) &* TimeMath.nanoseconds,
                    longestDuration: max(archive?.longest ?? 0, track.longestDuration),
                    discontinuitySequence: track.discontinuitySequence
                        &- Int64(archived.count(where: \.discontinuity)),
                    segments: segments, retired: retired ?? track.retiredSegments,
                    iFrames: track.iFrameSequence.map {
                        OutputListing.Track.IFrames(
                            name: names.iFramePlaylist,
                            sequence: $0 &- archived.reduce(0) { $0 &+ Int64($1.iFrameCount) })
                    }))
        }
        var ranges = archive?.ranges ?? DateRangeList()
        for row in self.state.dateRanges { ranges.list(.opened(row.range), mediaSequence: row.mediaSequence, at: 0) }
        return OutputListing(
            origin: origin, tracks: tracks, dateRanges: ranges, multivariantName: self.state.multivariantName,
            multivariant: MultivariantPlaylist.withoutSubtitles(String(decoding: multivariant, as: UTF8.self)),
            isEnded: true,
            nextMediaSequence: self.state.nextMediaSequence)
    }

    private func damaged(_ what: String) -> MediaError {
        MediaError(
            .invalidData,
            "\(self.settings.directory)/\(StateFile.name) does not match the files in its directory: \(what)",
            at: "hls",
            fix:
                "restore the directory, or remove from the pipeline file the http and s3 outputs that have not received "
                + "everything")
    }

    package func bytes(ofFile name: String) -> [UInt8]? {
        TrackNames.isValid(name) && !name.hasSuffix(".json") ? self.store.read(name) : nil
    }

    package func keep(note bytes: [UInt8], named name: String, durable: Bool) throws(MediaError) {
        try self.store.put(name, bytes: bytes, durable: durable)
    }

    package func note(named name: String) -> [UInt8]? { self.store.read(name) }

    package func removeNote(named name: String) { try? self.store.remove(name) }
}
