/// A picture of a file on the canvas: a background, a logo, a watermark.
package struct StillImage: Sendable, Hashable {
    /// PNG or JPEG of this machine, at most 2 MB, relative to the working directory.
    package var path: String
    /// The image is stretched to it. Inside the canvas and at least 2 by 2 pixels.
    package var area: Area
    /// Higher lies on top (0…100); of equals the later one.
    package var zOrder: Int
    /// Opacity in per cent (0…100), times the image's own. Default 100.
    package var alpha = 100

    package init(path: String, _ area: Area, zOrder: Int) {
        self.path = path
        self.area = area
        self.zOrder = zOrder
    }
}

/// Where a text stands to its x.
package enum TextAlign: String, Sendable, CaseIterable {
    /// It begins there.
    case left
    /// Its middle is there.
    case center
    /// It ends there.
    case right
}

/// A line of text on the canvas.
package struct TextLabel: Sendable, Hashable {
    /// `[A-Za-z0-9_.-]{1,64}`; how the control API calls it.
    package var textID: String
    /// Up to 256 characters, any script; empty shows nothing.
    package var text = ""
    /// Where ``align`` says it begins, has its middle or ends.
    package var x: Length = 0
    /// Its top edge.
    package var y: Length = 0
    /// Height of the letters in pixels (8…400). Default 32.
    package var size = 32
    /// Default white.
    package var color = Color(red: 0xff, green: 0xff, blue: 0xff)
    /// Color of the box behind it. `nil`: none.
    package var background: Color?
    /// Opacity of the box in per cent (0…100). Default 100.
    package var backgroundAlpha = 100
    /// Default ``TextAlign/left``.
    package var align = TextAlign.left
    /// Higher lies on top (0…100). Default 60.
    package var zOrder = 60
    /// What is longer ends in an ellipsis. `nil`: as long as the canvas has room.
    package var maxWidth: Length?

    package init(_ textID: String) { self.textID = textID }
}

/// Two scores as the shares of a bar.
package struct ScoreBar: Sendable, Hashable {
    /// `[A-Za-z0-9_.-]{1,64}`; how the control API calls it.
    package var scoreID: String
    /// Inside the canvas and at least 2 by 2 pixels.
    package var area: Area
    /// Points (0…1,000,000,000). Default 0; 0 to 0 is half and half.
    package var left = 0
    package var right = 0
    /// Default `#FF3B6B`.
    package var leftColor = Color(red: 0xff, green: 0x3b, blue: 0x6b)
    /// Default `#3B8BFF`.
    package var rightColor = Color(red: 0x3b, green: 0x8b, blue: 0xff)
    /// Higher lies on top (0…100). Default 60.
    package var zOrder = 60

    package init(_ scoreID: String, _ area: Area) {
        self.scoreID = scoreID
        self.area = area
    }
}

/// A clock that runs down, as `mm:ss`.
package struct Countdown: Sendable, Hashable {
    /// Whose time a countdown shows.
    package enum Clock: String, Sendable, CaseIterable {
        /// Its scene's: it begins with ``Countdown/seconds`` each time the scene goes on air.
        case scene
        /// The PK's: what is left of the running phase, in every scene; `00:00` if none runs or the phase has no end.
        case pk
    }

    /// `[A-Za-z0-9_.-]{1,64}`; how the control API calls it.
    package var countdownID: String
    /// Default ``Clock/scene``.
    package var clock = Clock.scene
    /// Seconds it begins with, each time its scene goes on air (0…86,400); of ``Clock/scene`` only. Default 0.
    package var seconds = 0
    /// As a ``TextLabel``'s.
    package var x: Length = 0
    package var y: Length = 0
    package var size = 32
    package var color = Color(red: 0xff, green: 0xff, blue: 0xff)
    package var align = TextAlign.left
    /// Higher lies on top (0…100). Default 60.
    package var zOrder = 60

    package init(_ countdownID: String) { self.countdownID = countdownID }
}

/// How a scene comes on air.
package struct Transition: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable { case cut, crossfade, slide }

    /// Where the new picture pushes the old one.
    package enum Direction: String, Sendable, CaseIterable { case left, right, up, down }

    /// Default ``Kind/cut``.
    package var kind = Kind.cut
    /// Milliseconds (100…5,000). Default 500.
    package var durationMs = 500
    /// Of a ``Kind/slide``. Default ``Direction/left``.
    package var direction = Direction.left

    package init(_ kind: Kind = .cut) { self.kind = kind }
}
