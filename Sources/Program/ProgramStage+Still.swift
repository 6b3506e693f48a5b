package import LibAV
package import MediaTypes

extension ProgramStage {
    /// Composes the scene on air with cards in all panes, as it looks while no source has a frame. Does not change the
    /// program.
    ///
    /// - Returns: The canvas; `nil` if composing failed although the scene could be built.
    /// - Throws: ``MediaError`` if the scene cannot be built.
    package func still() throws(MediaError) -> Picture? {
        let factory = self.scheduler.factory
        let scheduler = SceneScheduler(
            canvas: self.scheduler.canvas, scene: self.scheduler.scene, faces: factory.faces, fonts: factory.text.fonts,
            isOffline: true)
        try scheduler.prepare([])
        defer { scheduler.close() }
        var player = SceneCompositor(scheduler: scheduler, machine: self.machine)
        _ = player.advance(to: 0)
        return player.compose(tick: 0, frames: [:], covered: []).picture
    }
}
