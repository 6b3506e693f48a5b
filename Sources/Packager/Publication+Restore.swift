import HLS
import MediaTypes

extension Publication {
    /// Returns the publication with which a worker's run starts: empty in a new room, otherwise as the previous worker
    /// left it.
    ///
    /// A track that the state file does not contain starts with an empty playlist at the room's sequence numbers.
    /// Segments of tracks that are no longer configured are deleted once players no longer need them.
    ///
    /// - Parameters:
    ///   - state: The state file as read when this run claimed the room; its incarnation is that of this run.
    ///   - keepsMaps: Whether an initialization segment with unchanged bytes keeps its name.
    /// - Throws: ``MediaError/Code/invalidData`` for an inconsistent state or a codec configuration that cannot be
    ///   read.
    static func restore(
        settings: HLSOutputSettings, tracks: [TrackDescription], state: StateFile, origin: Int64,
        store: any SegmentStore, keepsMaps: Bool, keys: SegmentKeys? = nil
    ) throws(MediaError) -> Publication {
        let latestDiscontinuity =
            state.tracks.map { track in
                track.discontinuitySequence &+ Int64(track.entries.filter(\.discontinuity).count)
            }.max() ?? 0
        let leftBehind = Self.leftBehind(state, tracks: tracks, settings: settings)
        let archive = SegmentArchive.restore(
            settings, tracks: tracks.map { ($0.name, $0.kind) }, state: state, leftBehind: leftBehind, store: store,
            keys: keys)
        var restored: [TrackPublication] = []
        for track in tracks {
            var state = state
            // The archive has taken over all files that no live playlist lists.
            if archive != nil { for index in state.tracks.indices { state.tracks[index].retired = [] } }
            restored.append(
                try Self.track(
                    track, settings: settings, state: state, origin: origin, newDiscontinuities: latestDiscontinuity,
                    leftBehind: restored.isEmpty && archive == nil ? leftBehind : [],
                    store: store, keepsMaps: keepsMaps, keys: keys))
            restored[restored.count - 1].window.handsOver = archive != nil
        }
        var publication = Publication(
            settings: settings, origin: origin, incarnation: state.incarnation, tracks: restored,
            nextMediaSequence: state.nextMediaSequence, nextFrame: state.nextFrame)
        publication.archive = archive
        // The state file of an older program has the whole window in the live playlists.
        if archive != nil { publication.trimHeads() }
        publication.restoreSubtitles(state, store: store, keys: keys)
        for (index, track) in tracks.enumerated() {
            if let rates = state.tracks.first(where: { $0.name == track.name })?.rates {
                publication.resumeRates(rates, of: index)
            }
        }
        return publication
    }

