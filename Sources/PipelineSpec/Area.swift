package import MediaTypes

/// A rectangle on the canvas as written in the pipeline file: in pixels or in percent of the canvas.
package struct Area: Sendable, Hashable {
    /// Left edge.
    package var x: Length
    /// Top edge.
    package var y: Length
    package var width: Length
    package var height: Length

    package init(x: Length, y: Length, width: Length, height: Length) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The whole canvas, regardless of its size.
    package static let whole = Area(x: 0, y: 0, width: .share(Length.whole), height: .share(Length.whole))

    /// Returns the rectangle in pixels; all four numbers are even.
    ///
    /// If a position and its size are both percentages, then the right or bottom edge is rounded in the same way as the
    /// left or top edge of an adjacent pane. Percentages that add up therefore leave no gap: three panes of 33.33 %
    /// touch, and two panes of 50 % cover the whole canvas.
    package func pixels(width canvasWidth: Int, height canvasHeight: Int) -> PixelRect {
        let (left, width) = Self.span(self.x, self.width, canvasWidth)
        let (top, height) = Self.span(self.y, self.height, canvasHeight)
        return PixelRect(x: left, y: top, width: width, height: height)
    }

    private static func span(_ start: Length, _ size: Length, _ length: Int) -> (start: Int, size: Int) {
        let near = start.pixels(of: length)
        if case .share(let from) = start, case .share(let share) = size {
            return (near, Length.share(from + share).pixels(of: length) - near)
        }
        return (near, size.pixels(of: length))
    }
}
