import MediaTypes
import Threading

/// Queue between the encoders and the packagers: the encoder threads only encode, and one thread that reads the queue
/// runs the packagers. Keeps the order of each track.
struct Handover: Sendable {
    private enum EncodedOutput: Sendable {
        case packet(track: Int, CodedPacket)
        case configuration(track: Int, EncodingStage.Reconfiguration)
        case slept(track: Int, Int64)
        case woke(track: Int, Int64)
        case finished(track: Int)
    }

    /// Capacity of the queue, in items. Offline it is small, and batches let the thread process several items in a row.
    private static let liveDepth = 1_024
    private static let offlineDepth = 64
    private static let offlineBatch = 8

    private let outputs: BoundedQueue<EncodedOutput>
    private let target: EncodingStage.Output

    init(to target: EncodingStage.Output, isOffline: Bool) {
        self.target = target
        self.outputs = BoundedQueue(
            capacity: isOffline ? Self.offlineDepth : Self.liveDepth, batch: isOffline ? Self.offlineBatch : 1)
    }

    /// The output that the encoders write to: it queues the items for the target. The encoders wait if the queue is
    /// full.
    var output: EncodingStage.Output {
        var output = self.target
        output.packet = { [outputs = self.outputs] in outputs.put(.packet(track: $0, $1)) }
        output.configuration = { [outputs = self.outputs] in outputs.put(.configuration(track: $0, $1)) }
        output.slept = { [outputs = self.outputs] in outputs.put(.slept(track: $0, $1)) }
        output.woke = { [outputs = self.outputs] in outputs.put(.woke(track: $0, $1)) }
        output.finished = { [outputs = self.outputs] in outputs.put(.finished(track: $0)) }
        return output
    }

    /// Runs until ``close()`` has been called and everything has been passed on.
    func run() {
        while let word = self.outputs.take() {
            switch word {
            case .packet(let track, let packet): self.target.packet(track, packet)
            case .configuration(let track, let change): self.target.configuration(track, change)
            case .slept(let track, let tick): self.target.slept(track, tick)
            case .woke(let track, let tick): self.target.woke(track, tick)
            case .finished(let track): self.target.finished(track)
            }
        }
    }

    /// Ends ``run()`` once the queue is empty; nothing may be added after this.
    func close() { self.outputs.close() }
}
