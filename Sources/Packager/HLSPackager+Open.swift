package import MediaTypes

extension HLSPackager {
    /// Opens an output in a directory; see ``open(_:tracks:store:clock:keeper:report:)``.
    package static func open(
        _ settings: HLSOutputSettings, tracks: [TrackDescription], clock: any MonotonicClock,
        keeper: (any ListingObserver)? = nil, report: @escaping @Sendable (PackagerEvent) -> Void
    ) throws(MediaError) -> HLSPackager {
        try self.open(
            settings, tracks: tracks, store: DirectoryStore(directory: settings.directory), clock: clock,
            keeper: keeper, report: report)
    }

    /// Prepares the store and claims the room in it: from then on a worker with a lower incarnation (run number)
    /// publishes nothing more.
    ///
    /// - Parameters:
    ///   - tracks: Renditions in the order in which players should try them, then the audio at one or several bit
    ///     rates.
    ///   - keeper: Receives everything that the playlists list, on the thread of ``run()`` and before that on the
    ///     thread of ``begin(now:slate:)``.
    ///   - report: Receives the output's events, on the thread of ``run()`` and before that on the thread of
    ///     ``begin(now:slate:)``.
    /// - Throws: ``MediaError/Code/rejected`` for invalid tracks or names, or if the grid or the encryption differs
    ///   from the room's; ``MediaError/Code/notCreatable``; ``MediaError/Code/outputLost`` if files of an ended session
    ///   cannot be removed; ``MediaError/Code/roomExited`` for a room that has ended (unless `newSession`);
    ///   ``MediaError/Code/invalidData`` for a damaged state file or an unreadable codec configuration.
    package static func open(
        _ settings: HLSOutputSettings, tracks: [TrackDescription], store: any SegmentStore, clock: any MonotonicClock,
        keeper: (any ListingObserver)? = nil, report: @escaping @Sendable (PackagerEvent) -> Void
    ) throws(MediaError) -> HLSPackager {
        try self.check(settings, tracks)
        try store.prepare()
        let (claimed, keys) = try store.exclusively { () throws(MediaError) -> (StateFile, SegmentKeys?) in
            try self.claim(settings, tracks, store)
        }
        return HLSPackager(
            settings: settings, tracks: tracks, store: store, clock: clock, claimed: claimed, keys: keys,
            keeper: keeper, report: report)
    }

    /// Reads the tracks of the unfinished room in a directory, for a worker that must offer the same ones. Changes
    /// nothing in the directory.
    ///
    /// - Returns: The names of the room's tracks, and whether its multivariant playlist has an audio-only variant;
    ///   `nil` if the directory has no room that has begun and not ended, or its state cannot be read.
    package static func running(in directory: String) -> (tracks: Set<String>, hasAudioOnly: Bool)? {
        let store = DirectoryStore(directory: directory)
        guard let bytes = store.read(StateFile.name), let state = try? StateFile(json: bytes, path: StateFile.name),
            !state.ended, !state.tracks.isEmpty
        else { return nil }
        let list = store.read(state.multivariantName).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let hasAudioOnly = list.split(separator: "\n").contains { line in
            line.hasPrefix("#EXT-X-STREAM-INF:") && !line.contains(",RESOLUTION=")
        }
        return (Set(state.tracks.map(\.name)), hasAudioOnly)
    }

    private static func check(_ settings: HLSOutputSettings, _ tracks: [TrackDescription]) throws(MediaError) {
        func refuse(_ what: String, fix: String) -> MediaError { MediaError(.rejected, what, at: "hls", fix: fix) }
        guard !tracks.isEmpty else { throw refuse("there is no track", fix: "add a rendition or an audio track") }
        guard TrackNames.isValid(settings.multivariantName), settings.multivariantName.hasSuffix(".m3u8") else {
            throw refuse(
                "\(settings.multivariantName) cannot name the multivariant playlist",
                fix: "use a file name without a path that ends with .m3u8")
        }
        for variant in settings.variants ?? [] {
            let isKnown = [(variant.video, TrackKind.video), (variant.audio, .audio)].allSatisfy { name, kind in
                name.map { name in tracks.contains { $0.name == name && $0.kind == kind } } ?? true
            }
            guard isKnown, variant.video != nil || variant.audio != nil else {
                throw refuse("a variant names a track that the output does not have", fix: "name tracks of the output")
            }
        }
        guard settings.variants?.isEmpty != true else {
            throw refuse("the list of variants is empty", fix: "add a variant or omit the list")
        }
        var names: Set<String> = [settings.multivariantName]
        if settings.hasWholeWindowPlaylists {
            names.insert(Publication.wholeWindowName(ofMultivariant: settings.multivariantName))
        }
        for rendition in settings.subtitles {
            let all = [
                TrackNames(track: rendition.name).playlist,
                Publication.wholeWindowNames(of: rendition.name).playlist,
            ]
            guard TrackNames.isValid(rendition.name), all.allSatisfy({ names.insert($0).inserted }) else {
                throw refuse(
                    "\(rendition.name) cannot name a subtitle rendition", fix: "use another name for that rendition")
            }
        }
        for track in tracks {
            guard TrackNames.isValid(track.name) else {
                throw refuse(
                    "\(track.name) cannot be a track name", fix: "use up to 64 letters, digits, '.', '_' and '-'")
            }
            guard names.insert(TrackNames(track: track.name).playlist).inserted else {
                throw refuse("the name \(track.name) is taken", fix: "give each rendition its own name")
            }
            if settings.iFramePlaylists, track.kind == .video,
                !names.insert(TrackNames(track: track.name).iFramePlaylist).inserted
            {
                throw refuse("the name \(track.name)-iframes is taken", fix: "give that rendition another name")
            }
            let whole = Publication.wholeWindowNames(of: track.name)
            if settings.hasWholeWindowPlaylists,
                !names.insert(whole.playlist).inserted || !names.insert(whole.iFramePlaylist).inserted
            {
                throw refuse(
                    "the name \(whole.track) is taken, which is that of the playlist of the whole window",
                    fix: "give that rendition another name")
            }
            guard track.frameStep >= 1, settings.grid.partFrames.isMultiple(of: track.frameStep),
                settings.grid.gopFrames.isMultiple(of: track.frameStep)
            else {
                throw refuse(
                    "\(track.name) has one frame in \(track.frameStep), which does not fit parts of "
                        + "\(settings.grid.partFrames) and GOPs of \(settings.grid.gopFrames) frames",
                    fix: "make the part and GOP lengths multiples of \(track.frameStep) frames")
            }
            guard track.parameters.kind == track.kind, track.codecString != nil else {
                throw MediaError(
                    .invalidData, "the codec configuration cannot be read", at: "hls[\(track.name)]",
                    fix: "use h264 or aac with a global header")
            }
        }
    }

