package import LibAV
package import MediaTypes
import Synchronization

/// Builds the filter graph of a scene and all its inputs that are not frames of sources, and runs the graph. A build
/// takes milliseconds. Runs on the builder thread; offline, and before the program begins, on the calling thread.
package final class SceneBuilder: Sendable {
    /// Name and image that a pane shows while its source has no frame.
    package struct Face: Sendable {
        package var name: String
        /// Image that is shown instead of the card with the name; `nil`: the card is shown.
        package var placeholder: Picture?
    }

    /// Texts and scores that commands have set, by id; they replace those of the scene.
    package struct Words: Sendable {
        package var texts: [String: String] = [:]
        package var scores: [String: (left: Int, right: Int)] = [:]

        package init() {}
    }

    private struct CardKey: Hashable {
        var source: SourceID
        var visible: Rect
        var format: PictureFormat
    }

    private struct Card: Sendable {
        weak let picture: Picture?
    }

    private struct Cache {
        var faces: [SourceID: Face]
        /// Cards of sources; each is kept as long as a composition uses it.
        var cards: [CardKey: Card] = [:]
        var images: [SceneImage: Picture] = [:]
    }

    package let canvas: Canvas
    package let text: TextRenderer
    package let overlays: OverlayCache
    private let cache: Mutex<Cache>
    /// Maximum number of cached cards. When the cache is full, it is cleared before another card is added.
    private static let cardLimit = 20
    /// Maximum number of cached images. When the cache is full, it is cleared before another image is added: an image of
    /// the canvas's size, with transparency, takes 2.3 MB at 720p.
    private static let imageLimit = 32
    /// What to do if libavfilter rejects the filters of a scene.
    private static let graphFix = "check the scene's rectangles; nothing on air has changed"

    package init(canvas: Canvas, fonts: SceneFonts, faces: [SourceID: Face], overlays: OverlayCache) {
        self.canvas = canvas
        self.text = TextRenderer(fonts: fonts, canvas: canvas)
        self.cache = Mutex(Cache(faces: faces))
        self.overlays = overlays
    }

    var faces: [SourceID: Face] { self.cache.withLock { $0.faces } }

    /// Sets what panes show while a source has no frame; `nil`: the source was removed. Compositions built before do
    /// not change.
    func setFace(_ face: Face?, of source: SourceID) {
        // The placeholder image is freed outside the lock.
        _ = self.cache.withLock { cache -> Face? in
            defer { cache.faces[source] = face }
            cache.cards = cache.cards.filter { $0.key.source != source }
            return cache.faces[source]
        }
    }

    /// One element of a scene.
    private enum Item {
        case pane(Pane)
        case image(SceneImage)
        case bar(ScoreBar)
        case text(SceneText)
        case countdown(Countdown)
    }

    /// All elements of the scene, bottom first.
    private static func pile(_ scene: Scene) -> [Item] {
        var items: [(zOrder: Int, item: Item)] = []
        items += scene.visiblePanes.map { ($0.zOrder, .pane($0)) }
        items += scene.images.map { ($0.zOrder, .image($0)) }
        items += scene.bars.map { ($0.zOrder, .bar($0)) }
        items += scene.texts.map { ($0.zOrder, .text($0)) }
        items += scene.countdowns.map { ($0.zOrder, .countdown($0)) }
        return items.enumerated().sorted { ($0.element.zOrder, $0.offset) < ($1.element.zOrder, $1.offset) }
            .map(\.element.item)
    }

    /// Builds a composition and runs it twice, so that its memory is allocated before it goes on air.
    ///
    /// - Parameters:
    ///   - formats: Format of the source frames for each visible pane, bottom first.
    ///   - words: The texts and scores that commands have set.
    ///   - tick: The current tick, for countdowns.
    /// - Throws: ``MediaError`` if an image cannot be read or libavfilter rejects the graph.
    package func build(
        _ scene: Scene, formats: [PictureFormat], words: Words, tick: Int64
    ) throws(MediaError) -> Composition {
        let canvas = scene.canvas(in: self.canvas)
        let pile = Self.pile(scene)
        // Images at the very bottom never change: they are drawn into the background once.
        var ground: [SceneImage] = []
        for item in pile {
            guard case .image(let image) = item else { break }
            ground.append(image)
        }
        var parts = Composition.Parts(background: try self.background(scene.background, ground, canvas))
        var layers: [SceneGraph.Layer] = []
        let renderer = self.text.on(canvas)
        var rings = PendingRings(panes: scene.visiblePanes)
        for item in pile.dropFirst(ground.count) {
            switch item {
            case .pane(let pane):
                guard parts.panes.count < formats.count else { continue }
                let format = formats[parts.panes.count]
                try self.add(pane, format, to: &parts)
                layers.append(.pane(pane, format))
                for ring in rings.take(after: pane, PanePlacement(pane, format).rect) {
                    let slot = try self.slot(ring)
                    layers.append(try self.add(slot, x: ring.rect.x, y: ring.rect.y, tick, to: &parts))
                }
            case .image(let image):
                let picture = try self.image(image)
                parts.sprites.append(picture)
                layers.append(.sprite(picture.format, x: image.rect.x & ~1, y: image.rect.y & ~1))
            case .bar(let bar):
                let slot = OverlaySlot.bar(bar)
                try self.draw(bar, in: slot, words)
                layers.append(try self.add(slot, x: bar.rect.x, y: bar.rect.y, tick, to: &parts))
            case .text(let text): layers.append(try self.add(text, words, tick, renderer, to: &parts))
            case .countdown(let countdown): layers.append(try self.add(countdown, tick, renderer, to: &parts))
            }
        }
        let text = SceneGraph(layers: layers, canvas: canvas)
        var graph: FilterGraph?
        if !layers.isEmpty, !text.isPicture {
            graph = try FilterGraph.open(
                text.text, inputs: text.inputs, outputs: [SceneGraph.output], fps: self.canvas.fps, place: "compose",
                fix: Self.graphFix)
        }
        let composition = Composition(
            parts, text: text, graph: graph, canvas: .canvas(width: canvas.width, height: canvas.height))
        // The first run allocates the graph's memory and is several times slower than all others.
        for _ in 0..<2 { _ = try composition.compose([], decorations: []) }
        return composition
    }

    private func add(_ pane: Pane, _ format: PictureFormat, to parts: inout Composition.Parts) throws(MediaError) {
        let index = parts.panes.count
        let placed = PanePlacement(pane, format)
        let (width, height) = (placed.rect.width, placed.rect.height)
        parts.panes.append(pane)
        parts.formats.append(format)
        parts.cards.append(try self.card(pane.source, placed))
        if pane.cornerRadius > 0 {
            parts.masks[index] = try Sprite.roundedMask(
                width: width, height: height, inset: 0, radius: pane.cornerRadius
            ).picture()
        }
        if let border = pane.border {
            parts.rings[index] = try Self.outline(border.width, border.color, width, height, pane.cornerRadius)
                .picture()
        }
    }

    /// Draws a line of `line` samples along the inner edge of a pane.
    private static func outline(
        _ line: Int, _ color: CanvasColor, _ width: Int, _ height: Int, _ cornerRadius: Int
    ) -> Sprite {
        var ring = Sprite.roundedMask(width: width, height: height, inset: 0, radius: cornerRadius)
        let hole = Sprite.roundedMask(
            width: width, height: height, inset: line, radius: max(0, cornerRadius - line))
        for sample in ring.coverage.indices {
            ring.coverage[sample] -= min(ring.coverage[sample], hole.coverage[sample])
        }
        var sprite = Sprite(width: width, height: height)
        sprite.draw(ring, x: 0, y: 0, color)
        return sprite
    }

    private func add(
        _ slot: OverlaySlot, x: Int, y: Int, _ tick: Int64, to parts: inout Composition.Parts
    ) throws(MediaError) -> SceneGraph.Layer {
        let present = self.overlays.images([slot], tick: tick, fps: self.canvas.fps).first.flatMap { $0 }
        parts.slots.append((sprite: parts.sprites.count, slot: slot))
        if let present {
            parts.sprites.append(present)
        } else {
            parts.sprites.append(try Sprite(width: slot.width, height: slot.height).picture())
        }
        let format = PictureFormat.sprite(width: slot.width, height: slot.height)
        return .sprite(parts.sprites.last?.format ?? format, x: x & ~1, y: y & ~1)
    }

    private func add(
        _ text: SceneText, _ words: Words, _ tick: Int64, _ renderer: TextRenderer, to parts: inout Composition.Parts
    ) throws(MediaError) -> SceneGraph.Layer {
        var shown = text
        shown.text = words.texts[text.id] ?? text.text
        let layout = try renderer.layout(shown)
        let box = renderer.boxSize(shown, layout)
        let slot = OverlaySlot.text(text, width: box.width, height: box.height)
        if let sprite = TextRenderer.sprite(shown, layout, width: box.width, height: box.height) {
            self.overlays.show(try sprite.picture(), in: slot)
        }
        let origin = TextRenderer.origin(text, boxWidth: box.width)
        return try self.add(slot, x: origin.x, y: origin.y, tick, to: &parts)
    }

    private func add(
        _ countdown: Countdown, _ tick: Int64, _ renderer: TextRenderer, to parts: inout Composition.Parts
    ) throws(MediaError) -> SceneGraph.Layer {
        let text = countdown.asText(seconds: countdown.secondsLeft(at: tick, fps: self.canvas.fps))
        let box = renderer.boxSize(text, try renderer.layout(text))
        let slot = OverlaySlot(kind: .countdown(countdown), width: box.width, height: box.height)
        try self.draw(countdown, in: slot, tick: tick, renderer)
        let origin = TextRenderer.origin(text, boxWidth: box.width)
        return try self.add(slot, x: origin.x, y: origin.y, tick, to: &parts)
    }

    /// Returns the overlay slot of a speaking ring, and draws its images if they are not drawn yet.
    private func slot(_ ring: PendingRings.Ring) throws(MediaError) -> OverlaySlot {
        let (width, height) = (ring.rect.width, ring.rect.height)
        let slot = OverlaySlot(
            kind: .ring(ring.source, ring.style, cornerRadius: ring.cornerRadius), width: width, height: height)
        if !self.overlays.hasRing(slot) {
            // In a very small pane, the ring must not cover the frame.
            let line = min(ring.style.width, max(2, min(width, height) / 4))
            let shown = try Self.outline(line, ring.style.color, width, height, ring.cornerRadius).picture()
            self.overlays.setRing(
                shown: shown, hidden: try Sprite(width: width, height: height).picture(), in: slot)
        }
        return slot
    }

    // MARK: Decorations that change while a scene is on air

    /// Draws a text as the image of an overlay slot.
    ///
    /// - Parameter renderer: Text renderer for the canvas of the scene.
    /// - Returns: `false` if the text does not fit the slot.
    func draw(
        _ text: SceneText, in slot: OverlaySlot, _ renderer: TextRenderer
    ) throws(MediaError) -> Bool {
        let layout = try renderer.layout(text)
        guard let sprite = TextRenderer.sprite(text, layout, width: slot.width, height: slot.height) else {
            return false
        }
        self.overlays.show(try sprite.picture(), in: slot)
        return true
    }

    func draw(_ bar: ScoreBar, in slot: OverlaySlot, _ words: Words) throws(MediaError) {
        var shown = bar
        if let score = words.scores[bar.id] { (shown.left, shown.right) = score }
        self.overlays.show(try shown.sprite().picture(), in: slot)
    }

    /// Draws the countdown's images for the time left at `tick` and for the three following seconds, if they are not
    /// drawn yet.
    func draw(
        _ countdown: Countdown, in slot: OverlaySlot, tick: Int64, _ renderer: TextRenderer
    ) throws(MediaError) {
        let now = countdown.secondsLeft(at: tick, fps: self.canvas.fps)
        for seconds in max(0, now - 3)...now where !self.overlays.has(slot, seconds: seconds) {
            let text = countdown.asText(seconds: seconds)
            let layout = try renderer.layout(text)
            if let sprite = TextRenderer.sprite(text, layout, width: slot.width, height: slot.height) {
                self.overlays.show(try sprite.picture(), in: slot, seconds: seconds)
            }
        }
    }

    // MARK: Images that never change

    private func background(
        _ color: CanvasColor, _ images: [SceneImage], _ canvas: Canvas
    ) throws(MediaError) -> Picture {
        let plain = try PictureCanvas.open(width: canvas.width, height: canvas.height, fill: color).finish()
        if images.isEmpty { return plain }
        var feeds = [plain]
        var layers: [SceneGraph.Layer] = []
        for image in images {
            let picture = try self.image(image)
            feeds.append(picture)
            layers.append(.sprite(picture.format, x: image.rect.x & ~1, y: image.rect.y & ~1))
        }
        let text = SceneGraph(layers: layers, canvas: canvas)
        return try self.once(
            text.text, text.inputs, feeds, output: SceneGraph.output,
            as: .canvas(width: canvas.width, height: canvas.height))
    }

    private func image(_ image: SceneImage) throws(MediaError) -> Picture {
        var key = image
        (key.zOrder, key.rect.x, key.rect.y) = (0, 0, 0)
        if let known = self.cache.withLock({ $0.images[key] }) { return known }
        let file = try Picture.load(path: image.path, place: "image")
        let format = PictureFormat.sprite(width: max(2, image.rect.width & ~1), height: max(2, image.rect.height & ~1))
        var chain = "[i]scale=\(format.width):\(format.height):flags=bicubic:out_range=limited:out_color_matrix=bt709"
        if !file.format.isRGB {
            chain += ":in_range=\(file.format.isFullRange ? "full" : "limited")"
            chain += ":in_color_matrix=\(file.format.isBT601 || file.format.isFullRange ? "bt601" : "bt709")"
        }
        chain += ",format=yuva420p,setsar=1"
        let alpha = max(0, min(100, image.alphaPercent))
        if alpha < 100 { chain += ",lutyuv=a=val*\(alpha)/100" }
        let picture = try self.once(
            chain + "[o]", [FilterGraph.Input(label: "i", format: file.format)], [file], output: "o", as: format)
        self.cache.withLock { cache in
            if cache.images.count >= Self.imageLimit { cache.images.removeAll() }
            cache.images[key] = picture
        }
        return picture
    }

    /// The card that replaces a source's frame, in the source's format, so that the same graph accepts both.
    private func card(_ source: SourceID, _ placed: PanePlacement) throws(MediaError) -> Picture {
        let key = CardKey(source: source, visible: placed.visible, format: placed.format)
        if let known = self.cache.withLock({ $0.cards[key]?.picture }) { return known }
        let face = self.cache.withLock { $0.faces[source] } ?? Face(name: source.description)
        let picture = try PlaceholderCard.draw(
            name: face.name, image: face.placeholder, for: placed.format, visible: placed.visible, text: self.text)
        self.cache.withLock { cache in
            if cache.cards.count >= Self.cardLimit { cache.cards.removeAll() }
            cache.cards[key] = Card(picture: picture)
        }
        return picture
    }

    private func once(
        _ text: String, _ inputs: [FilterGraph.Input], _ feeds: [Picture], output: String, as format: PictureFormat
    ) throws(MediaError) -> Picture {
        let graph = try FilterGraph.open(
            text, inputs: inputs, outputs: [output], fps: self.canvas.fps, place: "scene", fix: Self.graphFix)
        guard let picture = try graph.run(feeds, pts: 0).first else {
            throw MediaError(
                .internal, "the filter graph returned no frame", at: "scene", fix: "report this error with the log")
        }
        return try picture.signalled(as: format)
    }
}
