import CLibAV
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Ends a call of libavformat that blocks: at once when somebody asks for it, at a deadline, or when it reads without end.
///
/// libavformat looks at it at least ten times a second while it waits for the network. Any thread may use it.
package final class StreamInterrupt: Sendable {
    private let isRaised = Atomic(false)
    /// Nanoseconds of CLOCK_MONOTONIC; 0: none.
    private let deadline = Atomic<Int64>(0)
    /// How often libavformat has looked since ``begin()``.
    private let looks = Atomic<Int>(0)
    /// It looks before each read of the network, of a datagram at most: 64 MiB in one call.
    private static let mostLooks = (64 << 20) / 1_316

    package init() {}

    /// Ends whatever is waited for now or later.
    package func raise() { self.isRaised.store(true, ordering: .releasing) }

    package var wasRaised: Bool { self.isRaised.load(ordering: .acquiring) }

    /// What takes longer than so many nanoseconds from now is ended; nil: it may take for ever.
    package func allow(_ nanoseconds: Int64?) {
        let due = nanoseconds.map { max(1, Self.now() &+ $0) } ?? 0
        self.deadline.store(due, ordering: .releasing)
    }

    /// The deadline has passed.
    package var isOverdue: Bool {
        let due = self.deadline.load(ordering: .acquiring)
        return due != 0 && Self.now() >= due
    }

    /// A call begins.
    func begin() { self.looks.store(0, ordering: .relaxed) }

    /// One call has read so much that nothing can come of it any more.
    package var isOverrun: Bool { self.looks.load(ordering: .relaxed) > Self.mostLooks }

    private func look() -> Bool {
        self.looks.add(1, ordering: .relaxed)
        return self.wasRaised || self.isOverdue || self.isOverrun
    }

    private static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// For `AVFormatContext.interrupt_callback`. Whoever gets it keeps this object alive.
    var callback: AVIOInterruptCB {
        unsafe AVIOInterruptCB(
            callback: { context in
                guard let context = unsafe context else { return 0 }
                let interrupt = unsafe Unmanaged<StreamInterrupt>.fromOpaque(context).takeUnretainedValue()
                return interrupt.look() ? 1 : 0
            }, opaque: Unmanaged.passUnretained(self).toOpaque())
    }
}
