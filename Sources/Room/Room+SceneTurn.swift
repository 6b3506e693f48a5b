import MediaTypes
import PipelineSpec
import Program
import Synchronization

/// Who may change the scenes: one at a time, and nobody else waits for it.
///
/// A change may need a graph, which takes up to two seconds on an overloaded machine. It works on a copy of
/// ``RoomState/scenes``, which it puts back at its end; the value is not held meanwhile. In a live room a thread of its own does
/// what follows from the life; offline the program thread does it between two ticks.
extension Room {
    /// Changes the scenes.
    ///
    /// - Parameter body: Must not ask for the turn again.
    func changeScenes<Result, Failure: Error>(
        _ body: (inout SceneDesk) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try self.sceneTurn.withLock { _ throws(Failure) in
            var desk = self.value.withLock(\.scenes)
            defer {
                self.value.withLock { [desk] value in
                    value.scenes = desk
                    self.noteCommanded(desk, value)
                }
            }
            self.advance(&desk)
            return try body(&desk)
        }
    }

    /// The scenes as of the tick on air, for those who only look.
    var shownScenes: SceneDesk {
        var desk = self.value.withLock(\.scenes)
        desk.advance(to: self.program.tick)
        return desk
    }

    /// Brings forward what is on air by now, and tells the life of scheduled scenes that have come on air.
    private func advance(_ desk: inout SceneDesk) {
        desk.advance(to: self.program.tick)
        let begun = desk.takeBegun()
        if begun.isEmpty { return }
        let now = self.lifeTime
        self.value.withLock { value in
            for scene in begun {
                self.receive(.commanded(RoomLife.Scene(scene, in: value.documents.running)), at: now, &value)
            }
        }
    }

    /// Does what is due, on the calling thread.
    func settleScenes() { self.changeScenes { self.settle(&$0) } }

    /// The same for those who have the turn.
    func settle(_ desk: inout SceneDesk) {
        let (work, pk) = self.value.withLock { ($0.sceneWork.take(), $0.life.pkScene) }
        let shownAt = work.isShowDue ? self.putOnAir(self.value.withLock(\.life.onAir), &desk) : nil
        if !work.phases.isEmpty { self.redrawCountdowns(isShown: shownAt != nil, &desk) }
        self.mark(work.phases, of: pk, shownAt: shownAt)
        if work.isLayoutDue { self.layOutAnew(&desk) }
    }

    /// Has the scenes' thread do what is due. Returns at once; offline the program thread does it at its next tick.
    func requestSettling() { if !self.isOffline { self.sceneWake.signal() } }

    /// Does what is due whenever something is. Blocks until ``finishScenes()``.
    func runScenes() {
        while !self.value.withLock(\.isSceneThreadOver) {
            self.settleScenes()
            self.sceneWake.wait(for: nil)
        }
    }

    func finishScenes() {
        self.value.withLock { $0.isSceneThreadOver = true }
        self.sceneWake.signal()
    }

    /// Does something on the thread that builds scenes, before what it does next; for tests.
    package func onBuilder(_ job: @escaping @Sendable () -> Void) { self.program.onBuilder(job) }
}
