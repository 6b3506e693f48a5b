import LibAV
import MediaTypes
import Stages

/// What the encoders have made, on its way to whoever takes it: they code, and one thread behind them cuts, lists and
/// publishes. Tracks have their order in it.
struct Handover: Sendable {
    private enum Word: Sendable {
        case packet(track: Int, CodedPacket)
        case configuration(track: Int, LadderStage.Reconfiguration)
        case finished(track: Int)
    }

    /// Words that may wait. Live: three seconds of a ladder of five. Offline as few as let the thread do several in a row.
    private static let liveDepth = 1_024
    private static let offlineDepth = 64
    private static let offlineBatch = 8

    private let words: BoundedQueue<Word>
    private let target: LadderStage.Output

    init(to target: LadderStage.Output, isOffline: Bool) {
        self.target = target
        self.words = BoundedQueue(
            capacity: isOffline ? Self.offlineDepth : Self.liveDepth, batch: isOffline ? Self.offlineBatch : 1)
    }

    /// What the encoders are given in place of the target. They wait where that is slow.
    var output: LadderStage.Output {
        var output = self.target
        output.packet = { [words = self.words] in words.put(.packet(track: $0, $1)) }
        output.configuration = { [words = self.words] in words.put(.configuration(track: $0, $1)) }
        output.finished = { [words = self.words] in words.put(.finished(track: $0)) }
        return output
    }

    /// Runs until ``close()``, and until everything is handed on.
    func run() {
        while let word = self.words.take() {
            switch word {
            case .packet(let track, let packet): self.target.packet(track, packet)
            case .configuration(let track, let change): self.target.configuration(track, change)
            case .finished(let track): self.target.finished(track)
            }
        }
    }

    /// Nothing follows.
    func close() { self.words.close() }
}
