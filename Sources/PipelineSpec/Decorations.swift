package import MediaTypes

/// A still image from a file on the canvas: a background, a logo or a watermark.
package struct StillImage: Sendable, Hashable {
    /// Path of a local PNG or JPEG file of at most 2 MB, relative to the working directory.
    package var path: String
    /// Rectangle that the image is stretched to: inside the canvas, at least 2 by 2 pixels.
    package var area: Area
    /// Stacking order (0…100): a higher value is drawn on top, and among equal values the later element. Backgrounds
    /// (`bgImages`) are below everything else; their values order only the backgrounds.
    package var zOrder: Int
    /// Opacity in percent (0…100), multiplied with the image's own alpha channel. Default 100.
    package var alpha = 100

    package init(path: String, _ area: Area, zOrder: Int) {
        self.path = path
        self.area = area
        self.zOrder = zOrder
    }
}

/// A line of text on the canvas.
package struct TextLabel: Sendable, Hashable {
    /// Id of the text in the control API: `[A-Za-z0-9_.-]{1,64}`.
    package var textID: String
    /// The text: one line of up to 256 Unicode scalars in any script; an empty text is not drawn.
    package var text = ""
    /// Position of the text's left end, middle or right end, depending on ``align``.
    package var x: Length = 0
    /// Position of the text's top edge.
    package var y: Length = 0
    /// Font size in pixels (8…400). Default 32.
    package var size = 32
    /// Color of the text. Default white.
    package var color = Color(red: 0xff, green: 0xff, blue: 0xff)
    /// Color of the box behind the text; `nil`: no box.
    package var background: Color?
    /// Opacity of the box in percent (0…100). Default 100.
    package var backgroundAlpha = 100
    /// Whether ``x`` is the left end, the middle or the right end of the text. Default ``TextAlign/left``.
    package var align = TextAlign.left
    /// Stacking order (0…100): a higher value is drawn on top. Default 60.
    package var zOrder = 60
    /// Maximum width; a longer text is cut and ends in an ellipsis. `nil`: the space that is left on the canvas.
    package var maxWidth: Length?

    package init(_ textID: String) { self.textID = textID }
}

/// A bar that shows the ratio of two scores.
package struct ScoreBar: Sendable, Hashable {
    /// Id of the bar in the control API: `[A-Za-z0-9_.-]{1,64}`.
    package var scoreID: String
    /// Rectangle of the bar, inside the canvas and at least 2 by 2 pixels.
    package var area: Area
    /// Score of the left side (0…1,000,000,000). Default 0. If both scores are 0, each side gets half of the bar.
    package var left = 0
    /// Score of the right side (0…1,000,000,000). Default 0.
    package var right = 0
    /// Color of the left side. Default `#FF3B6B`.
    package var leftColor = Color(red: 0xff, green: 0x3b, blue: 0x6b)
    /// Color of the right side. Default `#3B8BFF`.
    package var rightColor = Color(red: 0x3b, green: 0x8b, blue: 0xff)
    /// Stacking order (0…100): a higher value is drawn on top. Default 60.
    package var zOrder = 60

    package init(_ scoreID: String, _ area: Area) {
        self.scoreID = scoreID
        self.area = area
    }
}

/// A countdown timer, drawn as `mm:ss`; from 100 minutes on, the minutes have more digits.
package struct Countdown: Sendable, Hashable {
    /// The time that a countdown shows.
    package enum Clock: String, Sendable, CaseIterable {
        /// The countdown starts at ``Countdown/seconds`` each time its scene goes on air.
        case scene
        /// The time left in the current phase of the PK, in every scene; `00:00` if no phase is running or the phase
        /// has no time limit.
        case pk
    }

    /// Id of the countdown in the control API: `[A-Za-z0-9_.-]{1,64}`.
    package var countdownID: String
    /// Which time the countdown shows. Default ``Clock/scene``.
    package var clock = Clock.scene
    /// Start value in seconds each time its scene goes on air (0…86,400); only for ``Clock/scene``. Default 0.
    package var seconds = 0
    /// Position of the left end, middle or right end, depending on ``align``.
    package var x: Length = 0
    /// Position of the top edge.
    package var y: Length = 0
    /// Font size in pixels (8…400). Default 32.
    package var size = 32
    /// Color of the digits. Default white.
    package var color = Color(red: 0xff, green: 0xff, blue: 0xff)
    /// Whether ``x`` is the left end, the middle or the right end. Default ``TextAlign/left``.
    package var align = TextAlign.left
    /// Stacking order (0…100): a higher value is drawn on top. Default 60.
    package var zOrder = 60

    package init(_ countdownID: String) { self.countdownID = countdownID }
}

/// The transition with which a scene goes on air.
package struct Transition: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable { case cut, crossfade, slide }

    /// Kind of transition. Default ``Kind/cut``.
    package var kind = Kind.cut
    /// Duration of a crossfade or slide in milliseconds (100…5,000). Default 500.
    package var durationMs = 500
    /// Direction of a ``Kind/slide``. Default ``SlideDirection/left``.
    package var direction = SlideDirection.left

    package init(_ kind: Kind = .cut) { self.kind = kind }
}
