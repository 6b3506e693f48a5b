package import LibAV
package import MediaTypes

package typealias Rect = PixelRect

extension PixelRect {
    var area: Int { self.width * self.height }

    func intersects(_ other: Rect) -> Bool {
        self.x < other.x + other.width && other.x < self.x + self.width
            && self.y < other.y + other.height && other.y < self.y + self.height
    }
}

/// A rectangle of a scene that shows a source, and the source's share of the audio.
package struct Pane: Sendable, Hashable {
    package var source: SourceID
    package var rect: Rect
    /// Position in the z-order: higher values lie on top; panes with equal values keep the order of the list.
    package var zOrder: Int
    package var adaption: Adaption
    package var videoPush: Bool
    package var audioPush: Bool
    /// Volume of the source in this scene, 0…2; 1 is unchanged. `nil` uses the source's own volume.
    package var volume: Float?
    /// The part of the source's frame to show; `nil`: the whole frame.
    package var crop: PictureCrop?
    /// Border, drawn inside the rectangle, over the edge of the frame; `nil`: no border.
    package var border: Border?
    /// Radius of the rectangle's corners, in samples; 0 leaves them square.
    package var cornerRadius: Int
    /// Ring that is drawn over the edge of the frame while the source speaks; `nil`: no ring.
    package var speakingRing: SpeakingRing?

    package init(
        source: SourceID, rect: Rect, zOrder: Int = 0, adaption: Adaption = .cropFill, videoPush: Bool = true,
        audioPush: Bool = true, volume: Float? = nil, crop: PictureCrop? = nil, border: Border? = nil,
        cornerRadius: Int = 0, speakingRing: SpeakingRing? = nil
    ) {
        self.source = source
        self.rect = rect
        self.zOrder = zOrder
        self.adaption = adaption
        self.videoPush = videoPush
        self.audioPush = audioPush
        self.volume = volume
        self.crop = crop
        self.border = border
        self.cornerRadius = cornerRadius
        self.speakingRing = speakingRing
    }
}

/// A layout of sources with its decorations and its audio.
///
/// Panes, images, bars, texts and countdowns share one z-order, 0…100, higher values on top. For equal values, the kind
/// decides, in that order from bottom to top, then the position in the list.
package struct Scene: Sendable, Hashable {
    package var sceneID: String
    package var panes: [Pane]
    package var background: CanvasColor
    /// Size of the canvas while the scene is on air, in samples, even; `nil`: the room's canvas size.
    package var size: CanvasSize?
    package var images: [SceneImage]
    package var texts: [SceneText]
    package var bars: [ScoreBar]
    package var countdowns: [Countdown]
    /// Transition with which the scene comes on air.
    package var transition: Transition

    package init(
        sceneID: String, panes: [Pane], background: CanvasColor, images: [SceneImage] = [], texts: [SceneText] = [],
        bars: [ScoreBar] = [], countdowns: [Countdown] = [], transition: Transition = .cut, size: CanvasSize? = nil
    ) {
        self.sceneID = sceneID
        self.panes = panes
        self.background = background
        self.images = images
        self.texts = texts
        self.bars = bars
        self.countdowns = countdowns
        self.transition = transition
        self.size = size
    }

    /// Returns the canvas on which the scene is composed: the scene's own size, or else that of the room's canvas.
    package func canvas(in room: Canvas) -> Canvas {
        Canvas(width: self.size?.width ?? room.width, height: self.size?.height ?? room.height, fps: room.fps)
    }

    /// The panes that show video, bottom first.
    package var visiblePanes: [Pane] {
        self.panes.enumerated().filter { $0.element.videoPush }
            .sorted { ($0.element.zOrder, $0.offset) < ($1.element.zOrder, $1.offset) }
            .map(\.element)
    }
}

/// Size and frame rate of the composed frame, before it is scaled for the renditions.
package struct Canvas: Sendable, Hashable {
    package var width: Int
    package var height: Int
    /// Frames per second, an integer.
    package var fps: Int

    package init(width: Int, height: Int, fps: Int) {
        self.width = width
        self.height = height
        self.fps = fps
    }
}
