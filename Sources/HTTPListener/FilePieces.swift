package import NIOCore
import Synchronization

/// Files that were read a moment ago, and pieces of them: what many viewers ask for at once is opened and read once, and
/// sent without another thread.
///
/// What was not used for one generation goes with the next, and a generation ends after a second or when it is full. The
/// bytes of a name are taken to be the same for as long, and as long as there are as many: a published segment never
/// changes, but the newest sheet of stills is written anew with each still.
package final class FilePieces: Sendable {
    private struct Key: Hashable {
        let file: UInt64
        let range: Range<Int>
    }

    private struct Generation {
        var files: [String: ServedFile] = [:]
        var pieces: [Key: ByteBuffer] = [:]
        var bytes = 0

        var isEmpty: Bool { self.files.isEmpty && self.pieces.isEmpty }
    }

    private struct State {
        var young = Generation()
        var old = Generation()
        var begun: NIODeadline
        /// Somebody will call ``tidy(now:)``.
        var isTidied = false
    }

    /// Bytes and files of a generation; there are two.
    private let limits: (bytes: Int, files: Int)
    private let life: TimeAmount
    private let state = Mutex(State(begun: .uptimeNanoseconds(0)))

    package init(bytes: Int = 2 << 20, files: Int = 32, life: TimeAmount = .seconds(1)) {
        self.limits = (bytes, files)
        self.life = life
    }

    /// The file at `path`, if it was opened lately.
    ///
    /// - Parameters:
    ///   - size: Bytes it has now; one of another size has been replaced since.
    ///   - now: Not earlier than in the call before.
    package func file(_ path: String, size: Int, now: NIODeadline) -> ServedFile? {
        self.state.withLock { state in
            self.age(&state, now)
            if let file = state.young.files[path] { return file.size == size ? file : nil }
            guard let file = state.old.files[path], file.size == size else { return nil }
            Self.keep(file, path, &state)
            return file
        }
    }

    /// - Returns: Whether ``tidy(on:)`` has to be called.
    @discardableResult
    package func opened(_ file: ServedFile, path: String) -> Bool {
        self.state.withLock { state in
            self.ageIfFull(&state)
            Self.keep(file, path, &state)
            defer { state.isTidied = true }
            return !state.isTidied
        }
    }

    /// Lets go of what was not used, also where nobody asks for anything any more: a deleted segment takes its place on the disk for
    /// as long as it is open.
    ///
    /// - Returns: Whether anything is left, for which this must be called again.
    package func tidy(now: NIODeadline) -> Bool {
        self.state.withLock { state in
            self.age(&state, now)
            state.isTidied = !state.young.isEmpty || !state.old.isEmpty
            return state.isTidied
        }
    }

    /// Calls ``tidy(now:)`` once a generation until nothing is left.
    func tidy(on loop: any EventLoop) {
        loop.scheduleTask(in: self.life) { [weak self] in
            guard let self, self.tidy(now: .now()) else { return }
            self.tidy(on: loop)
        }
    }

    /// Bytes of a file that were read lately.
    package func bytes(of file: ServedFile, _ range: Range<Int>) -> ByteBuffer? {
        let key = Key(file: file.number, range: range)
        return self.state.withLock { state in
            if let bytes = state.young.pieces[key] { return bytes }
            guard let bytes = state.old.pieces[key] else { return nil }
            Self.keep(bytes, key, &state)
            return bytes
        }
    }

    package func read(_ bytes: ByteBuffer, of file: ServedFile, _ range: Range<Int>) {
        self.state.withLock { state in
            self.ageIfFull(&state)
            Self.keep(bytes, Key(file: file.number, range: range), &state)
        }
    }

    private static func keep(_ file: ServedFile, _ path: String, _ state: inout State) {
        state.young.files[path] = file
    }

    private static func keep(_ bytes: ByteBuffer, _ key: Key, _ state: inout State) {
        guard state.young.pieces.updateValue(bytes, forKey: key) == nil else { return }
        state.young.bytes += bytes.readableBytes
    }

    private func age(_ state: inout State, _ now: NIODeadline) {
        guard now - state.begun >= self.life else { return self.ageIfFull(&state) }
        state.old = state.young
        state.young = Generation()
        state.begun = now
    }

    private func ageIfFull(_ state: inout State) {
        guard state.young.bytes >= self.limits.bytes || state.young.files.count >= self.limits.files else { return }
        state.old = state.young
        state.young = Generation()
    }
}
