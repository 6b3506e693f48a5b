import MediaTypes

/// Rules against two outputs that write the same file or have the same name for viewers.
extension PipelineRules {
    /// Checks that all playlists have different names: `NAME.m3u8` of each video and audio rendition,
    /// `NAME-iframes.m3u8` of each video rendition if I-frame playlists are on, the same with `-dvr` after the name if
    /// the window is longer than ten minutes, and the multivariant playlist.
    func checkPlaylistNames(_ log: inout SpecLog) {
        let videoNames = self.pipeline.videoRenditions.map(\.name)
        let media = Set((videoNames + self.pipeline.audioRenditions.map(\.name)).map { "\($0).m3u8" })
        for (index, output) in self.pipeline.outputs.enumerated() {
            let name: String
            var iFrames: Set<String> = []
            switch output {
            case .hls(let hls):
                name = hls.multivariantPlaylist
                if hls.iFramePlaylists { iFrames = Set(videoNames.map { "\($0)-iframes.m3u8" }) }
                self.checkWholeWindowNames(hls, index, &log)
            case .transport(let transport): name = transport.multivariantPlaylist
            default: continue
            }
            let place = "outputs[\(index)].multivariantPlaylist"
            if log.isValid(place, "renditions", "audioRenditions"), media.contains(name) || iFrames.contains(name) {
                log.mistake(
                    place, "\(SpecText.quoted(name)) is the playlist of a rendition", fix: "use another file name")
            }
            if log.isValid("outputs[\(index)].iFramePlaylists", "renditions", "audioRenditions"),
                let both = iFrames.intersection(media).min()
            {
                log.mistake(
                    "outputs[\(index)].iFramePlaylists",
                    "\(SpecText.quoted(both)) would be both an I-frame playlist and the playlist of a rendition",
                    fix: "give that rendition another name, or write false")
            }
        }
    }

    /// Checks that the playlists of the whole window have names of their own.
    private func checkWholeWindowNames(_ hls: HLSOutput, _ index: Int, _ log: inout SpecLog) {
        guard hls.hasWholeWindowPlaylists,
            log.isValid("outputs[\(index)].windowSeconds", "renditions", "audioRenditions")
        else { return }
        let videoNames = self.pipeline.videoRenditions.map(\.name)
        let tracks = Set(videoNames + self.pipeline.audioRenditions.map(\.name))
        let own = tracks.map { "\($0).m3u8" } + (hls.iFramePlaylists ? videoNames.map { "\($0)-iframes.m3u8" } : [])
        let name = hls.multivariantPlaylist
        let end = ".m3u8"
        let whole =
            tracks.map { "\($0)-dvr\(end)" } + videoNames.map { "\($0)-dvr-iframes\(end)" }
            + [name.hasSuffix(end) ? "\(name.dropLast(end.count))-dvr\(end)" : name]
        if let both = Set(own + [name]).intersection(whole).min() {
            log.mistake(
                "outputs[\(index)].windowSeconds",
                "\(SpecText.quoted(both)) would be both a live playlist and the playlist of the whole window",
                fix: "give that rendition another name, or write at most \(HLSOutput.longestLiveWindow)")
        }
    }

    /// Warns about two still images with the same file name in different directories: viewers and upload outputs use
    /// only the file name.
    func checkImageNames(_ log: inout SpecLog) {
        var names: [Substring: Int] = [:]
        for (index, output) in self.pipeline.outputs.enumerated() {
            guard case .image(let image) = output, log.isValid("outputs[\(index)].path"),
                let name = image.path.split(separator: "/").last
            else { continue }
            if let first = names[name] {
                // Equal paths are reported elsewhere.
                let other = self.pipeline.outputs[first].path.map { Self.components(of: $0) }
                guard other != Self.components(of: image.path) else { continue }
                log.warning(
                    "outputs[\(index)].path",
                    "outputs[\(first)] has a still with the same file name, so viewers and stores get sometimes one and sometimes the other",
                    fix: "use another file name")
            } else {
                names[name] = index
            }
        }
    }

    /// Warns if the still image of a source would overwrite the still image of another output.
    func checkSourceStills(_ log: inout SpecLog) {
        for (index, output) in self.pipeline.outputs.enumerated() {
            guard case .image(let image) = output, log.isValid("outputs[\(index)].path") else { continue }
            let place = Self.components(of: image.path)
            for (other, output) in self.pipeline.outputs.enumerated() where other != index {
                guard case .image(let still) = output, still.sources, log.isValid("outputs[\(other)].path", "sources"),
                    let source = self.pipeline.sources.first(where: {
                        Self.components(of: still.stillPath(of: $0.id)) == place
                    })
                else { continue }
                log.warning(
                    "outputs[\(index)].path",
                    "outputs[\(other)] writes the still of source \(SpecText.quoted(source.id.uid)) to the same path",
                    fix: "use another file name")
            }
        }
    }
}
