package import HTTPListener
import NIOCore
import Synchronization

/// One client that receives the program's audio over a WebSocket. Binary messages contain 16-bit samples, little endian,
/// one channel of 16 kHz; each message has what has accumulated since the last one.
///
/// A client that is more than ``mostBytes`` behind is disconnected, because a gap would shift all later samples.
package final class AudioTapStream: ReplyStream {
    /// Maximum number of bytes that wait for a client: 4 seconds of audio.
    package static let mostBytes = 128_000

    private struct State {
        var waiting: [UInt8] = []
        /// Whether the stream has ended, and whether it ended because the client is too slow.
        var isOver = false
        var isTooSlow = false
        /// Whether the connection waits for a call of `more`.
        var isIdle = false
        var more: (@Sendable () -> Void)?
        var place: FollowerSlots.Place?
    }

    /// Position of the first sample in the program, in sample pairs at 48 kHz.
    package let firstPosition: Int64
    private let state = Mutex(State())

    package init(firstPosition: Int64) { self.firstPosition = firstPosition }

    /// Keeps a permission until the client has left.
    func hold(_ place: FollowerSlots.Place) { self.state.withLock { $0.place = place } }

    /// Whether no more audio is wanted.
    package var isOver: Bool { self.state.withLock { $0.isOver } }

    /// Adds audio. Called on the program thread; does not block.
    package func send(_ bytes: [UInt8]) {
        let more = self.state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isOver, !bytes.isEmpty else { return nil }
            if state.waiting.count + bytes.count > Self.mostBytes {
                (state.isOver, state.isTooSlow, state.waiting) = (true, true, [])
            } else {
                state.waiting += bytes
            }
            defer { state.isIdle = false }
            return state.isIdle ? state.more : nil
        }
        more?()
    }

    /// Ends the stream after the audio that waits.
    package func end() {
        let more = self.state.withLock { state -> (@Sendable () -> Void)? in
            state.isOver = true
            return state.more
        }
        more?()
    }

    package func next() -> ReplyStreamPiece {
        self.state.withLock { state in
            guard state.waiting.isEmpty else {
                defer { state.waiting.removeAll(keepingCapacity: true) }
                return .bytes(ByteBuffer(bytes: state.waiting))
            }
            if state.isOver { return state.isTooSlow ? .tooSlow : .end }
            state.isIdle = true
            return .later
        }
    }

    package func whenMore(_ body: @escaping @Sendable () -> Void) { self.state.withLock { $0.more = body } }

    package func cancel() {
        self.state.withLock { state in
            (state.isOver, state.waiting, state.more, state.place) = (true, [], nil, nil)
        }
    }
}
