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

    package var source: SourceID
    /// Left edge on the canvas, in pixels, even.
    package var x: Int
    /// Top edge on the canvas, in pixels, even.
    package var y: Int
    /// Pixels, even, at least 2; the pane lies inside the canvas.
    package var width: Int
    /// Pixels, even, at least 2; the pane lies inside the canvas.
    package var height: Int
    /// Higher lies on top (0…100); of equals the later one. Default 0.
    package var zOrder = 0
    /// Default ``Adaption/cropFill``.
    package var adaption = Adaption.cropFill
    /// Whether its picture is shown. Default true.
    package var videoPush = true
    /// Whether its sound is heard. Default true.
    package var audioPush = true
    /// Gain of its sound in this scene, in percent (0…200). `nil`: the source's volume.
    package var volume: Int?

    package init(_ source: SourceID, x: Int, y: Int, width: Int, height: Int, adaption: Adaption = .cropFill) {
        self.source = source
        self.x = x
        self.y = y
        self.width = width
        self.height = height
        self.adaption = adaption
    }
}
