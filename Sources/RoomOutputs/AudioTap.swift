package import Control
import MediaTypes
import Program
import Synchronization

/// Sends the program's audio to clients such as speech recognizers. Without clients, a block of audio costs one check.
package final class AudioTap: Sendable {
    private struct State {
        var streams: [AudioTapStream] = []
        var filter = SpeechDownsampler()
        var isOver = false
    }

    /// Maximum number of clients.
    package static let mostClients = 4
    /// How far ahead of the audio that is mixed next a client's audio begins, in sample pairs: 100 ms, so that the
    /// filter is settled and the position of the first sample is known before it exists. A multiple of 48.
    private static let lead: Int64 = 4_800

    private let isUsed = Atomic(false)
    private let state = Mutex(State())

    package init() {}

    /// Adds a client.
    ///
    /// - Parameter position: Position up to which the program's audio is mixed, in sample pairs.
    /// - Returns: `nil` if there are ``mostClients`` already, or if the program has ended.
    package func open(at position: Int64) -> AudioTapStream? {
        self.state.withLock { state in
            state.streams.removeAll(where: \.isOver)
            guard !state.isOver, state.streams.count < Self.mostClients else { return nil }
            // A whole millisecond.
            let stream = AudioTapStream(firstPosition: (position / 48) * 48 + Self.lead)
            state.streams.append(stream)
            self.isUsed.store(true, ordering: .relaxed)
            return stream
        }
    }

    /// Receives the next block of the program. Called on the program thread.
    ///
    /// - Parameters:
    ///   - position: Position of the first sample pair.
    ///   - isPaused: Whether the machine is overloaded: then all clients are disconnected.
    package func put(_ samples: [Float], position: Int64, isPaused: @autoclosure () -> Bool) {
        guard self.isUsed.load(ordering: .relaxed) else { return }
        if isPaused() { return self.close(forever: false) }
        let (first, speech, streams) = self.state.withLock { state -> (Int64, [Int16], [AudioTapStream]) in
            state.streams.removeAll(where: \.isOver)
            if state.streams.isEmpty {
                self.isUsed.store(false, ordering: .relaxed)
                return (0, [], [])
            }
            let (first, speech) = state.filter.convert(samples, at: position)
            return (first, speech, state.streams)
        }
        for stream in streams { stream.send(Self.bytes(speech, first, from: stream.firstPosition)) }
    }

    /// The program has ended: ends all clients' streams.
    package func end() { self.close(forever: true) }

    private func close(forever: Bool) {
        let streams = self.state.withLock { state in
            if forever { state.isOver = true }
            defer { state.streams = [] }
            self.isUsed.store(false, ordering: .relaxed)
            return state.streams
        }
        for stream in streams { stream.end() }
    }

    /// The samples from a position on, as little-endian bytes.
    private static func bytes(_ samples: [Int16], _ first: Int64, from position: Int64) -> [UInt8] {
        let ratio = Int64(SpeechDownsampler.ratio)
        let skipped = min(Int64(samples.count), max(0, (position &- first &+ ratio &- 1) / ratio))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(samples.count * 2)
        for sample in samples.dropFirst(Int(skipped)) {
            bytes.append(UInt8(truncatingIfNeeded: sample))
            bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
        }
        return bytes
    }
}
