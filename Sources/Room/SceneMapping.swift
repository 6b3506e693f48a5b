import LibAV
import MediaTypes
package import PipelineSpec
package import Program

/// The pipeline file's scenes in the program's terms.
package enum SceneMapping {
    /// - Parameter live: The users an automatic layout counts, in its order; `nil`: all.
    package static func scene(
        _ scene: PipelineSpec.Scene, in pipeline: Pipeline, live: [String]? = nil
    ) -> Program.Scene {
        let panes = scene.resolvedPanes(canvas: pipeline.canvas, live: live).map { self.pane($0, scene) }
        let color = scene.backgroundColor ?? pipeline.canvas.backgroundColor
        return Program.Scene(sceneID: scene.sceneID, panes: panes, background: self.color(color))
    }

    private static func pane(_ placed: PlacedPane, _ scene: PipelineSpec.Scene) -> Program.Pane {
        let pane = placed.pane
        return Program.Pane(
            source: pane.source, rect: self.rect(placed.rect), zOrder: pane.zOrder,
            adaption: Program.Adaption(rawValue: pane.adaption.rawValue) ?? .cropFill, videoPush: pane.videoPush,
            audioPush: pane.audioPush, volume: self.volume(of: pane, in: scene))
    }

    /// The scene's override of this user's volume, or the pane's own, as a factor; `nil` when neither says.
    private static func volume(of pane: PipelineSpec.Pane, in scene: PipelineSpec.Scene) -> Float? {
        if let override = scene.audioOverrides.first(where: { $0.uid == pane.source.uid }) {
            return Float(override.volume) / 100
        }
        return pane.volume.map { Float($0) / 100 }
    }

    static func rect(_ rect: PixelRect) -> Rect { Rect(x: rect.x, y: rect.y, width: rect.width, height: rect.height) }

    static func color(_ color: Color) -> CanvasColor {
        CanvasColor(red: color.red, green: color.green, blue: color.blue)
    }
}
