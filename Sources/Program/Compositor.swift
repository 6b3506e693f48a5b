package import LibAV
package import MediaTypes

/// Composes one picture per tick from the pictures of a scene's panes. Used by one thread at a time.
package final class Compositor {
    private let canvas: Canvas
    private var built: (key: Key, graph: FilterGraph)?
    private var background: (color: CanvasColor, picture: Picture)?

    private struct Key: Equatable {
        var panes: [Pane]
        var formats: [PictureFormat]
    }

    package init(canvas: Canvas) { self.canvas = canvas }

    /// - Parameters:
    ///   - panes: The visible panes, bottom first.
    ///   - pictures: One for each of them.
    /// - Throws: ``MediaError`` from libavfilter; the canvas of the tick before can be shown again.
    package func compose(
        background color: CanvasColor, panes: [Pane], pictures: [Picture], tick: Int64
    ) throws(MediaError) -> Picture {
        let backdrop = try self.backdrop(color)
        if panes.isEmpty { return backdrop }
        let key = Key(panes: panes, formats: pictures.map(\.format))
        let graph: FilterGraph
        if let built = self.built, built.key == key {
            graph = built.graph
        } else {
            graph = try self.build(key)
            self.built = (key, graph)
        }
        let feeds = graph.inputs.first?.label == SceneGraph.background ? [backdrop] + pictures : pictures
        guard let composed = try graph.run(feeds, pts: tick).first else {
            throw MediaError(.internal, "the scene graph has no output", at: "compose", fix: "report this")
        }
        return composed
    }

    private func build(_ key: Key) throws(MediaError) -> FilterGraph {
        let text = SceneGraph(
            panes: Array(zip(key.panes, key.formats)).map { (pane: $0.0, format: $0.1) }, canvas: self.canvas)
        return try FilterGraph.open(
            text.text, inputs: text.inputs, outputs: [SceneGraph.output], fps: self.canvas.fps, place: "compose")
    }

    private func backdrop(_ color: CanvasColor) throws(MediaError) -> Picture {
        if let background = self.background, background.color == color { return background.picture }
        let picture = try PictureCanvas.open(width: self.canvas.width, height: self.canvas.height, fill: color).finish()
        self.background = (color, picture)
        return picture
    }
}
