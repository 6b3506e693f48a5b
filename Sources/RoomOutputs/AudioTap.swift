package import Control
import MediaTypes
import Program
import Synchronization

/// Sends the program's audio to clients such as speech recognizers. Without clients, a block of audio costs one check.
package final class AudioTap: Sendable {
    private struct State {
        var clients: [Client] = []
        var filter = SpeechDownsampler()
        var isOver = false
    }

    private struct Client {
        let stream: AudioTapStream
        /// Position of the sample that the client gets next, in sample pairs.
        var next: Int64
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
    /// - Parameters:
    ///   - position: Position up to which the program's audio is mixed, in sample pairs.
    ///   - isPaused: Whether the machine is overloaded, so that no client gets the audio.
    /// - Throws: `limitExceeded` if there are ``mostClients`` already or `isPaused` is set, `roomExited` if the program has
    ///   ended.
    package func open(at position: Int64, isPaused: Bool) throws(ControlFailure) -> AudioTapStream {
        guard !isPaused else {
            throw .limitExceeded("the machine is overloaded", fix: "try again when the alarm is cleared")
        }
        return try self.state.withLock { state throws(ControlFailure) in
            guard !state.isOver else {
                throw .roomExited("the program has ended", fix: "connect to the room's next worker, if it has one")
            }
            state.clients.removeAll { $0.stream.isOver }
            guard state.clients.count < Self.mostClients else {
                throw .limitExceeded(
                    "\(Self.mostClients) clients already receive the program's audio", fix: "close one of them")
            }
            // A whole millisecond.
            let stream = AudioTapStream(firstPosition: (position / 48) * 48 + Self.lead)
            state.clients.append(Client(stream: stream, next: stream.firstPosition))
            self.isUsed.store(true, ordering: .relaxed)
            return stream
        }
    }

    /// Receives the next block of the program. Called on the program thread. A client for which samples are missing is
    /// disconnected.
    ///
    /// - Parameters:
    ///   - position: Position of the first sample pair.
    ///   - isPaused: Whether the machine is overloaded: then all clients are disconnected.
    package func put(_ samples: [Float], position: Int64, isPaused: @autoclosure () -> Bool) {
        guard self.isUsed.load(ordering: .relaxed) else { return }
        if isPaused() { return self.close(forever: false) }
        let (first, speech, clients) = self.state.withLock { state -> (Int64, [Int16], [Client]) in
            state.clients.removeAll { $0.stream.isOver }
            if state.clients.isEmpty {
                self.isUsed.store(false, ordering: .relaxed)
                return (0, [], [])
            }
            let (first, speech) = state.filter.convert(samples, at: position)
            let clients = state.clients
            let end = first &+ Int64(speech.count) &* Int64(SpeechDownsampler.ratio)
            for index in clients.indices { state.clients[index].next = max(clients[index].next, end) }
            return (first, speech, clients)
        }
        guard !speech.isEmpty else { return }
        for client in clients {
            // The client was added after its first sample was due, or the program has skipped audio: the time of every
            // later sample would be wrong.
            if first > client.next { client.stream.end() }
            client.stream.send(Self.bytes(speech, first, from: client.next))
        }
    }

    /// The program has ended: ends all clients' streams.
    package func end() { self.close(forever: true) }

    private func close(forever: Bool) {
        let streams = self.state.withLock { state in
            if forever { state.isOver = true }
            defer { state.clients = [] }
            self.isUsed.store(false, ordering: .relaxed)
            return state.clients.map(\.stream)
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
