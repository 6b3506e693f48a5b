package import MediaTypes
package import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// One publisher's socket, whose bytes are read together; see ``ReadPacer``.
///
/// Bound to the channel's event loop. Life: made when it publishes, ``arrival(of:newest:read:)`` and
/// ``received(_:missing:isAway:at:)`` with every read, its own and the channel's, ``end()``.
package final class PacedReading {
    private let channel: any Channel
    private let grid: ReadGrid
    private let clock: any MonotonicClock
    private let number: Int
    private let socket: NIOBSDSocket.Handle?
    /// Whose source it is; nil: nobody asks for it.
    private let hub: SourceHub?
    private var pacer: ReadPacer?
    private var estimate: ArrivalEstimate
    /// Those who read the source know that some of it may wait.
    private var isBehind = false
    /// Back-pressure: nothing is read, whatever the clock says.
    package var isPaused = false {
        didSet { if self.isPaused { self.noteCaughtUp() } }
    }

    /// - Parameters:
    ///   - number: Names it on the grid.
    ///   - clock: Nanoseconds; the grid has the event loop's time.
    package init(
        _ channel: any Channel, number: Int, patience: ReadPatience, grid: ReadGrid, clock: any MonotonicClock,
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
        self.set(.recvAllocator, FixedSizeRecvByteBufferAllocator(capacity: ReadPacer.readBytes))
        guard patience.usual > 0 else { return }
        self.pacer = ReadPacer(
            patience: patience, number: number, interval: ReadGrid.interval.nanoseconds, now: clock.now())
        // Until ``end()``, or until its socket says that it is closed.
        grid.join(number, on: channel.eventLoop) { turn in self.look(turn) }
    }

    /// What is read now has been left waiting on purpose, so ``arrival(of:newest:read:)`` knows better when it came.
    package var isAway: Bool { self.pacer?.isAway ?? false }

    /// When the next message of a read came; see ``ArrivalEstimate``.
    package func arrival(of timestamp: UInt32, newest: UInt32, read now: Int64) -> Int64 {
        self.estimate.arrival(of: timestamp, newest: newest, read: now)
    }

    /// Bytes have been read at `now` and what they hold is handed out; `missing` more must come before the message in progress is
    /// whole.
    package func received(_ bytes: Int, missing: Int, isAway: Bool, at now: Int64) {
        if let mark = self.pacer?.received(bytes, missing: missing, isAway: isAway, now: now) { self.set(mark: mark) }
        if bytes < ReadPacer.readBytes {
            self.noteRead(until: now)
        } else if !self.isAway {
            // A full read may have left something, of which nobody knows when it came.
            self.noteCaughtUp()
        }
    }

    /// It publishes no more: what it says is an answer to us, or a good-bye.
    package func end() {
        guard let pacer = self.pacer else { return }
        self.leave()
        if pacer.mark != 1 { self.set(mark: 1) }
    }

    private func look(_ turn: Int) {
        // Somebody has begun to look: all that waits is read now, and what comes from here on is told of.
        if self.isAway, !self.isPaused, self.hub?.isPatient == false {
            self.read()
            guard self.isAway else { return }
            if let mark = self.pacer?.cameBack() { self.set(mark: mark) }
            return self.noteCaughtUp()
        }
        switch self.pacer?.looked(turn: turn, now: self.clock.now()) {
        case .nothing?, nil: break
        case .tell?: self.tell()
        case .read?: if !self.isPaused { self.read() }
        }
    }

    /// ``received(_:missing:isAway:at:)`` is called from inside.
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

    /// All that came before `now` has been handed out.
    private func noteRead(until now: Int64) {
        self.estimate.looked(at: now)
        guard self.isAway else { return self.noteCaughtUp() }
        self.isBehind = true
        self.hub?.noteRead(until: now)
    }

    /// Nothing waits, or what waits counts as silence.
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
        // Closed already, or not a socket that has such a mark: it is read as its bytes come.
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
