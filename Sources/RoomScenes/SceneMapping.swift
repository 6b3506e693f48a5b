import LibAV
package import MediaTypes
package import PipelineSpec
package import Program

/// Converts scenes of the pipeline to scenes of the program, in which panes have pixel rectangles.
package enum SceneMapping {
    /// Current values of texts, score bars and countdowns by id, which replace those in the scenes.
    package struct Overlays: Sendable {
        package var texts: [String: String] = [:]
        package var scores: [String: (left: Int, right: Int)] = [:]
        /// Ticks at which countdowns end, by countdown id.
        package var ends: [String: Int64] = [:]

        /// Makes overlays that replace no values.
        package init() {}
    }

    /// Converts one scene.
    ///
    /// - Parameters:
    ///   - left: Sources whose panes are hidden. Their audio is still heard: a guest may have only a microphone.
    ///   - live: The users that an automatic layout shows; nil for all users of the scene.
    ///   - transition: The transition to use; nil for that of the scene.
    package static func scene(
        _ scene: PipelineSpec.Scene, in pipeline: Pipeline, without left: Set<SourceID> = [], live: [String]? = nil,
        overlays: Overlays = Overlays(), transition: PipelineSpec.Transition? = nil
    ) -> Program.Scene {
        let visible = live?.filter { !left.contains(SourceID($0)) }
        let seen = scene.without(left).resolvedPanes(canvas: pipeline.canvas, live: visible)
        let heard = left.isEmpty ? [] : scene.resolvedPanes(canvas: pipeline.canvas, live: live)
        let (width, height) = scene.size(on: pipeline.canvas)
        let place = Place(width: width, height: height)
        let color = scene.backgroundColor ?? pipeline.canvas.backgroundColor
        return Program.Scene(
            sceneID: scene.sceneID,
            panes: seen.map { self.pane($0, scene) }
                + heard.filter { left.contains($0.pane.source) }.map { self.pane($0, scene, isSeen: false) },
            background: self.color(color), images: self.images(scene, in: pipeline, place),
            texts: scene.texts.map { self.text($0, overlays, place) },
            bars: scene.scoreBars.map { self.bar($0, overlays, place) },
            countdowns: scene.countdowns.map { self.countdown($0, overlays, place) },
            transition: self.transition(transition ?? scene.transition, fps: pipeline.canvas.fps),
            size: width == pipeline.canvas.width && height == pipeline.canvas.height
                ? nil : CanvasSize(width: width, height: height))
    }

    /// The size of the canvas on which a scene is placed, in pixels.
    private struct Place {
        var width: Int
        var height: Int

        func rect(_ area: Area) -> Rect { area.pixels(width: self.width, height: self.height) }
    }

    // MARK: Panes

    private static func pane(
        _ placed: PlacedPane, _ scene: PipelineSpec.Scene, isSeen: Bool = true
    ) -> Program.Pane {
        let pane = placed.pane
        // The program draws only borders of even width; an odd width is rounded up.
        let border = pane.border.width > 0 ? Border(width: (pane.border.width + 1) / 2 * 2, pane.border.color) : nil
        return Program.Pane(
            source: pane.source, rect: placed.rect, zOrder: pane.zOrder,
            adaption: pane.adaption,
            videoPush: pane.videoPush && isSeen,
            audioPush: pane.audioPush, volume: self.volume(of: pane, in: scene), crop: self.crop(pane.crop),
            border: border, cornerRadius: pane.cornerRadius,
            speakingRing: scene.speakingRing.map {
                Program.SpeakingRing(width: $0.width, color: self.color($0.color))
            })
    }

    private static func crop(_ crop: PipelineSpec.Pane.Crop) -> PictureCrop? {
        guard crop != PipelineSpec.Pane.Crop(), case .share(let x) = crop.area.x, case .share(let y) = crop.area.y,
            case .share(let width) = crop.area.width, case .share(let height) = crop.area.height
        else { return nil }
        return PictureCrop(x: x / 100, y: y / 100, width: width / 100, height: height / 100)
    }

    /// The volume of a pane as a factor: the scene's override for its user, or the pane's own; nil if neither is set.
    private static func volume(of pane: PipelineSpec.Pane, in scene: PipelineSpec.Scene) -> Float? {
        if let override = scene.audioOverrides.first(where: { $0.uid == pane.source.uid }) {
            return Float(override.volume) / 100
        }
        return pane.volume.map { Float($0) / 100 }
    }

    // MARK: Overlays

    /// The images of a scene: first its background images, or else those of the canvas, in their own order. Watermarks
    /// come last, so that they are drawn over images with the same `zOrder`.
    private static func images(_ scene: PipelineSpec.Scene, in pipeline: Pipeline, _ place: Place) -> [SceneImage] {
        let backgrounds = (scene.bgImages ?? pipeline.canvas.bgImages).enumerated()
            .sorted { ($0.element.zOrder, $0.offset) < ($1.element.zOrder, $1.offset) }
            .map { self.image($0.element, zOrder: -1, place) }
        return backgrounds + (scene.images + pipeline.watermarks).map { self.image($0, zOrder: $0.zOrder, place) }
    }

    private static func image(_ image: StillImage, zOrder: Int, _ place: Place) -> SceneImage {
        SceneImage(path: image.path, rect: place.rect(image.area), zOrder: zOrder, alphaPercent: image.alpha)
    }

    private static func text(_ label: TextLabel, _ overlays: Overlays, _ place: Place) -> SceneText {
        SceneText(
            id: label.textID, text: overlays.texts[label.textID] ?? label.text, x: label.x.pixels(of: place.width),
            y: label.y.pixels(of: place.height), size: label.size, color: self.color(label.color),
            background: label.background.map { self.color($0) }, backgroundAlphaPercent: label.backgroundAlpha,
            align: label.align, zOrder: label.zOrder,
            maxWidth: label.maxWidth.map { $0.pixels(of: place.width) })
    }

    private static func bar(_ bar: PipelineSpec.ScoreBar, _ overlays: Overlays, _ place: Place) -> Program.ScoreBar {
        let score = overlays.scores[bar.scoreID] ?? (bar.left, bar.right)
        return Program.ScoreBar(
            id: bar.scoreID, rect: place.rect(bar.area), left: score.left, right: score.right,
            leftColor: self.color(bar.leftColor), rightColor: self.color(bar.rightColor), zOrder: bar.zOrder)
    }

    private static func countdown(
        _ clock: PipelineSpec.Countdown, _ overlays: Overlays, _ place: Place
    ) -> Program.Countdown {
        Program.Countdown(
            id: clock.countdownID, x: clock.x.pixels(of: place.width), y: clock.y.pixels(of: place.height),
            size: clock.size, color: self.color(clock.color),
            align: clock.align, zOrder: clock.zOrder,
            endsAtTick: overlays.ends[clock.countdownID] ?? 0)
    }

    private static func transition(_ transition: PipelineSpec.Transition, fps: Int) -> Program.Transition {
        let ticks = min(300, max(1, (transition.durationMs * fps + 500) / 1000))
        switch transition.kind {
        case .cut: return .cut
        case .crossfade: return .crossfade(ticks: ticks)
        case .slide: return .slide(transition.direction, ticks: ticks)
        }
    }

    // MARK: Values

    fileprivate static func color(_ color: Color) -> CanvasColor {
        CanvasColor(red: color.red, green: color.green, blue: color.blue)
    }
}

extension Border {
    fileprivate init(width: Int, _ color: Color) { self.init(width: width, color: SceneMapping.color(color)) }
}
