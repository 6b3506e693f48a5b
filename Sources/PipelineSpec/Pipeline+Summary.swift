import MediaTypes

extension Pipeline {
    /// Returns a summary of the room in a few lines for an operator: canvas, sources, scenes, renditions, and the
    /// lengths of parts, GOPs and segments.
    ///
    /// Contains no secrets. Ends with a line break.
    package func summary() -> String {
        var lines: [(title: String, text: String)] = []
        func add(_ title: String, _ rows: [String]) {
            for (index, row) in rows.enumerated() { lines.append((index == 0 ? title : "", row)) }
        }
        let duration = self.durationMs.map { ", ends after \(SpecText.decimal($0, over: 1000)) s" } ?? ""
        let title = self.room.title.map { " \(JSONNode.string($0).text())" } ?? ""
        add("room", ["\(self.room.roomID)\(title), \(self.clock.rawValue)\(duration)"])
        add(
            "canvas",
            [
                "\(self.canvas.width)x\(self.canvas.height), \(self.canvas.fps) fps, background "
                    + "\(self.canvas.backgroundColor)"
            ])
        add("sources", self.sources.map(Self.line))
        add("scenes", self.scenes.map(self.line))
        add(
            "audio",
            [
                "AAC \(self.audioRenditions.map { SpecText.grouped($0.bitrate) }.joined(separator: " and ")) bit/s, "
                    + "\(self.audio.sampleRate) Hz, \(self.audio.channels) channels"
            ])
        add("ladder", self.renditions.map(self.line))
        for output in self.outputs {
            switch output {
            case .hls(let hls):
                let viewers = hls.http.listen.map { ", viewers at \($0)" } ?? ""
                add(
                    "output",
                    [
                        "\(hls.outputID): \(hls.playlistType.rawValue) HLS in \(hls.path), "
                            + "\(hls.multivariantPlaylist)\(viewers)"
                    ])
                add("grid", self.gridLines(hls))
            case .http(let http): add("output", ["\(http.outputID): the same by \(http.method.rawValue) to a server"])
            case .s3(let store):
                add("output", ["\(store.outputID): the same in bucket \(store.bucket) at \(store.endpoint)"])
            case .transport(let ts): add("output", ["\(ts.outputID): the same as transport streams in \(ts.path)"])
            case .image(let image):
                add("output", ["\(image.outputID): a JPEG in \(image.path) every \(image.intervalSeconds) s"])
            case .raw(let raw): add("output", ["\(raw.outputID): raw video in \(raw.path)"])
            case .record(let record):
                let names = self.recordedRenditions.map { "\($0.name).mp4" }.joined(separator: ", ")
                add(
                    "output",
                    [
                        "\(record.outputID): recording in \(record.path), \(names)"
                            + (record.vodPlaylist ? " and playlists" : "") + (record.active ? "" : ", once started")
                    ])
            case .rtmp(let push):
                let name = self.rendition(of: push)?.name ?? "?"
                add("output", ["\(push.outputID): \(name) over RTMP to \(push.shownTarget)"])
            case .webRTC(let output):
                let names = self.webRTCRenditions.map(\.name).joined(separator: ", ")
                add("output", ["\(output.outputID): \(names) over WebRTC at /whep, media at UDP and TCP \(output.udp)"])
            }
        }
        if self.hasPublishers {
            let plain = self.ingest.rtmp.listen.map { "rtmp://\($0)" }
            let secure = self.ingest.rtmps.map { "rtmps://\($0.listen)" }
            let srt = self.ingest.srt.map { "srt://\($0.listen)" }
            let whip = self.ingest.webRTC.map {
                "\($0.listen.url(scheme: $0.tls == nil ? "http" : "https"))/whip/\(self.ingest.rtmp.app)"
            }
            add(
                "ingest",
                [plain, secure].compactMap { $0.map { "\($0)/\(self.ingest.rtmp.app)" } }
                    + [srt, whip].compactMap(\.self))
        }
        add("control", ["\(self.control.listen)\(self.control.token.map { ", token from \($0)" } ?? "")"])
        let width = 9
        return lines.map { line in
            line.title + String(repeating: " ", count: max(1, width - line.title.utf8.count)) + line.text + "\n"
        }.joined()
    }

