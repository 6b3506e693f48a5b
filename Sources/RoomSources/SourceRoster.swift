import Dispatch
package import MediaTypes
package import PipelineSpec
package import Program
package import Threading
import Synchronization

/// The sources of a room. All threads read it; changes of the room's document add and remove sources.
///
/// States of a source: added → removed (lookups do not find it; its id is in use) → departed (its thread has ended; its
/// id is free).
package final class SourceRoster: Sendable {
    private struct State {
        var sources: [SourceID: RoomSource]
        /// Starts the decode thread of a source; nil before the room runs.
        var start: (@Sendable (RoomSource) -> Void)?
        var isClosed = false
        /// Removed sources that have not departed. Each semaphore is signalled when its source has departed.
        var leaving: [SourceID: DispatchSemaphore] = [:]
    }

    /// Aligns sources with wall clock timestamps to each other.
    package let aligner: WallAligner
    private let state: Mutex<State>
    /// Runs departures one at a time, since each waits until the decoder has finished its current packet.
    private let departures = DispatchQueue(label: "departures")

    private init(_ sources: [SourceID: RoomSource], aligner: WallAligner) {
        self.state = Mutex(State(sources: sources))
        self.aligner = aligner
    }

    /// Makes the sources of a pipeline. Opens file sources, so that an unreadable file is an error before the room
    /// starts.
    ///
    /// - Parameters:
    ///   - limiter: See ``DecodeStage/Settings/limiter``.
    ///   - events: Called on the decode threads.
    /// - Throws: ``MediaError`` if a file cannot be read.
    package static func open(
        _ pipeline: Pipeline, clock: ProgramClock, machine: any SleepClock, limiter: WorkLimiter? = nil,
        events: @escaping @Sendable (SourceID, DecodeStage.Event) -> Void
    ) throws(MediaError) -> SourceRoster {
        var sources: [SourceID: RoomSource] = [:]
        let aligner = WallAligner()
        for spec in pipeline.sources {
            let source = RoomSource(
                spec: spec, pipeline: pipeline, clock: clock, machine: machine, aligner: aligner, limiter: limiter,
                events: events)
            try source.probeFile()
            sources[spec.id] = source
        }
        return SourceRoster(sources, aligner: aligner)
    }

    /// The current sources by id, without those that were removed.
    package var sources: [SourceID: RoomSource] { self.state.withLock { $0.sources } }

    /// Calls `start`, which starts the decode thread of a source, for all sources and for each source that is added later.
    func start(_ start: @escaping @Sendable (RoomSource) -> Void) {
        let sources = self.state.withLock { state -> [RoomSource] in
            state.start = start
            return state.isClosed ? [] : Array(state.sources.values)
        }
        for source in sources { start(source) }
    }

    /// Ends the decode threads of all sources, including removed ones. Blocks.
    package func close() {
        let sources = self.state.withLock { state in
            state.isClosed = true
            return Array(state.sources.values)
        }
        for source in sources { source.decode.stop() }
        for source in sources { source.join() }
        self.departures.sync {}
    }

    /// Adds a source. Does nothing after ``close()``.
    func add(_ source: RoomSource) {
        self.state.withLock { state in
            guard !state.isClosed else { return }
            state.sources[source.spec.id] = source
            // Started while the lock is held, so that close() waits for the thread.
            state.start?(source)
        }
    }

    /// Removes a source: lookups no longer find it, and events of its decoder are dropped. Its id is in use until it
    /// has departed.
    ///
    /// - Returns: The source; nil if there is no source with this id.
    func remove(_ id: SourceID) -> RoomSource? {
        let source = self.state.withLock { state -> RoomSource? in
            guard let source = state.sources.removeValue(forKey: id) else { return nil }
            state.leaving[id] = DispatchSemaphore(value: 0)
            return source
        }
        source?.silence()
        return source
    }

    /// Ends the decode thread of a removed source in the background, after those of sources that were removed earlier.
    ///
    /// - Parameters:
    ///   - work: Called first, while the thread may still run.
    ///   - rest: Called when the thread has ended, so that the thread cannot undo its effects.
    ///   - last: Called when the id is free.
    func depart(
        _ source: RoomSource, _ work: @escaping @Sendable () -> Void, rest: @escaping @Sendable () -> Void,
        last: @escaping @Sendable () -> Void
    ) {
        self.departures.async {
            work()
            source.decode.stop()
            source.join()
            rest()
            let departed = self.state.withLock { $0.leaving.removeValue(forKey: source.spec.id) }
            departed?.signal()
            last()
        }
    }

    /// Waits until no source with this id is departing, at most for the given time. Blocks.
    ///
    /// - Returns: Whether the id is free.
    func isFree(_ id: SourceID, within milliseconds: Int) -> Bool {
        guard let departing = self.state.withLock({ $0.leaving[id] }) else { return true }
        guard departing.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return false }
        departing.signal()
        return true
    }
}
