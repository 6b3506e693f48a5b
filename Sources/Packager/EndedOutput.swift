import HLS
package import MediaTypes

/// The directory of an output: its files, and the notes that workers leave in it for later workers.
package protocol OutputDirectory: Sendable {
    /// The bytes of a file of the output; `nil` if it no longer exists. Blocks.
    func bytes(ofFile name: String) -> [UInt8]?

    /// Stores a note for the next worker.
    ///
    /// - Parameters:
    ///   - name: A plain, unique name that begins with a dot.
    ///   - durable: The note survives a crash of the machine once this returns.
    func keep(note bytes: [UInt8], named name: String, durable: Bool) throws(MediaError)
    func note(named name: String) -> [UInt8]?
    func removeNote(named name: String)
}

extension HLSPackager: OutputDirectory {}

/// An output whose room has ended, read from its directory, for uploads that are not complete yet.
package struct EndedOutput: OutputDirectory {
    private let store: any SegmentStore
    private let state: StateFile
    private let settings: HLSOutputSettings
    private let keys: SegmentKeys?

    /// Opens a directory for reading; changes nothing in it.
    ///
    /// - Parameter settings: The settings of the room; the grid is taken from the state file.
    /// - Returns: `nil` if the directory has no ended room.
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

    /// Incarnation of the last worker of a room, from the state file of its directory; `nil` without a readable state
    /// file.
    package static func lastIncarnation(inDirectory directory: String) -> Int64? {
        guard let bytes = DirectoryStore(directory: directory).read(StateFile.name) else { return nil }
        return (try? StateFile(json: bytes, path: StateFile.name))?.incarnation
    }

    /// Number of listed media sequence numbers that are a gap in at least one track.
    package var lostSegments: Int {
        Set(self.state.tracks.flatMap { $0.entries.filter(\.gap).map(\.mediaSequence) }).count
    }

    /// Everything that the output lists.
    ///
    /// - Parameter kinds: Kinds of the tracks, by name.
    /// - Throws: ``MediaError/Code/invalidData`` if a playlist or a track does not match the state file.
    package func listing(_ kinds: [String: TrackKind]) throws(MediaError) -> OutputListing {
        let grid = self.state.grid
        let origin = self.state.origin ?? 0
        guard let multivariant = self.store.read(self.state.multivariantName) else {
            throw self.damaged("\(self.state.multivariantName) is missing")
        }
        var tracks: [OutputListing.Track] = []
        for track in self.state.tracks {
            guard let kind = kinds[track.name] else { throw self.damaged("the room has no track \(track.name)") }
            let names = TrackNames(track: track.name)
            let segments = track.segments(
                timescale: grid.timescale(of: kind), origin: origin, store: self.store, keys: self.keys)
            guard segments.last.map({ $0.mediaSequence + 1 == self.state.nextMediaSequence }) ?? true else {
                throw self.damaged("its segment numbers are inconsistent")
            }
            tracks.append(
                OutputListing.Track(
                    name: track.name, kind: kind, playlistName: names.playlist,
                    contentType: TrackPublication.contentType(of: kind), style: self.settings.windowStyle,
                    targetDuration: grid.targetDuration,
                    slack: Int64(max(grid.targetDuration, self.settings.deleteGraceSeconds)) &* TimeMath.nanoseconds,
                    longestDuration: track.longestDuration, discontinuitySequence: track.discontinuitySequence,
                    segments: segments, retired: track.retiredSegments,
                    iFrames: track.iFrameSequence.map {
                        OutputListing.Track.IFrames(name: names.iFramePlaylist, sequence: $0)
                    }))
        }
        var ranges = DateRangeList()
        for row in self.state.dateRanges { ranges.list(.opened(row.range), mediaSequence: row.mediaSequence, at: 0) }
        return OutputListing(
            origin: origin, tracks: tracks, dateRanges: ranges, multivariantName: self.state.multivariantName,
            multivariant: String(decoding: multivariant, as: UTF8.self), isEnded: true,
            nextMediaSequence: self.state.nextMediaSequence)
    }

    private func damaged(_ what: String) -> MediaError {
        MediaError(
            .invalidData,
            "\(self.settings.directory)/\(StateFile.name) does not match the files in its directory: \(what)",
            at: "hls", fix: "remove the unfinished outputs from the pipeline file, or restore the directory")
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
