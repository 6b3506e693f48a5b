import HLS
import MediaTypes
import Packager
import PipelineSpec
import Secrets

extension HLSOutputSettings {
    /// The settings of the pipeline's HLS output. An existing session in the directory continues.
    ///
    /// - Throws: ``MediaError/Code/rejected`` if frame rate, GOP and segment do not fit together, or if the
    ///   encryption secret is still a placeholder such as `CHANGE_ME`; ``MediaError/Code/notReadable`` if it cannot be
    ///   read.
    init(_ output: HLSOutput, _ pipeline: Pipeline) throws(MediaError) {
        let grid = try OutputGrid(
            fps: pipeline.canvas.fps, gopFrames: output.gopFrames, segmentGops: output.segmentGops,
            partFrames: output.partFrames, sampleRate: pipeline.audio.sampleRate)
        let variants = pipeline.renditions.flatMap { rendition in
            rendition.audio.map { name in
                Variant(video: rendition.isAudioOnly ? nil : rendition.name, audio: name)
            }
        }
        self.init(
            directory: output.path, multivariantName: output.multivariantPlaylist, grid: grid,
            windowSeconds: output.windowSeconds, playlistType: output.playlistType == .event ? .event : .live,
            deleteGraceSeconds: output.deleteGraceSeconds, title: pipeline.room.title,
            waitsForStore: pipeline.clock == .offline, variants: variants)
        self.contentID = pipeline.room.roomID
        self.captions = (pipeline.captions?.channels ?? []).map {
            MultivariantPlaylist.Captions(channel: $0.instreamID, name: $0.name ?? $0.instreamID, language: $0.language)
        }
        self.subtitles = pipeline.subtitles.map {
            SubtitleSettings(name: $0.name, label: $0.title, language: $0.language, isDefault: $0.isDefault)
        }
        self.opening = StartupSegments(pipeline)
        self.iFramePlaylists = output.iFramePlaylists
        self.encryption = try pipeline.encryptionSettings()
    }
}

extension Pipeline {
    /// The encryption of the HLS output; nil if it is not encrypted.
    ///
    /// - Throws: ``MediaError/Code/notReadable`` if the secret cannot be read or has an unsuitable length;
    ///   ``MediaError/Code/rejected`` if it is still a placeholder such as `CHANGE_ME`.
    fileprivate func encryptionSettings() throws(MediaError) -> EncryptionSettings? {
        guard let settings = self.hls?.encryption else { return nil }
        let place = "outputs.encryption"
        let secret = try settings.secret?.resolved(place: place)
        guard secret.map({ (16...4_096).contains($0.utf8.count) }) ?? true else {
            throw MediaError(
                .notReadable, "the secret is too short or too long", at: place, fix: "use a secret of 16 to 4096 bytes")
        }
        return EncryptionSettings(
            room: self.room.roomID, rotation: Int64(settings.rotateEverySegments), keyURI: settings.keyURI,
            secret: secret.map { Array($0.utf8) })
    }
}
