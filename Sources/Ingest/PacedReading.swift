package import MediaTypes
package import NIOCore
import Libc

/// Reads the socket of one publisher in larger pieces instead of packet by packet; see ``ReadScheduler``.
///
/// Bound to the channel's event loop. Life cycle: created when the connection publishes; ``arrival(of:newest:read:)``
/// and ``received(_:missing:isAway:at:)`` with every read, whether this type or the channel made it; then ``end()``.
package final class PacedReading {
    private let channel: any Channel
    private let grid: ReadTimer
    private let clock: any MonotonicClock
    private let number: Int
    private let socket: NIOBSDSocket.Handle?
    /// Hub of the publisher's source; nil: none.
    private let hub: SourceHub?
    private var pacer: ReadScheduler?
    private var estimate: ArrivalEstimate
    /// True if the subscribers know that some of the source's data may wait in the socket.
    private var isBehind = false
    /// Back-pressure: while true, the timer does not read the socket.
    package var isPaused = false {
        didSet { if self.isPaused { self.noteCaughtUp() } }
    }

    /// Starts to pace the reads of a publisher's channel.
    ///
    /// - Parameters:
    ///   - number: Number of the connection; it identifies the connection at the timer.
    ///   - clock: Gives arrival times in nanoseconds; the ``ReadTimer`` itself runs on the event loop's time.
    package init(
        _ channel: any Channel, number: Int, patience: ReadDelayLimits, grid: ReadTimer, clock: any MonotonicClock,
        hub: SourceHub? = nil
    ) {
        self.channel = channel
        self.grid = grid
        self.clock = clock
        self.number = number
        self.hub = hub
        self.estimate = ArrivalEstimate(now: clock.now())
        self.socket = SocketReader.socket(of: channel)
        // Large reads: the cost of ingest is system calls, not bytes.
        self.set(.recvAllocator, FixedSizeRecvByteBufferAllocator(capacity: ReadScheduler.readBytes))
        guard patience.usual > 0 else { return }
        self.pacer = ReadScheduler(
            patience: patience, number: number, interval: ReadTimer.interval.nanoseconds, now: clock.now())
        // Active until ``end()``, or until the socket option fails because the socket is closed.
        grid.join(number, on: channel.eventLoop) { turn in self.look(turn) }
    }

    /// True while the socket is read on the timer, because no viewer sees or hears the source. Data then waits in the
    /// socket on purpose, and its arrival is estimated by ``arrival(of:newest:read:)``.
    package var isAway: Bool { self.pacer?.isAway ?? false }

    /// Estimates when the next message of a read arrived; see ``ArrivalEstimate``.
    package func arrival(of timestamp: UInt32, newest: UInt32, read now: Int64) -> Int64 {
        self.estimate.arrival(of: timestamp, newest: newest, read: now)
    }

    /// Records a read of `bytes` bytes at `now` whose messages have been delivered; `missing` is the number of bytes
    /// that the message in progress still lacks.
    package func received(_ bytes: Int, missing: Int, isAway: Bool, at now: Int64) {
        if let mark = self.pacer?.received(bytes, missing: missing, isAway: isAway, now: now) { self.set(mark: mark) }
        if bytes < ReadScheduler.readBytes {
            self.noteRead(until: now)
        } else if !self.isAway {
            // A full read may have left data in the socket whose arrival time is unknown.
            self.noteCaughtUp()
        }
    }

    /// Ends the pacing when the connection no longer publishes, so that its commands are read at once.
    package func end() {
        guard let pacer = self.pacer else { return }
        self.leave()
        if pacer.mark != 1 { self.set(mark: 1) }
    }

    /// Does what is due at a tick of the timer.
    ///
    /// - Returns: Number of ticks until the next call.
    private func look(_ turn: Int) -> Int {
        self.work(turn)
        return self.pacer?.ticksToWait(now: self.clock.now()) ?? 1
    }

    private func work(_ turn: Int) {
        // A viewer sees or hears the source again: read everything that waits, then let the socket notify as usual.
        if self.isAway, !self.isPaused, self.hub?.isPatient == false {
            self.read()
            guard self.isAway else { return }
            if let mark = self.pacer?.cameBack() { self.set(mark: mark) }
            return self.noteCaughtUp()
        }
        switch self.pacer?.looked(turn: turn, now: self.clock.now()) {
        case .nothing?, nil: break
        case .tell?: self.readOverdue()
        case .read?: if !self.isPaused { self.read() }
        }
    }

    /// Calls ``received(_:missing:isAway:at:)`` through the channel's pipeline.
    private func read() {
        guard let socket = self.socket else { return self.tell() }
        let now = self.clock.now()
        switch self.grid.reader.read(socket, of: self.channel) {
        case nil: self.tell()
        case 0?:
            self.pacer?.foundNothing()
            self.noteRead(until: now)
        default: break
        }
    }

    /// Reads the bytes that have waited for as long as they may. This read saves a wake-up by the socket, and saves lowering and
    /// raising the socket's low-water mark. If no bytes wait, then the socket reports the next bytes at once.
    private func readOverdue() {
        guard !self.isPaused, let socket = self.socket, let count = self.grid.reader.read(socket, of: self.channel),
            count > 0
        else { return self.tell() }
    }

    /// Records that everything that arrived before `now` has been delivered.
    private func noteRead(until now: Int64) {
        self.estimate.looked(at: now)
        guard self.isAway else { return self.noteCaughtUp() }
        self.isBehind = true
        self.hub?.noteRead(until: now)
    }

    /// Tells the subscribers that no data waits in the socket any more.
    private func noteCaughtUp() {
        guard self.isBehind else { return }
        self.isBehind = false
        self.hub?.noteRead(until: nil)
    }

    private func tell() {
        if let mark = self.pacer?.told() { self.set(mark: mark) }
    }

    private func leave() {
        self.pacer = nil
        self.noteCaughtUp()
        self.grid.leave(self.number)
    }

    private func set(mark: Int) {
        let option = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: SO_RCVLOWAT))
        // The socket is closed, or the channel has no such option: then bytes are read as they arrive.
        if !self.set(option, SocketOptionValue(mark)) { self.leave() }
    }

    @discardableResult
    private func set<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> Bool {
        do {
            try self.channel.syncOptions?.setOption(option, value: value)
            return true
        } catch {
            return false
        }
    }
}
