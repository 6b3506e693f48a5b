package import LibAV
import MediaTypes

/// Position, crop and filters that bring a source's frame into its pane's rectangle.
package struct PanePlacement {
    let format: PictureFormat
    /// The rectangle that the frame covers: for `fit`, the inner rectangle.
    package let rect: Rect
    /// The visible part of the source's frame, in its own samples.
    package let visible: Rect
    /// libavfilter chain from the source's frame to the placed frame, without link labels.
    let chain: String

    /// Whether the frame needs no filter.
    var isUntouched: Bool { self.chain == Self.untouched }
    private static let untouched = "null"

    init(_ pane: Pane, _ format: PictureFormat) {
        self.format = format
        let part = Self.part(of: format, pane.crop)
        // Width to height as displayed, both multiplied by the sample aspect ratio's denominator.
        let shownWidth = Int(clamping: Int64(part.width) * Int64(format.sarNumerator))
        let shownHeight = Int(clamping: Int64(part.height) * Int64(format.sarDenominator))
        var rect = pane.rect
        var visible = part
        switch pane.adaption {
        case .stretch: break
        case .fit: rect = Self.fitted(shownWidth, shownHeight, into: pane.rect)
        case .cropFill:
            var inner = format
            (inner.width, inner.height) = (part.width, part.height)
            let crop = Self.cropSize(inner, shownWidth, shownHeight, rect)
            visible = Rect(
                x: part.x + ((part.width - crop.width) / 2 & ~1), y: part.y + ((part.height - crop.height) / 2 & ~1),
                width: crop.width, height: crop.height)
        }
        self.rect = rect
        self.visible = visible
        self.chain = Self.chain(format, visible, isCentered: pane.crop == nil, rect)
    }

    /// The whole frame, or the part given by `crop`, on even samples and at least 2 by 2.
    private static func part(of format: PictureFormat, _ crop: PictureCrop?) -> Rect {
        let whole = Rect(x: 0, y: 0, width: format.width, height: format.height)
        guard let crop, format.width >= 2, format.height >= 2 else { return whole }
        func span(_ start: Int, _ length: Int, of size: Int) -> (Int, Int) {
            let first = min(size - 2, max(0, min(10_000, start)) * size / 10_000) & ~1
            return (first, max(2, min(size - first, (max(1, min(10_000, length)) * size / 10_000 + 1) & ~1)))
        }
        let (x, width) = span(crop.x, crop.width, of: format.width)
        let (y, height) = span(crop.y, crop.height, of: format.height)
        return Rect(x: x, y: y, width: width, height: height)
    }

    private static func chain(_ format: PictureFormat, _ visible: Rect, isCentered: Bool, _ rect: Rect) -> String {
        var filters: [String] = []
        let (width, height) = (visible.width, visible.height)
        if width < format.width || height < format.height {
            // Without a position, `crop` centers.
            filters.append("crop=\(width):\(height)" + (isCentered ? "" : ":\(visible.x):\(visible.y)"))
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
        return filters.isEmpty ? Self.untouched : filters.joined(separator: ",")
    }

    /// Returns the largest rectangle of even size, at least 2 by 2, with about the frame's aspect ratio, centered in
    /// `rect` on even samples.
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

    /// Returns the size of the largest part of the frame, in its own samples, that has about the rectangle's aspect
    /// ratio; a side that is shortened is even.
    package static func cropSize(_ format: PictureFormat, _ shownWidth: Int, _ shownHeight: Int, _ rect: Rect) -> (
        width: Int, height: Int
    ) {
        guard shownWidth > 0, shownHeight > 0 else { return (format.width, format.height) }
        // Compare aspect ratios by cross products; equal ratios need no crop.
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
