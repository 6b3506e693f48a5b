package import LibAV
import MediaTypes

/// A scene as libavfilter text: a pure function of the scene, the canvas and the formats of the pictures.
package struct SceneGraph: Sendable, Hashable {
    /// The label of the background's input, when the scene needs one.
    package static let background = "bg"
    /// The label of the composed picture.
    package static let output = "out"

    package var text: String
    package var inputs: [FilterGraph.Input]
    /// Whether the first input is the background picture.
    package var needsBackground: Bool

    /// - Parameters:
    ///   - panes: Bottom first, each with the format of the picture it will be fed.
    package init(panes: [(pane: Pane, format: PictureFormat)], canvas: Canvas) {
        let placed = panes.map { PanePlacement($0.pane, $0.format) }
        var inputs = placed.enumerated().map { FilterGraph.Input(label: "p\($0.offset)", format: $0.element.format) }
        let chains = placed.enumerated().map { "[p\($0.offset)]\($0.element.chain)" }
        let background = FilterGraph.Input(
            label: Self.background, format: .canvas(width: canvas.width, height: canvas.height))
        self.needsBackground = !Self.tiles(placed.map(\.rect), canvas)
        if !self.needsBackground, placed.count == 1 {
            self.text = "\(chains[0])[\(Self.output)]"
        } else if !self.needsBackground {
            let layout = placed.map { "\($0.rect.x)_\($0.rect.y)" }.joined(separator: "|")
            let named = chains.enumerated().map { "\($0.element)[s\($0.offset)]" }.joined(separator: ";")
            let stacked = placed.indices.map { "[s\($0)]" }.joined()
            self.text = "\(named);\(stacked)xstack=inputs=\(placed.count):layout=\(layout)[\(Self.output)]"
        } else {
            inputs.insert(background, at: 0)
            var parts = chains.enumerated().map { "\($0.element)[s\($0.offset)]" }
            var below = Self.background
            for (index, pane) in placed.enumerated() {
                let above = index == placed.count - 1 ? Self.output : "o\(index)"
                parts.append("[\(below)][s\(index)]overlay=x=\(pane.rect.x):y=\(pane.rect.y):format=yuv420[\(above)]")
                below = above
            }
            if placed.isEmpty { parts.append("[\(Self.background)]null[\(Self.output)]") }
            self.text = parts.joined(separator: ";")
        }
        self.inputs = inputs
    }

    /// Whether the rectangles cover the canvas exactly, none over another: then nothing of a background shows, and
    /// stacking them is cheaper than laying them over one.
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

/// One pane's way from its picture to its rectangle.
package struct PanePlacement {
    let format: PictureFormat
    /// Where the pane's picture really lies: for `fit`, the inner rectangle.
    let rect: Rect
    /// Filters between the input and the composition, without labels.
    let chain: String

    init(_ pane: Pane, _ format: PictureFormat) {
        self.format = format
        // Width to height as displayed, both multiplied by the sample aspect ratio's denominator.
        let shownWidth = Int(clamping: Int64(format.width) * Int64(format.sarNumerator))
        let shownHeight = Int(clamping: Int64(format.height) * Int64(format.sarDenominator))
        var rect = pane.rect
        var crop: (width: Int, height: Int)?
        switch pane.adaption {
        case .stretch: break
        case .fit: rect = Self.fitted(shownWidth, shownHeight, into: pane.rect)
        case .cropFill: crop = Self.cropSize(format, shownWidth, shownHeight, rect)
        }
        self.rect = rect
        self.chain = Self.chain(format, crop: crop, rect)
    }

    private static func chain(_ format: PictureFormat, crop: (width: Int, height: Int)?, _ rect: Rect) -> String {
        var filters: [String] = []
        var (width, height) = (format.width, format.height)
        if let crop, crop.width < width || crop.height < height {
            (width, height) = crop
            filters.append("crop=\(width):\(height)")
        }
        if width != rect.width || height != rect.height || !format.isCanvasLike {
            var scale = "scale=\(rect.width):\(rect.height):flags=bicubic"
            if !format.isCanvasLike {
                scale += ":in_range=\(format.isFullRange ? "full" : "limited"):out_range=limited"
                if !format.isRGB { scale += ":in_color_matrix=\(format.isBT601 ? "bt601" : "bt709")" }
                scale += ":out_color_matrix=bt709"
            }
            filters.append(scale)
        }
        if format.sarNumerator != format.sarDenominator || !filters.isEmpty { filters.append("setsar=1") }
        if !format.isCanvasLike { filters.append("format=yuv420p") }
        return filters.isEmpty ? "null" : filters.joined(separator: ",")
    }

    /// The largest even rectangle of the picture's shape, centered in `rect` on even samples.
    package static func fitted(_ shownWidth: Int, _ shownHeight: Int, into rect: Rect) -> Rect {
        guard shownWidth > 0, shownHeight > 0 else { return rect }
        let byWidth = TimeMath.scale(Int64(rect.width), by: Int64(shownHeight), over: Int64(shownWidth))
        var (width, height) = (rect.width, Int(byWidth))
        if height > rect.height {
            height = rect.height
            width = Int(TimeMath.scale(Int64(rect.height), by: Int64(shownWidth), over: Int64(shownHeight)))
        }
        width = max(2, min(rect.width, (width + 1) & ~1))
        height = max(2, min(rect.height, (height + 1) & ~1))
        return Rect(
            x: rect.x + ((rect.width - width) / 2 & ~1), y: rect.y + ((rect.height - height) / 2 & ~1), width: width,
            height: height)
    }

    /// The centered part of the picture, in its own samples, that has the rectangle's shape.
    package static func cropSize(_ format: PictureFormat, _ shownWidth: Int, _ shownHeight: Int, _ rect: Rect) -> (
        width: Int, height: Int
    ) {
        guard shownWidth > 0, shownHeight > 0 else { return (format.width, format.height) }
        // Compare shapes by cross products; equal shapes need no crop at all.
        let wide = Int128(shownWidth) * Int128(rect.height)
        let tall = Int128(shownHeight) * Int128(rect.width)
        if wide > tall {
            let width = Int(Int128(format.width) * tall / wide)
            return (max(2, min(format.width, (width + 1) & ~1)), format.height)
        }
        let height = Int(Int128(format.height) * wide / tall)
        return (format.width, max(2, min(format.height, (height + 1) & ~1)))
    }
}
