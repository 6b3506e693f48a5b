import MediaTypes
import PipelineSpec
import Program
import RoomScenes
import Synchronization

/// Changes of the room's scenes. One thread at a time makes one; threads that make none do not wait for it.
///
/// A change may build a filter graph, which takes up to two seconds on an overloaded machine. It therefore works on a copy of
/// ``RoomState/scenes`` and writes the copy back when it is done; the room's value is not held in between. In a live room a thread
/// of its own applies what ``RoomLife`` asks for; offline the program thread applies it between two ticks.
extension Room {
    /// Changes the scenes. Waits for a change that another thread is making.
    ///
    /// - Parameter body: Must not call this function again.
    func changeScenes<Result, Failure: Error>(
        _ body: (inout SceneSchedule) throws(Failure) -> sending Result
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

    /// The scenes as of the tick on air. Reading them waits for no change.
    var shownScenes: SceneSchedule {
        var desk = self.value.withLock(\.scenes)
        desk.advance(to: self.program.tick)
        return desk
    }

    /// Puts scheduled scenes on air whose tick has come, and reports them to ``RoomLife``.
    private func advance(_ desk: inout SceneSchedule) {
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

    /// Applies ``RoomState/sceneWork`` on the calling thread.
    func settleScenes() { self.changeScenes { self.settle(&$0) } }

    /// Applies ``RoomState/sceneWork``. The caller holds ``Room/sceneTurn``.
    func settle(_ desk: inout SceneSchedule) {
        let (work, pk) = self.value.withLock { ($0.sceneWork.take(), $0.life.pkScene) }
        let shownAt = work.isShowDue ? self.putOnAir(self.value.withLock(\.life.onAir), &desk) : nil
        if !work.phases.isEmpty { self.redrawCountdowns(isShown: shownAt != nil, &desk) }
        self.mark(work.phases, of: pk, shownAt: shownAt)
        if work.isLayoutDue { self.layOutAnew(&desk) }
    }

    /// Wakes the thread that applies ``RoomState/sceneWork``. Offline the program thread applies it at its next tick.
    func requestSettling() { if !self.isOffline { self.sceneWake.signal() } }

    /// Applies ``RoomState/sceneWork`` whenever the thread is woken. Blocks until ``finishScenes()``.
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

    /// Runs a job on the thread that builds filter graphs, before all jobs that wait. Only tests use it.
    package func onBuilder(_ job: @escaping @Sendable () -> Void) { self.program.onBuilder(job) }
}
