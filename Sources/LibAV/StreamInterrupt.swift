import CLibAV
import Synchronization
import Libc

/// Ends a blocking call of libavformat: on request, at a deadline, or if the call reads without end.
///
/// libavformat polls this object at least ten times per second while it waits for the network. Any thread may use it.
package final class StreamInterrupt: Sendable {
    private let isRaised = Atomic(false)
    /// Deadline in nanoseconds of CLOCK_MONOTONIC; 0: none.
    private let deadline = Atomic<Int64>(0)
    /// Number of polls since ``begin()``.
    private let looks = Atomic<Int>(0)
    /// Maximum number of polls in one call. libavformat polls before each read of one datagram at most, so this limits
    /// a call to 64 MiB.
    private static let mostLooks = (64 << 20) / 1_316

    package init() {}

    /// Ends the current call and all later ones.
    package func raise() { self.isRaised.store(true, ordering: .releasing) }

    package var wasRaised: Bool { self.isRaised.load(ordering: .acquiring) }

    /// Sets a deadline in nanoseconds from now; `nil` removes it.
    package func allow(_ nanoseconds: Int64?) {
        let due = nanoseconds.map { max(1, Self.now() &+ $0) } ?? 0
        self.deadline.store(due, ordering: .releasing)
    }

    /// Whether the deadline has passed.
    package var isOverdue: Bool {
        let due = self.deadline.load(ordering: .acquiring)
        return due != 0 && Self.now() >= due
    }

    /// Resets the poll counter at the beginning of a call.
    func begin() { self.looks.store(0, ordering: .relaxed) }

    /// Whether one call has read so much that it cannot succeed any more.
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

    /// Callback for `AVFormatContext.interrupt_callback`. The owner of the context must keep this object alive.
    var callback: AVIOInterruptCB {
        unsafe AVIOInterruptCB(
            callback: { context in
                guard let context = unsafe context else { return 0 }
                let interrupt = unsafe Unmanaged<StreamInterrupt>.fromOpaque(context).takeUnretainedValue()
                return interrupt.look() ? 1 : 0
            }, opaque: Unmanaged.passUnretained(self).toOpaque())
    }
}
