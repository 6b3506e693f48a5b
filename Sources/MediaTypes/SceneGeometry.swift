/// A rectangle on the canvas or in a source's frame, in pixels. On the canvas all four numbers are even, so that chroma
/// stays aligned.
package struct PixelRect: Sendable, Hashable {
    /// Position of the left edge, in pixels from the left edge of the canvas or frame.
    package var x: Int
    /// Position of the top edge, in pixels from the top edge of the canvas or frame.
    package var y: Int
    package var width: Int
    package var height: Int

    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// Width and height of a canvas in pixels; even.
package struct CanvasSize: Sendable, Hashable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// How video with another aspect ratio is scaled into a rectangle.
package enum Adaption: String, Sendable, CaseIterable {
    /// The whole video is shown, centered; the rest of the rectangle shows what lies below it.
    case fit
    /// The video fills the rectangle; what exceeds it is cut equally on both sides.
    case cropFill
    /// The video fills the rectangle without keeping its aspect ratio.
    case stretch
}

/// The point of a text that is placed at its `x` coordinate.
package enum TextAlign: String, Sendable, CaseIterable {
    /// `x` is the left end of the text.
    case left
    /// `x` is the middle of the text.
    case center
    /// `x` is the right end of the text.
    case right
}

/// The direction in which the new scene pushes the old scene out in a slide transition.
package enum SlideDirection: String, Sendable, CaseIterable { case left, right, up, down }
