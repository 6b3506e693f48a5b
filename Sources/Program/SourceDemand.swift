import Synchronization

/// What the program needs of a source: set by the program thread and the room, read by the decode thread.
package final class SourceDemand: Sendable {
    private let hidden = Atomic<Bool>(false)
    private let away = Atomic<Bool>(false)
    private let thrifty = Atomic<Bool>(false)
    private let plain = Atomic<Bool>(false)
    private let kept = Atomic<Int64>(.min)
    private let waker = Mutex<(@Sendable () -> Void)?>(nil)
    private let awayWatcher = Mutex<(@Sendable (Bool) -> Void)?>(nil)

    package init() {}

    /// Whether the decoded video of the source is not needed now and within the next second, usually because it is not
    /// visible. Then its key frames are decoded, and other frames are withheld; see ``HiddenSourceQueue``.
    package var isHidden: Bool { self.hidden.load(ordering: .relaxed) }

    package func setHidden(_ hidden: Bool) {
        if self.hidden.exchange(hidden, ordering: .relaxed), !hidden { self.wake() }
    }

    /// Whether the source is neither visible nor audible, now and within the next second. Its packets may then be read
    /// later, within the jitter buffer. A source that is passed through without decoding is hidden, but not away.
    package var isAway: Bool { self.away.load(ordering: .relaxed) }

    package func setAway(_ isAway: Bool) {
        guard self.away.exchange(isAway, ordering: .relaxed) != isAway else { return }
        // Called inside the lock and with the current value, so that two changes cannot arrive in the wrong order.
        self.awayWatcher.withLock { $0?(self.isAway) }
    }

    /// Calls `body` with ``isAway``, now and after each change, on the thread that makes the change. Replaces an
    /// earlier `body`. `body` must not block or call this object.
    package func watchAway(_ body: @escaping @Sendable (Bool) -> Void) {
        self.awayWatcher.withLock {
            $0 = body
            body(self.isAway)
        }
    }

    /// Requests that all frames of the source be decoded up to a program time in nanoseconds, also while it is not visible:
    /// a page shows it. Replaces an earlier request. May be called from any thread.
    package func keepDecoded(until time: Int64) { self.kept.store(time, ordering: .relaxed) }

    /// Whether ``keepDecoded(until:)`` requests all frames at this program time, in nanoseconds.
    func isKeptDecoded(at time: Int64) -> Bool { time < self.kept.load(ordering: .relaxed) }

    /// Whether the machine is overloaded, so that noise is not suppressed, and a hidden source that becomes visible may
    /// wait for its next key frame, if that is cheaper than decoding the frames before it.
    package var isThrifty: Bool { self.thrifty.load(ordering: .relaxed) }
    /// Whether to decode the source's video without the loop filter, because the machine is overloaded and the video is
    /// scaled down.
    package var skipsLoopFilter: Bool { self.plain.load(ordering: .relaxed) }

    package func setReduced(_ isThrifty: Bool, skipsLoopFilter: Bool) {
        self.thrifty.store(isThrifty, ordering: .relaxed)
        self.plain.store(skipsLoopFilter, ordering: .relaxed)
    }

    /// Calls `body` when the source is not hidden any more. Replaces an earlier `body`.
    func watch(_ body: @escaping @Sendable () -> Void) { self.waker.withLock { $0 = body } }

    private func wake() { self.waker.withLock { $0 }?() }
}
