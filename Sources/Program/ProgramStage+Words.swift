/// What a text or a score bar of the scene on air says.
extension ProgramStage {
    /// Changes a text of the scene on air.
    package func setText(_ id: String, _ text: String?) {
        self.repaint { scene in
            for index in scene.texts.indices where scene.texts[index].id == id { scene.texts[index].text = text ?? "" }
        }
    }

    /// Changes a score bar of the scene on air.
    package func setScore(_ id: String, left: Int, right: Int) {
        self.repaint { scene in
            for index in scene.bars.indices where scene.bars[index].id == id {
                (scene.bars[index].left, scene.bars[index].right) = (left, right)
            }
        }
    }

    private func repaint(_ change: (inout Scene) -> Void) {
        var scene = self.scene
        change(&scene)
        scene.transition = .cut
        // What cannot be built leaves the picture as it is.
        if scene != self.scene { _ = try? self.setScene(scene) }
    }
}
