package import MediaTypes

/// The rectangle of one source on the canvas, and what is taken from it.
package struct Pane: Sendable, Hashable {
    /// How a picture of another shape is brought into the rectangle.
    package enum Adaption: String, Sendable, CaseIterable {
        /// All of the picture, the rest in background color.
        case fit
        /// The whole rectangle, what hangs over is cut equally on both sides.
        case cropFill
        /// The whole rectangle, the picture's shape is given up.
        case stretch
    }

    /// The part of a picture that is shown.
    package struct Crop: Sendable, Hashable {
        /// Shares of the picture (``Length/share(_:)``); inside it, and not empty. Default all of it.
        package var area = Area(x: .share(0), y: .share(0), width: .share(Length.whole), height: .share(Length.whole))

        package init() {}
    }

    /// A frame inside the edges of a pane.
    package struct Border: Sendable, Hashable {
        /// Pixels (0…64). Default 0: none.
        package var width = 0
        /// Default white.
        package var color = Color(red: 0xff, green: 0xff, blue: 0xff)

        package init(width: Int = 0, color: Color = Color(red: 0xff, green: 0xff, blue: 0xff)) {
            self.width = width
            self.color = color
        }
    }

    package var source: SourceID
    /// Inside the canvas and at least 2 by 2 pixels.
    package var area: Area
    /// Higher lies on top (0…100); of equals the later one. Default 0.
    package var zOrder = 0
    /// Default ``Adaption/cropFill``.
    package var adaption = Adaption.cropFill
    /// What is shown of its picture, before ``adaption``. Default all of it.
    package var crop = Crop()
    /// Default none.
    package var border = Border()
    /// Radius of its corners in pixels (0…960). Default 0: square.
    package var cornerRadius = 0
    /// Whether its picture is shown. Default true.
    package var videoPush = true
    /// Whether its sound is heard. Default true.
    package var audioPush = true
    /// Gain of its sound in this scene, in percent (0…200). `nil`: the source's volume.
    package var volume: Int?

    package init(_ source: SourceID, _ area: Area, adaption: Adaption = .cropFill) {
        self.source = source
        self.area = area
        self.adaption = adaption
    }

    package init(_ source: SourceID, x: Int, y: Int, width: Int, height: Int, adaption: Adaption = .cropFill) {
        let area = Area(x: .pixels(x), y: .pixels(y), width: .pixels(width), height: .pixels(height))
        self.init(source, area, adaption: adaption)
    }
}

/// A pane whose place on a canvas is known.
package struct PlacedPane: Sendable, Hashable {
    package var pane: Pane
    package var rect: PixelRect

    package init(_ pane: Pane, _ rect: PixelRect) {
        self.pane = pane
        self.rect = rect
    }
}
