import Dispatch
package import MediaTypes
package import PipelineSpec
package import Program
package import Threading
import Synchronization

/// The sources of a room: read by every thread, changed with the room's document.
///
/// States of a source: added → removed (no lookup finds it, its id is taken) → departed (its thread has ended, its id is free).
package final class SourceRoster: Sendable {
    private struct State {
        var sources: [SourceID: RoomSource]
        /// Starts the thread of a source; nil before the room runs.
        var start: (@Sendable (RoomSource) -> Void)?
        var isClosed = false
        /// Sources that are removed; each semaphore is signalled when the source has departed.
        var leaving: [SourceID: DispatchSemaphore] = [:]
    }

    /// Aligns sources by wall-clock time.
    package let aligner: WallAligner
    private let state: Mutex<State>
    /// Runs departures, one at a time: each takes as long as the decoder needs for the packet in work.
    private let departures = DispatchQueue(label: "departures")

    private init(_ sources: [SourceID: RoomSource], aligner: WallAligner) {
        self.state = Mutex(State(sources: sources))
        self.aligner = aligner
    }

    /// Makes the sources of a pipeline. Opens the files among them, so that what cannot be read is refused before the room starts.
    ///
    /// - Parameter events: Called on the decode threads.
    /// - Throws: ``MediaError`` for a file that cannot be read.
    package static func open(
        _ pipeline: Pipeline, clock: ProgramClock, machine: any SleepClock,
        events: @escaping @Sendable (SourceID, DecodeStage.Event) -> Void
    ) throws(MediaError) -> SourceRoster {
        var sources: [SourceID: RoomSource] = [:]
        let aligner = WallAligner()
        for spec in pipeline.sources {
            let source = RoomSource(
                spec: spec, pipeline: pipeline, clock: clock, machine: machine, aligner: aligner, events: events)
            try source.probeFile()
            sources[spec.id] = source
        }
        return SourceRoster(sources, aligner: aligner)
    }

    /// The sources that were added and not removed.
    package var sources: [SourceID: RoomSource] { self.state.withLock { $0.sources } }

    /// Starts the threads of all sources, and of each source that is added later.
    func start(_ start: @escaping @Sendable (RoomSource) -> Void) {
        let sources = self.state.withLock { state -> [RoomSource] in
            state.start = start
            return state.isClosed ? [] : Array(state.sources.values)
        }
        for source in sources { start(source) }
    }

    /// Ends the threads of all sources, including those that are leaving. Blocks.
    package func close() {
        let sources = self.state.withLock { state in
            state.isClosed = true
            return Array(state.sources.values)
        }
        for source in sources { source.decode.stop() }
        for source in sources { source.join() }
        self.departures.sync {}
    }

    /// Adds a source. Does nothing once the roster is closed.
    func add(_ source: RoomSource) {
        self.state.withLock { state in
            guard !state.isClosed else { return }
            state.sources[source.spec.id] = source
            // Under the lock, so that close() waits for the thread.
            state.start?(source)
        }
    }

    /// Removes a source: no lookup finds it, and reports of its decoder are dropped. Its id is taken until it has departed.
    ///
    /// - Returns: nil if there is none of that id.
    func remove(_ id: SourceID) -> RoomSource? {
        let source = self.state.withLock { state -> RoomSource? in
            guard let source = state.sources.removeValue(forKey: id) else { return nil }
            state.leaving[id] = DispatchSemaphore(value: 0)
            return source
        }
        source?.silence()
        return source
    }

    /// Ends the thread of a removed source in the background, after those of sources that were removed before it.
    ///
    /// - Parameters:
    ///   - work: Called first, while the thread may still run.
    ///   - rest: Called when the thread has ended, so that nothing it does undoes this.
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

    /// Blocks until no source of that id is leaving, for the given time at most.
    ///
    /// - Returns: Whether the id is free.
    func isFree(_ id: SourceID, within milliseconds: Int) -> Bool {
        guard let departing = self.state.withLock({ $0.leaving[id] }) else { return true }
        guard departing.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return false }
        departing.signal()
        return true
    }
}
