package import MediaTypes
package import LibAV

/// A part of a frame, in ten-thousandths of the frame's width and height, so that it does not depend on the frame's
/// size.
package struct PictureCrop: Sendable, Hashable {
    /// Top left corner, 0…9999 in each direction.
    package var x: Int
    package var y: Int
    /// Size, 1…10,000 in each direction; the part lies inside the frame.
    package var width: Int
    package var height: Int

    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// A border around a pane, drawn inside its rectangle.
package struct Border: Sendable, Hashable {
    /// Width of the border in samples, even, 2…64.
    package var width: Int
    package var color: CanvasColor

    package init(width: Int, color: CanvasColor) {
        self.width = width
        self.color = color
    }
}

/// A ring around a pane while its source speaks, drawn inside its rectangle.
package struct SpeakingRing: Sendable, Hashable {
    /// Width of the ring in samples, 1…64; in a small pane limited to a quarter of its shorter side, but not to less
    /// than 2.
    package var width: Int
    package var color: CanvasColor

    package init(width: Int, color: CanvasColor) {
        self.width = width
        self.color = color
    }
}

/// A still image from a file, with its transparency, for example a background, a logo or a watermark.
package struct SceneImage: Sendable, Hashable {
    /// Path of a PNG or JPEG file.
    package var path: String
    /// The image is scaled to this rectangle without keeping its aspect ratio. The rectangle may extend beyond the
    /// canvas.
    package var rect: Rect
    /// Position in the z-order, 0…100 as for all other elements; −1 for a background, which lies below all of them.
    package var zOrder: Int
    /// Opacity in percent, 0…100; multiplied with the image's own opacity.
    package var alphaPercent: Int

    package init(path: String, rect: Rect, zOrder: Int = 0, alphaPercent: Int = 100) {
        self.path = path
        self.rect = rect
        self.zOrder = zOrder
        self.alphaPercent = alphaPercent
    }
}

/// A text on the canvas. Any characters are accepted; a newline starts a new line; a character without a glyph is shown
/// as a box.
package struct SceneText: Sendable, Hashable {
    /// Name used by ``ProgramStage/setText(_:_:)``.
    package var id: String
    package var text: String
    /// Position of each line's left end, middle or right end, as ``align`` says, in samples from the left.
    package var x: Int
    /// Position of the top of the first line, in samples from the top.
    package var y: Int
    /// Font size (em) in samples, 8…400.
    package var size: Int
    package var color: CanvasColor
    /// Color of a box behind the text; `nil`: no box.
    package var background: CanvasColor?
    /// Opacity of the box behind the text in percent, 0…100.
    package var backgroundAlphaPercent: Int
    package var align: TextAlign
    package var zOrder: Int
    /// Maximum width in samples, within the canvas; longer lines end in an ellipsis. `nil`: up to the edge of the
    /// canvas.
    package var maxWidth: Int?

    package init(
        id: String, text: String, x: Int, y: Int, size: Int, color: CanvasColor, background: CanvasColor? = nil,
        backgroundAlphaPercent: Int = 100, align: TextAlign = .left, zOrder: Int = 0, maxWidth: Int? = nil
    ) {
        self.id = id
        self.text = text
        self.x = x
        self.y = y
        self.size = size
        self.color = color
        self.background = background
        self.backgroundAlphaPercent = backgroundAlphaPercent
        self.align = align
        self.zOrder = zOrder
        self.maxWidth = maxWidth
    }
}

/// A bar that shows two scores as shares of its width; 0 to 0 is shown as half and half.
package struct ScoreBar: Sendable, Hashable {
    /// Name used by ``ProgramStage/setScore(_:left:right:)``.
    package var id: String
    package var rect: Rect
    /// Scores of the left and the right side, 0 or more.
    package var left: Int
    package var right: Int
    package var leftColor: CanvasColor
    package var rightColor: CanvasColor
    package var zOrder: Int

    package init(
        id: String, rect: Rect, left: Int = 0, right: Int = 0, leftColor: CanvasColor, rightColor: CanvasColor,
        zOrder: Int = 0
    ) {
        self.id = id
        self.rect = rect
        self.left = left
        self.right = right
        self.leftColor = leftColor
        self.rightColor = rightColor
        self.zOrder = zOrder
    }
}

/// A text that shows the time left until a tick as `mm:ss`, rounded up; `00:00` from that tick on.
package struct Countdown: Sendable, Hashable {
    package var id: String
    /// Position in samples, with the same meaning as in ``SceneText``.
    package var x: Int
    package var y: Int
    package var size: Int
    package var color: CanvasColor
    package var align: TextAlign
    package var zOrder: Int
    package var endsAtTick: Int64

    package init(
        id: String, x: Int, y: Int, size: Int, color: CanvasColor, align: TextAlign = .left, zOrder: Int = 0,
        endsAtTick: Int64
    ) {
        self.id = id
        self.x = x
        self.y = y
        self.size = size
        self.color = color
        self.align = align
        self.zOrder = zOrder
        self.endsAtTick = endsAtTick
    }
}

/// Transition from the previous scene to a new one. Durations are in ticks (frames of the program), 1…300; both scenes
/// are composed during the transition.
package enum Transition: Sendable, Hashable {
    case cut
    case crossfade(ticks: Int)
    case slide(SlideDirection, ticks: Int)
}
