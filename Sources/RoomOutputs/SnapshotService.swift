import Dispatch
package import LibAV
import MediaKernels
package import MediaTypes
import Packager
package import PipelineSpec
package import Program
import RoomSources
package import Threading
import Synchronization

/// Stills of the program and of its sources. A reference to the newest canvas is all that a tick leaves here; everything else
/// happens on a thread of its own, one picture at a time.
package final class SnapshotService: Sendable {
    /// Nanoseconds the last sheet may take; a disk that hangs holds up the end of no room.
    private static let patience: Int64 = 500_000_000

    private struct State {
        /// The newest canvas.
        var latest: Picture?
        var isStopped = false
    }

    private let pipeline: Pipeline
    private let sources: @Sendable () -> [SourceID: SourceBuffer]
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameter sources: Gives the frames of the sources there are at the moment.
    package init(_ pipeline: Pipeline, sources: @escaping @Sendable () -> [SourceID: SourceBuffer]) {
        self.pipeline = pipeline
        self.sources = sources
    }

    /// Takes the canvas of a tick.
    package func note(_ picture: Picture) {
        // The one before is freed behind the lock.
        var picture: Picture? = picture
        self.state.withLock { swap(&picture, &$0.latest) }
    }

    /// A JPEG of what is on air, or of a source; `nil` before the first picture.
    func jpeg(
        of source: SourceID?, size: (_ width: Int, _ height: Int) -> (width: Int, height: Int)
    ) throws(MediaError) -> [UInt8]? {
        let picture: Picture? =
            if let source { self.sources()[source]?.snapshot } else { self.state.withLock(\.latest) }
        guard let picture else { return nil }
        let wanted = size(picture.format.width, picture.format.height)
        return try JPEGEncoder.jpeg(picture, width: wanted.width, height: wanted.height)
    }

    // MARK: Image outputs

    /// Makes the files of the image outputs until ``stop(_:)``.
    ///
    /// - Parameters:
    ///   - isPaused: Asked before each round: a machine that cannot keep up makes none.
    ///   - publish: Gets each still of the program.
    ///   - report: Gets what could not be written, once until it can be again.
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
                    // Until the first canvas is there the next look is soon.
                    let isEmpty = self.state.withLock { $0.latest == nil }
                    let pause = isEmpty ? 500 : output.intervalSeconds * 1_000
                    if self.wake.wait(timeout: .now() + .milliseconds(pause)) == .success { self.wake.signal() }
                }
            }
        }
    }

    /// Hands the newest canvas to `take`, on a thread of its own, until ``stop(_:)``.
    ///
    /// - Parameters:
    ///   - maker: What `take` may change; the thread alone has it.
    ///   - take: Says in how many milliseconds it wants the next one.
    /// - Returns: The thread, for ``stop(_:)``.
    func watch<Maker: Sendable>(
        _ maker: Maker, _ take: @escaping @Sendable (inout Maker, Picture) -> Int
    ) -> StageThread {
        StageThread("sprites", yields: true) {
            var maker = maker
            while !self.state.withLock(\.isStopped) {
                let pause = self.state.withLock(\.latest).map { take(&maker, $0) } ?? 500
                if self.wake.wait(timeout: .now() + .milliseconds(pause)) == .success { self.wake.signal() }
            }
        }
    }

    /// - Parameter shown: Sources that have a file.
    private func make(
        _ output: ImageOutput, _ publish: @Sendable (_ name: String, [UInt8]) -> Void, _ shown: inout Set<SourceID>
    ) throws(MediaError) {
        let name = output.fileName
        let store = DirectoryStore(directory: output.directory)
        if let bytes = try self.jpeg(of: nil, size: { output.size(of: $0, $1) }) {
            try store.prepare()
            try store.put(name, [PacketMemory(bytes)], durable: false)
            publish(name, bytes)
        }
        guard output.sources else { return }
        let sources = self.sources()
        for id in sources.keys {
            guard let bytes = try self.jpeg(of: id, size: { output.size(of: $0, $1) }) else { continue }
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

    /// Makes nothing more, and waits a little for what is being made, so that whoever gets it still does.
    ///
    /// - Parameter watchers: The threads of ``watch(_:_:)``.
    package func stop(_ watchers: [StageThread]) {
        self.state.withLock { $0.isStopped = true }
        self.wake.signal()
        for watcher in watchers { _ = watcher.join(within: Self.patience) }
    }
}
