package import LibAV

/// A part of a picture, in ten-thousandths of its width and height, so that it means the same at every size.
package struct PictureCrop: Sendable, Hashable {
    /// 0…9999 each.
    package var x: Int
    package var y: Int
    /// 1…10,000 each; the part lies inside the picture.
    package var width: Int
    package var height: Int

    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// A frame around a pane, drawn inside its rectangle.
package struct Border: Sendable, Hashable {
    /// Samples, even, 2…64.
    package var width: Int
    package var color: CanvasColor

    package init(width: Int, color: CanvasColor) {
        self.width = width
        self.color = color
    }
}

/// Where a text stands to its x: it begins, is centered, or ends there.
package enum TextAlign: String, Sendable, Hashable {
    case left
    case center
    case right
}

/// A still picture of a file, with its transparency: a background, a logo, a watermark.
package struct SceneImage: Sendable, Hashable {
    /// PNG or JPEG.
    package var path: String
    /// The image is stretched to it; it may hang over the canvas.
    package var rect: Rect
    /// 0…100 as everything's; −1 lies under all of it: a background.
    package var zOrder: Int
    /// 0…100, times the image's own.
    package var alphaPercent: Int

    package init(path: String, rect: Rect, zOrder: Int = 0, alphaPercent: Int = 100) {
        self.path = path
        self.rect = rect
        self.zOrder = zOrder
        self.alphaPercent = alphaPercent
    }
}

/// A text on the canvas. Any characters; a newline begins a line; what has no glyph is shown as a box.
package struct SceneText: Sendable, Hashable {
    /// What ``ProgramStage/setText(_:_:)`` calls it.
    package var id: String
    package var text: String
    /// Samples: the top of the first line, and by ``align`` its left end, middle or right end.
    package var x: Int
    package var y: Int
    /// Height of the letters in samples (em), 8…400.
    package var size: Int
    package var color: CanvasColor
    /// A box behind the text.
    package var background: CanvasColor?
    /// 0…100.
    package var backgroundAlphaPercent: Int
    package var align: TextAlign
    package var zOrder: Int
    /// Samples; what is longer ends in an ellipsis. `nil`: up to the edge of the canvas.
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

/// Two scores as the shares of a bar; 0 to 0 is half and half.
package struct ScoreBar: Sendable, Hashable {
    /// What ``ProgramStage/setScore(_:left:right:)`` calls it.
    package var id: String
    package var rect: Rect
    /// Points, 0 or more.
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

/// The time left until a tick, as `mm:ss`, rounded up; `00:00` from then on.
package struct Countdown: Sendable, Hashable {
    package var id: String
    /// As ``SceneText``'s.
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

/// The direction a new scene comes from, over the old one.
package enum SlideDirection: String, Sendable, Hashable {
    /// The new picture pushes the old one out to the left, and so on.
    case left
    case right
    case up
    case down
}

/// How one scene gives way to the next. Ticks are pictures of the program, 1…300; both scenes are composed meanwhile.
package enum Transition: Sendable, Hashable {
    case cut
    case crossfade(ticks: Int)
    case slide(SlideDirection, ticks: Int)
}
