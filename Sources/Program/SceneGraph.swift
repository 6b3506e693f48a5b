package import LibAV

/// A scene's libavfilter graph description, computed from the elements on the canvas and the formats of the sources'
/// frames alone.
package struct SceneGraph: Sendable, Hashable {
    /// Label of the input for the background, if the graph has it.
    package static let background = "bg"
    /// Label of the graph's output, the composed frame.
    package static let output = "out"

    /// One element on the canvas.
    package enum Layer: Sendable, Hashable {
        /// A pane, with the format of the frames that the graph will receive from its source.
        case pane(Pane, PictureFormat)
        /// A small image with transparency, its top left corner at (`x`, `y`); it may extend beyond the canvas.
        case sprite(PictureFormat, x: Int, y: Int)
    }

    /// What an input of the graph receives. The numbers count panes or sprites from the bottom, starting at 0.
    package enum Role: Sendable, Hashable {
        case background
        case pane(Int)
        /// The alpha mask for the round corners of the pane with this number.
        case mask(Int)
        /// The border of the pane with this number.
        case ring(Int)
        case sprite(Int)
    }

    package var text: String
    package var inputs: [FilterGraph.Input]
    /// What each input receives, in the order of `inputs`.
    package var roles: [Role]
    /// Whether the first input is the background image.
    package var needsBackground: Bool
    /// Whether the canvas is the unchanged frame of its only pane, so that no graph is needed.
    package var isPicture: Bool

    /// Creates the graph description of panes without decorations.
    ///
    /// - Parameters:
    ///   - panes: Bottom first, each with the format of the frames the graph will receive.
    package init(panes: [(pane: Pane, format: PictureFormat)], canvas: Canvas) {
        self.init(layers: panes.map { .pane($0.pane, $0.format) }, canvas: canvas)
    }

    /// Creates the graph description of all elements on the canvas.
    ///
    /// - Parameters:
    ///   - layers: Bottom first.
    package init(layers: [Layer], canvas: Canvas) {
        var writer = SceneGraphWriter()
        for layer in layers { writer.add(layer) }
        self.needsBackground = !Self.canStack(layers, writer.panes, canvas)
        self.text = writer.text(stacked: !self.needsBackground)
        self.isPicture = !self.needsBackground && layers.count == 1 && writer.isUntouched
        self.inputs = writer.inputs
        self.roles = writer.roles
        if self.needsBackground {
            self.inputs.insert(
                FilterGraph.Input(
                    label: Self.background, format: .canvas(width: canvas.width, height: canvas.height)), at: 0)
            self.roles.insert(.background, at: 0)
        }
    }

    /// Whether the panes can be stacked side by side: they fill the canvas, have square corners, and nothing lies below
    /// them.
    private static func canStack(_ layers: [Layer], _ panes: [PanePlacement], _ canvas: Canvas) -> Bool {
        var isAboveSprite = false
        for layer in layers {
            switch layer {
            case .sprite: isAboveSprite = true
            case .pane(let pane, _):
                if isAboveSprite || pane.cornerRadius > 0 { return false }
            }
        }
        return self.tiles(panes.map(\.rect), canvas)
    }

    /// Whether the rectangles cover the canvas exactly, without overlap. Then no background is visible, and stacking
    /// the panes is cheaper than overlaying them on a background.
    package static func tiles(_ rects: [Rect], _ canvas: Canvas) -> Bool {
        guard rects.reduce(0, { $0 + $1.area }) == canvas.width * canvas.height else { return false }
        for (index, rect) in rects.enumerated() {
            guard rect.x >= 0, rect.y >= 0, rect.x + rect.width <= canvas.width, rect.y + rect.height <= canvas.height,
                !rects[..<index].contains(where: { $0.intersects(rect) })
            else { return false }
        }
        return true
    }
}

/// Collects the layers of a scene and writes the graph description.
private struct SceneGraphWriter {
    /// A frame that is overlaid on the previous result.
    private struct Overlay {
        var label: String
        var x: Int
        var y: Int
        var isPane = false
    }

    /// Whether every pane's frame is placed on the canvas unchanged and without a border.
    var isUntouched: Bool { self.panes.count == self.overlays.count && self.panes.allSatisfy(\.isUntouched) }

    private(set) var panes: [PanePlacement] = []
    private(set) var inputs: [FilterGraph.Input] = []
    private(set) var roles: [SceneGraph.Role] = []
    private var sprites = 0
    /// The filter chain of each pane, from its input to its placed frame.
    private var chains: [String] = []
    private var overlays: [Overlay] = []

    private mutating func input(_ label: String, _ role: SceneGraph.Role, _ format: PictureFormat) {
        self.inputs.append(FilterGraph.Input(label: label, format: format))
        self.roles.append(role)
    }

    mutating func add(_ layer: SceneGraph.Layer) {
        switch layer {
        case .pane(let pane, let format): self.add(pane, format)
        case .sprite(let format, let x, let y):
            self.input("d\(self.sprites)", .sprite(self.sprites), format)
            self.overlays.append(Overlay(label: "d\(self.sprites)", x: x, y: y))
            self.sprites += 1
        }
    }

    private mutating func add(_ pane: Pane, _ format: PictureFormat) {
        let index = self.panes.count
        let placed = PanePlacement(pane, format)
        let rect = placed.rect
        self.panes.append(placed)
        self.input("p\(index)", .pane(index), format)
        if pane.cornerRadius > 0 {
            self.input("m\(index)", .mask(index), .mask(width: rect.width, height: rect.height))
            self.chains.append("[p\(index)]\(placed.chain)[c\(index)];[c\(index)][m\(index)]alphamerge[s\(index)]")
        } else {
            self.chains.append("[p\(index)]\(placed.chain)[s\(index)]")
        }
        self.overlays.append(Overlay(label: "s\(index)", x: rect.x, y: rect.y, isPane: true))
        if pane.border != nil {
            self.input("r\(index)", .ring(index), .sprite(width: rect.width, height: rect.height))
            self.overlays.append(Overlay(label: "r\(index)", x: rect.x, y: rect.y))
        }
    }

    func text(stacked: Bool) -> String {
        var parts = self.chains
        var above = self.overlays
        var below = SceneGraph.background
        if stacked {
            above.removeAll(where: \.isPane)
            let target = above.isEmpty ? SceneGraph.output : "base"
            below = "base"
            if self.panes.count == 1 {
                parts = ["[p0]\(self.panes[0].chain)[\(target)]"]
            } else {
                let layout = self.panes.map { "\($0.rect.x)_\($0.rect.y)" }.joined(separator: "|")
                let stack = self.panes.indices.map { "[s\($0)]" }.joined()
                parts.append("\(stack)xstack=inputs=\(self.panes.count):layout=\(layout)[\(target)]")
            }
            if above.isEmpty { return parts.joined(separator: ";") }
        }
        for (index, overlay) in above.enumerated() {
            let result = index == above.count - 1 ? SceneGraph.output : "o\(index)"
            parts.append("[\(below)][\(overlay.label)]overlay=x=\(overlay.x):y=\(overlay.y):format=yuv420[\(result)]")
            below = result
        }
        if above.isEmpty { parts.append("[\(SceneGraph.background)]null[\(SceneGraph.output)]") }
        return parts.joined(separator: ";")
    }
}
