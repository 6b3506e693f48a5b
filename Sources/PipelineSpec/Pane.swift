package import MediaTypes

/// The rectangle of one source on the canvas, with settings for the source's video and audio in the scene.
package struct Pane: Sendable, Hashable {
    /// The part of a source's video that is shown.
    package struct Crop: Sendable, Hashable {
        /// The part in percent of the video (``Length/share(_:)``), inside the video and not empty. Default the whole
        /// video.
        package var area = Area(x: .share(0), y: .share(0), width: .share(Length.whole), height: .share(Length.whole))

        package init() {}
    }

    /// A border inside the edges of a pane.
    package struct Border: Sendable, Hashable {
        /// Width in pixels (0…64); an odd width is drawn one pixel wider. Default 0: no border.
        package var width = 0
        /// Color of the border. Default white.
        package var color = Color(red: 0xff, green: 0xff, blue: 0xff)

        package init(width: Int = 0, color: Color = Color(red: 0xff, green: 0xff, blue: 0xff)) {
            self.width = width
            self.color = color
        }
    }

    package var source: SourceID
    /// Rectangle of the pane, inside the canvas and at least 2 by 2 pixels.
    package var area: Area
    /// Stacking order (0…100): a higher value is drawn on top, and among equal values the later element. Default 0.
    package var zOrder = 0
    /// How video with another aspect ratio is scaled. Default ``Adaption/cropFill``.
    package var adaption = Adaption.cropFill
    /// The part of the source's video that is shown; applied before ``adaption``. Default the whole video.
    package var crop = Crop()
    /// Border inside the pane's edges. Default none.
    package var border = Border()
    /// Corner radius in pixels (0…960). Default 0: square corners.
    package var cornerRadius = 0
    /// Whether the source's video is shown. Default true.
    package var videoPush = true
    /// Whether the source's audio is mixed into the program. Default true.
    package var audioPush = true
    /// Gain of the source's audio in this scene, in percent (0…200); the scene's ``Scene/audioOverrides`` have
    /// precedence. `nil`: the source's volume.
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

/// A pane with its rectangle in pixels on a canvas of known size.
package struct PlacedPane: Sendable, Hashable {
    package var pane: Pane
    package var rect: PixelRect

    package init(_ pane: Pane, _ rect: PixelRect) {
        self.pane = pane
        self.rect = rect
    }
}
