package import LibAV
package import MediaTypes

extension ProgramStage {
    /// The canvas of the scene on air while no source has a picture: cards in all panes. Nothing of the program changes.
    ///
    /// - Throws: ``MediaError``: what the scene cannot be composed of.
    package func still() throws(MediaError) -> Picture? {
        let factory = self.director.factory
        let director = SceneDirector(
            canvas: self.director.canvas, scene: self.director.scene, faces: factory.faces, fonts: factory.text.fonts,
            isOffline: true)
        try director.prepare([])
        defer { director.close() }
        var player = ScenePlayer(director: director, machine: self.machine)
        _ = player.advance(to: 0)
        return player.compose(tick: 0, pictures: [:], covered: []).picture
    }
}
