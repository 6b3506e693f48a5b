import Dispatch
import LibAV
import MediaKernels
import MediaTypes
import Packager
import PipelineSpec
import Program
import Stages
import Synchronization
import Upload

/// Stills of the program and of its sources. A reference to the newest canvas is all that a tick leaves here; everything else
/// happens on a thread of its own, one picture at a time.
final class SnapshotDesk: Sendable {
    /// Nanoseconds the last sheet may take; a disk that hangs holds up the end of no room.
    private static let patience: Int64 = 500_000_000

    private let pipeline: Pipeline
    private let roster: SourceRoster
    private let latest = Mutex<Picture?>(nil)
    private let isStopped = Mutex(false)
    private let wake = DispatchSemaphore(value: 0)
    /// One at a time: whoever asks for many waits, and no thread but theirs.
    private let encoding = Mutex<Void>(())
    private let taken = Atomic<Int64>(0)
    private let watchers = Mutex<[StageThread]>([])

    init(_ pipeline: Pipeline, _ roster: SourceRoster) {
        self.pipeline = pipeline
        self.roster = roster
    }

    /// The canvas of a tick.
    func note(_ picture: Picture) { self.latest.withLock { $0 = picture } }

    /// Stills that were made since the room began.
    var count: Int64 { self.taken.load(ordering: .relaxed) }

    /// A JPEG of what is on air, or of a source; `nil` before the first picture.
    func jpeg(
        of source: SourceID?, size: (_ width: Int, _ height: Int) -> (width: Int, height: Int)
    ) throws(MediaError) -> [UInt8]? {
        let picture: Picture? =
            if let source { self.roster.slots[source]?.buffer.snapshot } else { self.latest.withLock { $0 } }
        guard let picture else { return nil }
        let wanted = size(picture.format.width, picture.format.height)
        let result = self.encoding.withLock { _ in
            Result { () throws(MediaError) in
                try StillEncoder.jpeg(picture, width: wanted.width, height: wanted.height)
            }
        }
        self.taken.add(1, ordering: .relaxed)
        return try result.get()
    }

    // MARK: Image outputs

    /// Makes the files of the image outputs until ``stop()``.
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
                while !self.isStopped.withLock({ $0 }) {
                    var failure: MediaError?
                    if !isPaused() {
                        do throws(MediaError) { try self.make(output, publish, &shown) } catch { failure = error }
                    }
                    if let failure, !isFailing { report(output.outputID, failure) }
                    isFailing = failure != nil
                    // Until the first canvas is there the next look is soon.
                    let isEmpty = self.latest.withLock { $0 == nil }
                    let pause = isEmpty ? 500 : output.intervalSeconds * 1_000
                    if self.wake.wait(timeout: .now() + .milliseconds(pause)) == .success { self.wake.signal() }
                }
            }
        }
    }

    /// Hands the newest canvas to `take`, on a thread of its own, until ``stop()``.
    ///
    /// - Parameter take: Says in how many milliseconds it wants the next one.
    func watch(_ take: @escaping @Sendable (Picture) -> Int) {
        let thread = StageThread("sprites", yields: true) {
            while !self.isStopped.withLock({ $0 }) {
                let pause = self.latest.withLock { $0 }.map(take) ?? 500
                if self.wake.wait(timeout: .now() + .milliseconds(pause)) == .success { self.wake.signal() }
            }
        }
        self.watchers.withLock { $0.append(thread) }
    }

    /// - Parameter shown: Sources that have a file.
    private func make(
        _ output: ImageOutput, _ publish: @Sendable (_ name: String, [UInt8]) -> Void, _ shown: inout Set<SourceID>
    ) throws(MediaError) {
        let parts = output.path.split(separator: "/", omittingEmptySubsequences: false)
        let name = parts.last.map(String.init) ?? output.path
        let store = DirectoryStore(directory: parts.count < 2 ? "." : parts.dropLast().joined(separator: "/") + "/")
        if let bytes = try self.jpeg(of: nil, size: { output.size(of: $0, $1) }) {
            try store.prepare()
            try store.put(name, [PacketMemory(bytes)], durable: false)
            publish(name, bytes)
        }
        guard output.sources else { return }
        let slots = self.roster.slots
        for id in slots.keys {
            guard let bytes = try self.jpeg(of: id, size: { output.size(of: $0, $1) }) else { continue }
            try store.put(Self.name(of: id, output), [PacketMemory(bytes)], durable: false)
            shown.insert(id)
        }
        for id in shown where slots[id] == nil {
            try store.remove(Self.name(of: id, output))
            shown.remove(id)
        }
    }

    private static func name(of id: SourceID, _ output: ImageOutput) -> String {
        output.stillPath(of: id).split(separator: "/").last.map(String.init) ?? ""
    }

    /// Makes nothing more, and waits a little for what is being made, so that whoever gets it still does.
    func stop() {
        self.isStopped.withLock { $0 = true }
        self.wake.signal()
        let watchers = self.watchers.withLock { watchers in
            defer { watchers = [] }
            return watchers
        }
        for watcher in watchers { _ = watcher.join(within: Self.patience) }
    }
}
