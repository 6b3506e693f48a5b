import HLS
import MediaTypes

/// The variants that players can choose from.
extension Publication {
    /// A variant's video and audio track; at least one of them is set.
    private struct Combination {
        var video: TrackPublication?
        var audio: TrackPublication?
    }

    private var combinations: [Combination] {
        let audioTracks = self.tracks.filter { $0.kind == .audio }
        let videoTracks = self.tracks.filter { $0.kind == .video }
        if let variants = self.settings.variants {
            return variants.map { variant in
                Combination(
                    video: videoTracks.first { $0.names.track == variant.video },
                    audio: audioTracks.first { $0.names.track == variant.audio })
            }.filter { $0.video != nil || $0.audio != nil }
        }
        if videoTracks.isEmpty { return audioTracks.map { Combination(audio: $0) } }
        return videoTracks.flatMap { video in
            audioTracks.isEmpty ? [Combination(video: video)] : audioTracks.map { Combination(video: video, audio: $0) }
        }
    }

    var multivariant: MultivariantPlaylist {
        let combinations = self.combinations
        let hasPictures = combinations.contains { $0.video != nil }
        let audio = self.tracks.filter { $0.kind == .audio }.map { track in
            // All tracks have the same name, because they are the same audio (§4.4.6.1.1).
            MultivariantPlaylist.Audio(
                group: track.names.track, name: "Audio", uri: track.names.playlist, channels: track.description.channels
            )
        }
        let variants = combinations.compactMap { combination -> MultivariantPlaylist.Variant? in
            guard let track = combination.video ?? combination.audio else { return nil }
            let declared = self.declared(combination)
            let video = combination.video
            let measured = (video?.meterOfAll.peak ?? 0) + (combination.audio?.meterOfAll.peak ?? 0)
            return MultivariantPlaylist.Variant(
                uri: track.names.playlist,
                bandwidth: self.declaresMeasured ? max(declared.peak, measured) : declared.peak,
                averageBandwidth: declared.average,
                codecs: [video?.codec, combination.audio?.codec].compactMap { $0 },
                resolution: video.map { ($0.description.width, $0.description.height) },
                frameRateMilli: video.map { Int64(self.grid.fps) * 1_000 / Int64(max(1, $0.description.frameStep)) },
                audioGroup: hasPictures ? combination.audio?.names.track : nil)
        }
        var playlist = MultivariantPlaylist(
            title: self.settings.title, audio: audio, variants: variants, iFrames: self.iFrameLists(combinations))
        playlist.contentID = self.settings.contentID
        playlist.captions = self.settings.captions
        playlist.subtitles = self.subtitles.map { rendition in
            MultivariantPlaylist.Subtitles(
                name: rendition.settings.label, language: rendition.settings.language,
                isDefault: rendition.settings.isDefault, uri: rendition.playlistName)
        }
        return playlist
    }

    /// Returns one I-frame playlist per rendition, in the order of the variants.
    private func iFrameLists(_ combinations: [Combination]) -> [MultivariantPlaylist.IFrames] {
        var seen: Set<String> = []
        return combinations.compactMap(\.video).filter { $0.hasIFrames && seen.insert($0.names.track).inserted }.map {
            let (track, picture) = ($0, $0.description)
            return MultivariantPlaylist.IFrames(
                uri: track.names.iFramePlaylist,
                bandwidth: DeclaredBandwidth.ofIFrames(
                    videoBitrate: picture.bitrate, videoPeak: picture.maxBitrate, videoBuffer: picture.bufferSize,
                    grid: self.grid),
                codec: track.codec, width: picture.width, height: picture.height)
        }
    }

    private func declared(_ combination: Combination) -> DeclaredBandwidth {
        let (video, audio) = (combination.video?.description, combination.audio?.description)
        return DeclaredBandwidth(
            videoBitrate: video?.bitrate ?? 0, videoPeak: video?.maxBitrate ?? 0, videoBuffer: video?.burst ?? 0,
            audioBitrate: audio?.bitrate ?? 0, audioPeak: audio?.maxBitrate ?? 0, grid: self.grid)
    }

    /// Returns an event for each video rendition with a variant whose measured peak segment bit rate exceeds the declared
    /// one by more than a tenth. A rendition is reported again only after its declared rates have changed.
    mutating func takeAlarms() -> [PackagerEvent] {
        var alarms: [PackagerEvent] = []
        for combination in self.combinations {
            guard let track = combination.video, !self.alarmed.contains(track.names.track) else { continue }
            let declared = self.declared(combination).peak
            let measured = track.meter.peak + (combination.audio?.meter.peak ?? 0)
            guard measured > declared + declared / 10 else { continue }
            self.alarmed.insert(track.names.track)
            alarms.append(.bandwidthExceeded(track: track.names.track, measured: measured, declared: declared))
        }
        return alarms
    }
}
