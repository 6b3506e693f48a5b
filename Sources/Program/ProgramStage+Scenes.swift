package import MediaTypes

/// Scenes and the content of their decorations, from any thread; see ``SceneScheduler``.
extension ProgramStage {
    /// Builds the scene on air and the pipeline's scenes; see ``SceneScheduler/prepare(_:)``.
    ///
    /// - Throws: ``MediaError`` if a scene cannot be built.
    package func prepare(_ scenes: [Scene]) throws(MediaError) { try self.scheduler.prepare(scenes) }

    /// Puts a scene on air; see ``SceneScheduler/setScene(_:at:after:)``. Without `tick`, a scene with a source that is
    /// not decoded up to the current time waits for about 100 ms, in which the source catches up.
    @discardableResult
    package func setScene(_ scene: Scene, at tick: Int64? = nil) throws(MediaError) -> Int64 {
        // A source that becomes visible is decoded up to the current time while its scene waits these few ticks.
        let isBehind = self.reveal(scene)
        return try self.scheduler.setScene(scene, at: tick, after: isBehind && tick == nil ? self.returnTicks : 0)
    }

    /// Number of ticks in the 100 ms that ``HiddenSourceQueue`` allows for catching up; 0 offline, where the program
    /// waits for its files anyway.
    private var returnTicks: Int64 { self.scheduler.builder == nil ? 0 : Int64(self.scheduler.canvas.fps + 9) / 10 }

    /// Sets the content of a text decoration; see ``SceneScheduler/setText(_:_:)``.
    package func setText(_ id: String, _ text: String?) { self.scheduler.setText(id, text) }

    /// Sets the scores of a score bar; see ``SceneScheduler/setScore(_:left:right:)``.
    package func setScore(_ id: String, left: Int, right: Int) {
        self.scheduler.setScore(id, left: left, right: right)
    }

    /// Waits at most half a second until texts and scores are drawn; see
    /// ``SceneScheduler/awaitDrawing(milliseconds:)``.
    package func awaitDrawing() -> Int64? { self.scheduler.awaitDrawing() }

    /// Runs a job on the thread that builds filter graphs, before all waiting jobs. Used only by tests.
    package func onBuilder(_ job: @escaping @Sendable () -> Void) {
        self.scheduler.builder?.submit(isUrgent: true, job)
    }
}
