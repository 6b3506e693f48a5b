package import NIOCore
import Synchronization

/// A cache of recently opened files and the pieces read from them: a file that many viewers request within a second is
/// seldom opened and read again, and cached pieces are sent without switching threads.
///
/// A generation of entries ends after one second or when it is full. An entry that is not used during a whole
/// generation is dropped. A cached file counts as unchanged if its size is unchanged. A published segment never
/// changes, but the newest sheet of still images is rewritten with each image.
package final class FilePieceCache: Sendable {
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
        /// True while a call of ``FilePieceCache/tidy(now:)`` is scheduled.
        var isTidied = false
    }

    /// Numbers of bytes and of files at which a generation is full; the cache holds two generations.
    private let limits: (bytes: Int, files: Int)
    private let life: TimeAmount
    private let state = Mutex(State(begun: .uptimeNanoseconds(0)))

    package init(bytes: Int = 2 << 20, files: Int = 32, life: TimeAmount = .seconds(1)) {
        self.limits = (bytes, files)
        self.life = life
    }

    /// Returns the file at `path` if it was opened recently; otherwise nil.
    ///
    /// - Parameters:
    ///   - size: Current size in bytes; a cached file of another size is not used, because it has been replaced.
    ///   - now: The current time; must not be earlier than in the previous call.
    package func file(_ path: String, size: Int, now: NIODeadline) -> ServedFile? {
        self.state.withLock { state in
            self.age(&state, now)
            if let file = state.young.files[path] { return file.size == size ? file : nil }
            guard let file = state.old.files[path], file.size == size else { return nil }
            Self.keep(file, path, &state)
            return file
        }
    }

    /// Adds a file that was just opened to the cache.
    ///
    /// - Returns: True if the caller must call ``tidy(on:)``.
    @discardableResult
    package func opened(_ file: ServedFile, path: String) -> Bool {
        self.state.withLock { state in
            self.ageIfFull(&state)
            Self.keep(file, path, &state)
            defer { state.isTidied = true }
            return !state.isTidied
        }
    }

    /// Drops unused entries. It is called even while there are no requests, because a deleted segment takes up disk
    /// space as long as its file is open.
    ///
    /// - Returns: True if entries are left; then the function must be called again.
    package func tidy(now: NIODeadline) -> Bool {
        self.state.withLock { state in
            self.age(&state, now)
            state.isTidied = !state.young.isEmpty || !state.old.isEmpty
            return state.isTidied
        }
    }

    /// Calls ``tidy(now:)`` at intervals of ``life`` until no entries are left.
    func tidy(on loop: any EventLoop) {
        loop.scheduleTask(in: self.life) { [weak self] in
            guard let self, self.tidy(now: .now()) else { return }
            self.tidy(on: loop)
        }
    }

    /// Returns the bytes of `range` of a file if they were read recently; otherwise nil.
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
