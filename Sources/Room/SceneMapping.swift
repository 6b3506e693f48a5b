import LibAV
import MediaTypes
package import PipelineSpec
package import Program

/// The pipeline file's scenes in the program's terms.
package enum SceneMapping {
    package static func scene(_ scene: PipelineSpec.Scene, in pipeline: Pipeline) -> Program.Scene {
        let panes = scene.resolvedPanes(canvas: pipeline.canvas).map { pane in
            Program.Pane(
                source: pane.source,
                rect: Rect(x: pane.x, y: pane.y, width: pane.width, height: pane.height), zOrder: pane.zOrder,
                adaption: Program.Adaption(rawValue: pane.adaption.rawValue) ?? .cropFill, videoPush: pane.videoPush,
                audioPush: pane.audioPush, volume: self.volume(of: pane, in: scene))
        }
        let color = scene.backgroundColor ?? pipeline.canvas.backgroundColor
        return Program.Scene(
            sceneID: scene.sceneID, panes: panes,
            background: CanvasColor(red: color.red, green: color.green, blue: color.blue))
    }

    /// The scene's override of this user's volume, or the pane's own, as a factor; `nil` when neither says.
    private static func volume(of pane: PipelineSpec.Pane, in scene: PipelineSpec.Scene) -> Float? {
        if let override = scene.audioOverrides.first(where: { $0.uid == pane.source.uid }) {
            return Float(override.volume) / 100
        }
        return pane.volume.map { Float($0) / 100 }
    }
}