    private static func line(_ source: Source) -> String {
        let name = source.name.map { " \(JSONNode.string($0).text())" } ?? ""
        let volume = source.volume == 100 ? "" : ", volume \(source.volume)"
        switch source.input {
        case .rtmp(let keys):
            switch keys.first {
            case nil: return "\(source.id)\(name): rtmp, no own stream key\(volume)"
            case .inline: return "\(source.id)\(name): rtmp\(volume)"
            case let key?: return "\(source.id)\(name): rtmp, stream key from \(key)\(volume)"
            }
        case .pull(.inline(let text)):
            return "\(source.id)\(name): rtmp-pull from \(RTMPURL(text)?.redacted ?? "?")\(volume)"
        case .srtPull(.inline(let text)):
            return "\(source.id)\(name): srt-pull from \(SRTURL(text)?.redacted ?? "?")\(volume)"
        case .srtPull(let url): return "\(source.id)\(name): srt-pull, URL from \(url)\(volume)"
        case .pull(let url): return "\(source.id)\(name): rtmp-pull, URL from \(url)\(volume)"
        case .file(let path, let loop): return "\(source.id)\(name): file \(path)\(loop ? ", looped" : "")\(volume)"
        }
    }

    private func line(_ scene: Scene) -> String {
        let panes = scene.resolvedPanes(canvas: self.canvas).map { pane in
            "\(pane.pane.source) \(pane.rect.width)x\(pane.rect.height)+\(pane.rect.x)+\(pane.rect.y)"
        }
        let onAir = scene.sceneID == self.program.scene ? " (first on air)" : ""
        let shown = panes.isEmpty ? "all live users" : panes.joined(separator: ", ")
        return "\(scene.sceneID)\(onAir): \(scene.isAutomatic ? "auto, " : "")\(shown)\(Self.decorations(scene))"
    }

    /// Returns the number of decorations on the scene, by kind, as text; the speaking rings of all panes count as one.
    private static func decorations(_ scene: Scene) -> String {
        let counts = [
            ((scene.bgImages?.count ?? 0) + scene.images.count, "image"), (scene.texts.count, "text"),
            (scene.scoreBars.count, "score bar"), (scene.countdowns.count, "countdown"),
            (scene.speakingRing == nil ? 0 : 1, "speaking ring"),
        ]
        let words = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        let transition = scene.transition.kind == .cut ? [] : [scene.transition.kind.rawValue]
        return (words + transition).map { "; \($0)" }.joined()
    }

    private func line(_ rendition: Rendition) -> String {
        let video = rendition.video
        if rendition.isAudioOnly { return "\(rendition.name): audio only, \(rendition.audio.joined(separator: ", "))" }
        let rate = rendition.fps == self.canvas.fps ? "" : " at \(rendition.fps) fps"
        return
            "\(rendition.name): \(rendition.width)x\(rendition.height)\(rate), \(SpecText.grouped(video.bitrate)) bit/s, "
            + "peak \(SpecText.grouped(video.maxBitrate)), \(video.encoder.rawValue) \(video.preset.rawValue) "
            + "\(video.profile.rawValue)"
    }

    private func gridLines(_ hls: HLSOutput) -> [String] {
        let fps = self.canvas.fps
        func seconds(_ frames: Int) -> String { "\(SpecText.decimal(frames, over: fps)) s" }
        let names = hls.hasWholeWindowPlaylists ? " in the -dvr playlists" : ""
        let window = hls.playlistType == .live ? ", window \(hls.windowSeconds) s\(names)" : ""
        return [
            "part \(hls.partFrames) frames = \(seconds(hls.partFrames)), GOP \(hls.gopFrames) frames = "
                + "\(seconds(hls.gopFrames))",
            "segment \(hls.segmentGops) GOPs = \(hls.segmentFrames) frames = \(seconds(hls.segmentFrames)), "
                + "TARGETDURATION \(hls.targetDuration(fps: fps))\(window)",
        ]
    }
}