    private static func claim(
        _ settings: HLSOutputSettings, _ tracks: [TrackDescription], _ store: any SegmentStore
    ) throws(MediaError) -> (StateFile, SegmentKeys?) {
        let grid = settings.grid
        var state = StateFile(incarnation: 0, multivariantName: settings.multivariantName, grid: grid)
        if let bytes = store.read(StateFile.name) {
            let old = try StateFile(json: bytes, path: store.path(of: StateFile.name) ?? StateFile.name)
            if old.ended {
                guard settings.newSession else {
                    throw MediaError(
                        .roomExited, "the room in \(settings.directory) has ended", at: "hls",
                        fix: "choose another directory, or start a new session in this one with --new-session")
                }
                try self.remove(old, store)
                // Media sequence numbers start again at 0, but the incarnation continues to increase, so that file
                // names stay distinct.
                state.incarnation = old.incarnation
            } else {
                guard old.grid == grid || old.nextMediaSequence == 0 else {
                    throw MediaError(
                        .rejected,
                        "the room in \(settings.directory) has another frame rate, sample rate, segment length or "
                            + "part length (\(old.grid.fps) fps, \(old.grid.segmentGops) GOPs of "
                            + "\(old.grid.gopFrames) frames per segment)", at: "hls",
                        fix: "keep these settings for the life of a room, or choose another directory")
                }
                state = old
                state.grid = grid
            }
        } else if store.contains(settings.multivariantName), !settings.newSession {
            throw MediaError(
                .notCreatable, "\(settings.directory) contains playlists but no \(StateFile.name)", at: "hls",
                fix: "choose an empty directory, or take this one over with --new-session")
        }
        // Keys are written before the state file: a worker that is killed in between has not claimed the room.
        let keys = try self.claimKeys(settings, isBegun: state.nextMediaSequence > 0, store)
        state.incarnation += 1
        do {
            try store.put(StateFile.name, bytes: Array(state.json.utf8), durable: true)
        } catch {
            throw MediaError(.notCreatable, error.what, at: error.place, fix: "name a directory this user can write")
        }
        return (state, keys)
    }

    /// Removes the files of an ended session.
    private static func remove(_ state: StateFile, _ store: any SegmentStore) throws(MediaError) {
        // Playlists first, so that no client finds a playlist whose segments are gone.
        try store.remove(state.multivariantName)
        if state.archive != nil {
            try store.remove(Publication.wholeWindowName(ofMultivariant: state.multivariantName))
            for track in state.tracks {
                let names = Publication.wholeWindowNames(of: track.name)
                for name in [names.playlist, names.iFramePlaylist] { try store.remove(name) }
            }
        }
        for track in state.tracks {
            try store.remove(TrackNames(track: track.name).playlist)
            if track.iFrameSequence != nil { try store.remove(TrackNames(track: track.name).iFramePlaylist) }
        }
        for rendition in state.subtitles {
            try store.remove(TrackNames(track: rendition.name).playlist)
            if state.archive != nil { try store.remove(Publication.wholeWindowNames(of: rendition.name).playlist) }
        }
        for track in state.tracks {
            let names = TrackNames(track: track.name)
            for entry in track.entries {
                let uri = names.segment(entry.mediaSequence, incarnation: entry.incarnation)
                try self.remove(segment: uri, of: track.name, state, store)
            }
            for retired in track.retired { try self.remove(segment: retired.uri, of: track.name, state, store) }
            for map in track.maps { try store.remove(map) }
        }
        guard let archive = state.archive else { return }
        let rows = archive.journal.flatMap { store.read($0) }.map(ArchiveRow.read) ?? []
        for row in rows + archive.rows {
            switch row {
            case .segment(let track, _, let entry):
                let names = TrackNames(track: track)
                let uri = names.segment(entry.mediaSequence, incarnation: entry.incarnation)
                try self.remove(segment: uri, of: track, state, store)
            case .retired(let segment):
                try self.remove(segment: segment.uri, of: nil, state, store)
                try store.remove(segment.map.uri)
            case .range: break
            }
        }
        if let journal = archive.journal { try store.remove(journal) }
    }

    /// Removes a segment, and the subtitle segments that may belong to it.
    ///
    /// - Parameter track: Name of the segment's track; `nil`: a track that the room no longer has.
    private static func remove(
        segment uri: String, of track: String?, _ state: StateFile, _ store: any SegmentStore
    ) throws(MediaError) {
        try store.remove(uri)
        let own = state.subtitles.compactMap { rendition in
            track.flatMap { SubtitlePublication.segmentName(rendition.name, like: uri, of: $0) }
        }
        for name in own + state.formerSubtitles.compactMap({ $0.fileName(like: uri) }) { try store.remove(name) }
    }
}
