import Synchronization

/// What the program needs of a source's pictures: said by the program thread and by the room, heard by the decode thread.
package final class SourceNeed: Sendable {
    private let hidden = Atomic<Bool>(false)
    private let away = Atomic<Bool>(false)
    private let thrifty = Atomic<Bool>(false)
    private let plain = Atomic<Bool>(false)
    private let waker = Mutex<(@Sendable () -> Void)?>(nil)
    private let awayWatcher = Mutex<(@Sendable (Bool) -> Void)?>(nil)

    package init() {}

    /// Nobody sees the source, and nobody will within the next second: only its key pictures are decoded.
    package var isHidden: Bool { self.hidden.load(ordering: .relaxed) }

    package func setHidden(_ hidden: Bool) {
        if self.hidden.exchange(hidden, ordering: .relaxed), !hidden { self.wake() }
    }

    /// Neither seen nor heard, now and for the next second: what it sends may come a little later, as long as the jitter buffer
    /// makes up for it. A source that is passed through without a decoder is hidden, and not away.
    package var isAway: Bool { self.away.load(ordering: .relaxed) }

    package func setAway(_ isAway: Bool) {
        guard self.away.exchange(isAway, ordering: .relaxed) != isAway else { return }
        // Told inside the lock, as it is by then, so that two changes cannot arrive in the wrong order.
        self.awayWatcher.withLock { $0?(self.isAway) }
    }

    /// Calls `body` with ``isAway``, now and when it changes. Must not block, nor come back here.
    package func watchAway(_ body: @escaping @Sendable (Bool) -> Void) {
        self.awayWatcher.withLock {
            $0 = body
            body(self.isAway)
        }
    }

    /// The machine is overloaded: a hidden source comes back with its next key picture where that is cheaper.
    package var isThrifty: Bool { self.thrifty.load(ordering: .relaxed) }
    /// Its pictures are scaled down and the machine is overloaded: they are decoded without their loop filter.
    package var skipsLoopFilter: Bool { self.plain.load(ordering: .relaxed) }

    package func setThrift(_ isThrifty: Bool, skipsLoopFilter: Bool) {
        self.thrifty.store(isThrifty, ordering: .relaxed)
        self.plain.store(skipsLoopFilter, ordering: .relaxed)
    }

    /// Calls `body` when a hidden source is needed again.
    func watch(_ body: @escaping @Sendable () -> Void) { self.waker.withLock { $0 = body } }

    private func wake() { self.waker.withLock { $0 }?() }
}
