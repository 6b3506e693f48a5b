import LibAV
package import MediaTypes
import Synchronization
import Threading

/// The thread that encodes the program's audio as Opus for WebRTC viewers. It encodes only while packets are needed.
package final class OpusStage: Sendable {
    private enum Input: Sendable {
        case block([Float], position: Int64)
        /// Packets are needed again: a new encoder begins.
        case begin
    }

    /// Blocks that may wait: 1.4 s. Further ones are dropped; silence replaces a gap of up to half a second.
    private static let depth = 64

    private let queue = BoundedQueue<Input>(capacity: OpusStage.depth)
    private let isNeeded = Atomic<Bool>(false)
    private let thread = Mutex<StageThread?>(nil)

    private init() {}

    // The thread does not keep the stage alive.
    deinit { self.queue.close() }

    /// Starts the thread. An encoder is opened once, so that a missing one is noticed before the room is ready.
    ///
    /// - Parameters:
    ///   - bitrate: Bits per second for both channels.
    ///   - packet: Receives the packets, on the thread. Their pts is in samples of the program's audio.
    ///   - failed: Called once on the thread if the encoder fails; there are no more packets then.
    /// - Throws: Errors of ``OpusEncoder/open(bitrate:place:)``.
    package static func open(
        bitrate: Int, packet: @escaping @Sendable (CodedPacket) -> Void,
        failed: @escaping @Sendable (MediaError) -> Void
    ) throws(MediaError) -> OpusStage {
        _ = try OpusEncoder.open(bitrate: bitrate, place: Self.place)
        let stage = OpusStage()
        let queue = stage.queue
        let thread = StageThread("enc-opus") { Self.run(queue, bitrate, packet, failed) }
        stage.thread.withLock { $0 = thread }
        return stage
    }

    private static let place = "encode[opus]"

    /// Sets whether packets are needed. Does not block; may be called on any thread.
    package func setNeeded(_ isNeeded: Bool) {
        let before = self.isNeeded.exchange(isNeeded, ordering: .relaxed)
        // Blocks of before the pause may still be in the queue, so the position alone does not show it. A full queue drops
        // it without harm: the encoder from before the pause continues, and a gap is treated as one between blocks.
        if isNeeded, !before { _ = self.queue.offer(.begin) }
    }

    /// Adds interleaved stereo, the first pair at `position`. Does not block; without effect while no packets are needed.
    package func put(_ samples: [Float], position: Int64) {
        guard self.isNeeded.load(ordering: .relaxed) else { return }
        _ = self.queue.offer(.block(samples, position: position))
    }

    /// Ends the thread after the blocks that wait. May be called twice.
    package func finish() {
        self.queue.close()
        let thread = self.thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        thread?.join()
    }

    private static func run(
        _ queue: BoundedQueue<Input>, _ bitrate: Int, _ packet: (CodedPacket) -> Void, _ failed: (MediaError) -> Void
    ) {
        var framer = OpusFramer()
        var encoder: OpusEncoder?
        do throws(MediaError) {
            while let input = queue.take() {
                switch input {
                case .begin:
                    framer.reset()
                    encoder = nil
                case .block(let samples, let position):
                    for frame in framer.add(samples, at: position) {
                        if !frame.isContinued || encoder == nil {
                            encoder = try OpusEncoder.open(bitrate: bitrate, place: Self.place)
                        }
                        try encoder?.encode(frame.samples, pts: frame.position, packet)
                    }
                }
            }
        } catch {
            failed(error)
            queue.close()
            while queue.take() != nil {}
        }
    }
}
