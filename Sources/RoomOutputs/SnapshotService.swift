import Dispatch
package import LibAV
import MediaKernels
package import MediaTypes
import Packager
package import PipelineSpec
package import Program
package import Threading
import Synchronization

/// Makes stills of the program and of its sources. Each tick only stores a reference to the newest frame; the images
/// are made on separate threads.
package final class SnapshotService: Sendable {
    /// Longest wait for the last thumbnail sheet at the end of the room, in nanoseconds, so that a disk that hangs does
    /// not delay the end.
    private static let patience: Int64 = 500_000_000
    /// Longest wait for a current frame if only key frames of the source on air are decoded. Usually it takes one tick and
    /// 100 ms.
    private static let catchUp = DispatchTimeInterval.milliseconds(250)

    /// What the frames of the program show.
    package struct Canvas: Sendable, Hashable {
        /// Whether the frames of the program show the current frames of their sources. If not, a still of the
        /// program or of ``passed`` waits until they do.
        package var isCurrent = true
        /// The source that is passed through; nil if there is none.
        package var passed: SourceID?

        package init(isCurrent: Bool = true, passed: SourceID? = nil) {
            (self.isCurrent, self.passed) = (isCurrent, passed)
        }
    }

    private struct State {
        /// The newest frame of the program.
        var latest: Picture?
        /// Whether ``latest`` shows the current frames of its sources.
        var isCurrent = true
        /// What the next frame shows.
        var canvas = Canvas()
        /// Semaphores of waiting requests; the next frame that shows the current frames of its sources signals all.
        var waiting: [DispatchSemaphore] = []
        var isStopped = false
    }

    private let pipeline: Pipeline
    private let sources: @Sendable () -> [SourceID: SourceBuffer]
    private let state = Mutex(State())
    /// Whether requests wait in ``State/waiting``; changed with the lock held, so that a tick can ask without it.
    private let hasWaiting = Atomic<Bool>(false)
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameter sources: Returns the frame buffers of the current sources.
    package init(_ pipeline: Pipeline, sources: @escaping @Sendable () -> [SourceID: SourceBuffer]) {
        self.pipeline = pipeline
        self.sources = sources
    }

    /// Stores the program's frame of a tick.
    package func note(_ picture: Picture) {
        // The previous frame is freed after the lock is released.
        var picture: Picture? = picture
        let waiting = self.state.withLock { state -> [DispatchSemaphore] in
            swap(&picture, &state.latest)
            state.isCurrent = state.canvas.isCurrent
            guard state.isCurrent, !state.waiting.isEmpty else { return [] }
            return self.takeWaiting(&state)
        }
        for waiter in waiting { waiter.signal() }
    }

    private func takeWaiting(_ state: inout State) -> [DispatchSemaphore] {
        defer { state.waiting = [] }
        self.hasWaiting.store(false, ordering: .relaxed)
        return state.waiting
    }

    /// Sets what the frames of the program show from the next one on.
    package func note(_ canvas: Canvas) { self.state.withLock { $0.canvas = canvas } }

    /// Whether a still waits for a current frame of the program.
    package var isAwaited: Bool { self.hasWaiting.load(ordering: .relaxed) }

    /// Waits until the newest frame shows the current frames of its sources, for at most ``catchUp``. Returns at once if it
    /// does.
    ///
    /// - Parameter source: The source of which a still is wanted; nil: the program. Nothing is waited for if only another
    ///   source is passed through.
    private func awaitCurrent(_ source: SourceID? = nil) {
        let arrived = DispatchSemaphore(value: 0)
        let waits = self.state.withLock { state -> Bool in
            guard !state.isCurrent, !state.isStopped else { return false }
            if let source, let passed = state.canvas.passed, source != passed { return false }
            state.waiting.append(arrived)
            self.hasWaiting.store(true, ordering: .relaxed)
            return true
        }
        guard waits, arrived.wait(timeout: .now() + Self.catchUp) == .timedOut else { return }
        self.state.withLock { state in
            state.waiting.removeAll { $0 === arrived }
            self.hasWaiting.store(!state.waiting.isEmpty, ordering: .relaxed)
        }
    }

    /// A JPEG image of the program, or of a source; nil before the first frame, and for an unknown source.
    func jpeg(
        of source: SourceID?, size: (_ width: Int, _ height: Int) -> (width: Int, height: Int)
    ) throws(MediaError) -> [UInt8]? {
        self.awaitCurrent(source)
        return try self.newestJPEG(of: source, size: size)
    }

    /// Makes the image of ``jpeg(of:size:)`` without waiting for a current frame.
    private func newestJPEG(
        of source: SourceID?, size: (_ width: Int, _ height: Int) -> (width: Int, height: Int)
    ) throws(MediaError) -> [UInt8]? {
        let picture: Picture? =
            if let source { self.sources()[source]?.snapshot } else { self.state.withLock(\.latest) }
        guard let picture else { return nil }
        let wanted = size(picture.format.width, picture.format.height)
        return try JPEGEncoder.jpeg(picture, width: wanted.width, height: wanted.height)
    }

    // MARK: Image outputs

    /// Starts to write the files of the image outputs, until ``stop(_:)``.
    ///
    /// - Parameters:
    ///   - isPaused: Called before each image. If it returns true, because the machine cannot keep up, then no image is
    ///     made.
    ///   - publish: Receives each still of the program.
    ///   - report: Receives the first of several consecutive errors of an output.
    func start(
        isPaused: @escaping @Sendable () -> Bool, publish: @escaping @Sendable (_ name: String, [UInt8]) -> Void,
        report: @escaping @Sendable (_ outputID: String, MediaError) -> Void
    ) {
        for output in self.pipeline.images {
            _ = StageThread("image") {
                var isFailing = false
                var shown: Set<SourceID> = []
                while !self.state.withLock(\.isStopped) {
                    var failure: MediaError?
                    if !isPaused() {
                        do throws(MediaError) { try self.make(output, publish, &shown) } catch { failure = error }
                    }
                    if let failure, !isFailing { report(output.outputID, failure) }
                    isFailing = failure != nil
                    // Before the first frame, check again soon.
                    let isEmpty = self.state.withLock { $0.latest == nil }
                    let pause = isEmpty ? 500 : output.intervalSeconds * 1_000
                    if self.wake.wait(timeout: .now() + .milliseconds(pause)) == .success { self.wake.signal() }
                }
            }
        }
    }

    /// Passes the newest frame to `take` repeatedly on a separate thread, until ``stop(_:)``.
    ///
    /// - Parameters:
    ///   - maker: State that `take` may change; only this thread uses it.
    ///   - isPaused: Called before each frame. If it returns true, because the machine cannot keep up, then a current frame
    ///     is not waited for.
    ///   - take: Processes the frame, and returns after how many milliseconds it needs the next one.
    /// - Returns: The thread, for ``stop(_:)``.
    func watch<Maker: Sendable>(
        _ maker: Maker, isPaused: @escaping @Sendable () -> Bool,
        _ take: @escaping @Sendable (inout Maker, Picture) -> Int
    ) -> StageThread {
        StageThread("sprites", yields: true) {
            var maker = maker
            while !self.state.withLock(\.isStopped) {
                if !isPaused() { self.awaitCurrent() }
                let pause = self.state.withLock(\.latest).map { take(&maker, $0) } ?? 500
                if self.wake.wait(timeout: .now() + .milliseconds(pause)) == .success { self.wake.signal() }
            }
        }
    }

    /// Writes the files of an image output.
    ///
    /// - Parameter shown: The sources that have an image file; updated.
    private func make(
        _ output: ImageOutput, _ publish: @Sendable (_ name: String, [UInt8]) -> Void, _ shown: inout Set<SourceID>
    ) throws(MediaError) {
        let name = output.fileName
        let store = DirectoryStore(directory: output.directory)
        // Once for all images: each wait makes the source on air decode the frames since its last key frame.
        self.awaitCurrent()
        if let bytes = try self.newestJPEG(of: nil, size: { output.size(of: $0, $1) }) {
            try store.prepare()
            try store.put(name, [PacketMemory(bytes)], durable: false)
            publish(name, bytes)
        }
        guard output.sources else { return }
        let sources = self.sources()
        for id in sources.keys {
            guard let bytes = try self.newestJPEG(of: id, size: { output.size(of: $0, $1) }) else { continue }
            try store.put(Self.name(of: id, output), [PacketMemory(bytes)], durable: false)
            shown.insert(id)
        }
        for id in shown where sources[id] == nil {
            try store.remove(Self.name(of: id, output))
            shown.remove(id)
        }
    }

    private static func name(of id: SourceID, _ output: ImageOutput) -> String {
        output.stillPath(of: id).split(separator: "/").last.map(String.init) ?? ""
    }

    /// Stops all threads. Waits up to 500 ms for each thumbnail sheet that is being made, so that it is still
    /// published, but not for stills.
    ///
    /// - Parameter watchers: The threads returned by ``watch(_:isPaused:_:)``.
    package func stop(_ watchers: [StageThread]) {
        let waiting = self.state.withLock { state -> [DispatchSemaphore] in
            state.isStopped = true
            return self.takeWaiting(&state)
        }
        for waiter in waiting { waiter.signal() }
        self.wake.signal()
        for watcher in watchers { _ = watcher.join(within: Self.patience) }
    }
}
