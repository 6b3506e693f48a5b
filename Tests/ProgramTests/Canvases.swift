import LibAV
import MediaTypes
import Program

/// Frames of one color, and the colors at positions of a composed canvas.
enum Canvases {
    static let canvas = Canvas(width: 640, height: 360, fps: 30)
    /// Nine colors that differ in every plane.
    static let colors: [CanvasColor] = (UInt8(0)..<9).map { index in
        CanvasColor(y: 40 + 20 * index, cb: 90 + 8 * index, cr: 160 - 8 * index)
    }

    static func solid(_ color: CanvasColor, width: Int = 640, height: Int = 360) throws -> Picture {
        try PictureCanvas.open(width: width, height: height, fill: color).finish()
    }

    static func source(_ index: Int) -> SourceID { SourceID(uid: "\(index)") }

    /// The color at a position; chroma from the sample's group of four.
    static func color(_ picture: Picture, x: Int, y: Int) -> CanvasColor {
        func sample(_ plane: Int, _ x: Int, _ y: Int) -> UInt8 {
            picture.withPlane(plane) { samples, stride in samples[y * stride + x] } ?? 0
        }
        return CanvasColor(y: sample(0, x, y), cb: sample(1, x / 2, y / 2), cr: sample(2, x / 2, y / 2))
    }

    static func isNear(_ one: CanvasColor, _ other: CanvasColor, by tolerance: Int = 2) -> Bool {
        abs(Int(one.y) - Int(other.y)) <= tolerance && abs(Int(one.cb) - Int(other.cb)) <= tolerance
            && abs(Int(one.cr) - Int(other.cr)) <= tolerance
    }

    static func scheduler(_ scene: Scene, isOffline: Bool = false, fonts: SceneFonts = .builtIn) -> SceneScheduler {
        SceneScheduler(canvas: Self.canvas, scene: scene, faces: [:], fonts: fonts, isOffline: isOffline)
    }

    /// Panes in equal columns, in this order from the left.
    static func columns(_ id: String, _ sources: [Int], transition: Transition = .cut) -> Scene {
        let width = Self.canvas.width / sources.count & ~1
        let panes = sources.enumerated().map { place, index in
            Pane(
                source: Self.source(index),
                rect: Rect(
                    x: place * width, y: 0,
                    width: place == sources.count - 1 ? Self.canvas.width - place * width : width,
                    height: Self.canvas.height))
        }
        return Scene(sceneID: id, panes: panes, background: .black, transition: transition)
    }
}