    private static func track(
        _ description: TrackDescription, settings: HLSOutputSettings, state: StateFile, origin: Int64,
        newDiscontinuities: Int64, leftBehind: [RetiredSegment], store: any SegmentStore, keepsMaps: Bool,
        keys: SegmentKeys?
    ) throws(MediaError) -> TrackPublication {
        let place = "hls[\(description.name)]"
        let grid = settings.grid
        let names = TrackNames(track: description.name)
        let initialization = try InitializationSegmentWriter.bytes(
            for: description.parameters, width: description.width, height: description.height, grid: grid, place: place)
        guard let codec = description.codecString else {
            throw MediaError(
                .invalidData, "the codec configuration cannot be read", at: place,
                fix: "let the encoder write a global header")
        }
        let old = state.tracks.first { $0.name == description.name }
        let maps = (old?.maps ?? []).map(InitializationSegment.init(uri:))
        var reused: (map: InitializationSegment, bytes: [UInt8])?
        if keepsMaps, let old {
            // The initialization segment of the newest segment is tried first.
            let newest = old.entries.last.flatMap { maps.indices.contains($0.map) ? maps[$0.map] : nil }
            for map in [newest].compactMap({ $0 }) + maps.reversed() where reused == nil {
                guard let bytes = store.read(map.uri),
                    bytes == initialization || Self.covers(bytes, description, grid, place)
                else { continue }
                // If the bytes are the same, the name stays, so that players see no change of configuration.
                reused = (map, bytes)
            }
        }
        let segments =
            old?.segments(timescale: grid.timescale(of: description.kind), origin: origin, store: store, keys: keys)
            ?? []
        var incarnations: [Int64: Int64] = [:]
        for entry in old?.entries ?? [] { incarnations[entry.mediaSequence] = entry.incarnation }
        let window: PlaylistWindow
        do {
            window = try PlaylistWindow(
                style: settings.liveStyle, targetDuration: grid.targetDuration,
                slackSeconds: settings.deleteGraceSeconds, segments: segments,
                nextMediaSequence: state.nextMediaSequence,
                discontinuitySequence: old.map(\.discontinuitySequence) ?? newDiscontinuities,
                retired: leftBehind + (old?.retiredSegments ?? []),
                longestDuration: old?.longestDuration ?? 0,
                iFrameSequence: description.kind == .video && settings.iFramePlaylists ? old?.iFrameSequence ?? 0 : nil)
        } catch {
            throw Self.contradiction(place)
        }
        guard window.nextMediaSequence == state.nextMediaSequence else { throw Self.contradiction(place) }
        return TrackPublication(
            description: description, names: names, timescale: grid.timescale(of: description.kind), codec: codec,
            initialization: reused?.bytes ?? initialization,
            map: reused?.map ?? InitializationSegment(uri: names.initialization(incarnation: state.incarnation)),
            isInitializationWritten: reused != nil, window: window,
            meter: BandwidthMeter(targetDuration: grid.targetDuration),
            meterOfAll: BandwidthMeter(targetDuration: grid.targetDuration), incarnations: incarnations, keys: keys)
    }

    /// Whether an earlier initialization segment contains the track's parameter sets plus those of a publisher's stream
    /// that can be passed through instead of the encoder's. Nothing else may differ.
    private static func covers(
        _ bytes: [UInt8], _ description: TrackDescription, _ grid: OutputGrid, _ place: String
    ) -> Bool {
        guard description.parameters.codec == .h264,
            let own = AVCConfiguration(extradata: description.parameters.configuration),
            let before = MPEGTSReading.configuration(bytes).video, before.sequence == own.sequence,
            Set(before.sequenceParameterSets).isSuperset(of: own.sequenceParameterSets),
            Set(before.pictureParameterSets).isSuperset(of: own.pictureParameterSets)
        else { return false }
        let parameters = CodecParameters(codec: .h264, configuration: before.record)
        let again = try? InitializationSegmentWriter.bytes(
            for: parameters, width: description.width, height: description.height, grid: grid, place: place)
        return again == bytes
    }

    private static func contradiction(_ place: String) -> MediaError {
        MediaError(
            .invalidData, "\(StateFile.name) is inconsistent", at: place,
            fix: "move the directory away or choose another one")
    }

    /// Returns the segments of tracks that are no longer configured, each with the time at which no viewer can play it
    /// any more and it is deleted.
    private static func leftBehind(
        _ state: StateFile, tracks: [TrackDescription], settings: HLSOutputSettings
    ) -> [RetiredSegment] {
        let end = TimeMath.rescale(state.nextFrame, from: Int64(settings.grid.fps), to: TimeMath.nanoseconds)
        let grace = Int64(max(0, min(settings.deleteGraceSeconds, 86_400))) &* TimeMath.nanoseconds
        return state.tracks.filter { old in !tracks.contains { $0.name == old.name } }.flatMap { old in
            let names = TrackNames(track: old.name)
            let listed = old.entries.map { entry in
                RetiredSegment(
                    uri: names.segment(entry.mediaSequence, incarnation: entry.incarnation),
                    map: InitializationSegment(uri: old.maps[entry.map]), deleteAt: end &+ old.longestDuration &+ grace,
                    gap: entry.gap, byteCount: entry.byteCount)
            }
            return listed + old.retiredSegments
        }
    }
}
