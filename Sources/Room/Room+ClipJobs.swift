import Control
import MediaTypes
import Recording
import Stages

/// Performs ``ClipJobs``: clips are made on a thread that gives way to all others.
extension Room {
    /// Promises a clip and adds its work.
    ///
    /// - Parameter make: Makes the work of the clip; called at once.
    /// - Throws: See ``ClipJobs/promise(name:rendition:range:incarnation:)``, and what `make` throws.
    func addClip(
        name: String?, rendition: String, range: Range<Int64>, incarnation: Int64,
        _ make: (ClipJobs.Clip) throws(ControlFailure) -> ClipJobs.Work
    ) throws(ControlFailure) -> ClipJobs.Clip {
        let clip = try self.value.withLock { value throws(ControlFailure) in
            try value.clips.promise(name: name, rendition: rendition, range: range, incarnation: incarnation)
        }
        let work: ClipJobs.Work
        do throws(ControlFailure) {
            work = try make(clip)
        } catch {
            self.value.withLock { $0.clips.withdraw(clip.id) }
            throw error
        }
        do throws(ControlFailure) {
            try self.value.withLock { value throws(ControlFailure) in
                guard try value.clips.add(work) else { return }
                // The value is held here, so that the room's end finds the thread.
                value.clips.thread = StageThread("clip", yields: true) { self.runClips() }
            }
        } catch {
            work.release()
            throw error
        }
        return clip
    }

    private func runClips() {
        while let work = self.value.withLock({ $0.clips.next() }) {
            let result = Result { () throws(MediaError) in
                try work.body { self.value.withLock(\.clips.isClosed) }
            }
            let clip = self.value.withLock { $0.clips.finish(work.id, result) }
            work.release()
            if let clip { self.report(clip) }
        }
    }

    /// The room is over: see ``ClipJobs/close()``.
    func closeClips() { self.perform(self.value.withLock { $0.clips.close() }) }

    /// Gives up the clips that have not begun, and what is held for them.
    func giveUpWaitingClips(_ reason: MediaError) {
        self.perform(self.value.withLock { $0.clips.giveUpWaiting(reason) })
    }

    /// Waits after ``closeClips()`` until the clip that is being made is given up, and its files are removed. Blocks.
    ///
    /// - Parameter nanoseconds: The longest wait.
    func joinClips(within nanoseconds: Int64) {
        let thread = self.value.withLock { $0.clips.thread.take() }
        _ = thread?.join(within: nanoseconds)
    }

    private func perform(_ given: [ClipJobs.GivenUp]) {
        for given in given {
            given.work.release()
            if let clip = given.clip { self.report(clip) }
        }
    }

    /// Tells of a clip that is ready or has failed.
    private func report(_ clip: ClipJobs.Clip) {
        self.commands?.update(.soon) { $0.clips.removeAll { $0.id == clip.id } }
        self.events.emit(clip.state == .ready ? "clip.ready" : "clip.failed", ["clip": clip.json])
    }
}
