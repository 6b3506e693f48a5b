package import MediaTypes
package import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// One publisher's socket, whose bytes are read together; see ``ReadPacer``.
///
/// Bound to the channel's event loop. Life: made when it publishes, ``received(_:missing:isAway:)`` with every read, its own and the
/// channel's, ``end()``.
package final class PacedReading {
    /// What one read takes from a publisher, in bytes.
    package static let readSize = 2 * ReadPacer.mostBytes

    private let channel: any Channel
    private let grid: ReadGrid
    private let clock: any MonotonicClock
    private let number: Int
    private let socket: NIOBSDSocket.Handle?
    private var pacer: ReadPacer?
    /// Back-pressure: nothing is read, whatever the clock says.
    package var isPaused = false

    /// - Parameters:
    ///   - number: Names it on the grid.
    ///   - clock: Nanoseconds; the grid has the event loop's time.
    package init(
        _ channel: any Channel, number: Int, patience: ReadPatience, grid: ReadGrid, clock: any MonotonicClock
    ) {
        self.channel = channel
        self.grid = grid
        self.clock = clock
        self.number = number
        self.socket = SocketReader.socket(of: channel)
        // Large reads: the cost of ingest is system calls, not bytes.
        self.set(.recvAllocator, FixedSizeRecvByteBufferAllocator(capacity: Self.readSize))
        guard patience.usual > 0 else { return }
        self.pacer = ReadPacer(
            patience: patience, number: number, interval: ReadGrid.interval.nanoseconds, now: clock.now())
        // Until ``end()``, or until its socket says that it is closed.
        grid.join(number, on: channel.eventLoop) { turn in self.look(turn) }
    }

    /// Bytes have been read, and `missing` more must come before the message in progress is whole.
    package func received(_ bytes: Int, missing: Int, isAway: Bool) {
        let now = self.clock.now()
        if let mark = self.pacer?.received(bytes, missing: missing, isAway: isAway, now: now) { self.set(mark: mark) }
    }

    /// It publishes no more: what it says is an answer to us, or a good-bye.
    package func end() {
        guard let pacer = self.pacer else { return }
        self.leave()
        if pacer.mark != 1 { self.set(mark: 1) }
    }

    private func look(_ turn: Int) {
        switch self.pacer?.looked(turn: turn, now: self.clock.now()) {
        case .nothing?, nil: break
        case .tell?: self.tell()
        case .read?: if !self.isPaused { self.read() }
        }
    }

    /// ``received(_:missing:isAway:)`` is called from inside.
    private func read() {
        guard let socket = self.socket, self.grid.reader.read(socket, of: self.channel) else { return self.tell() }
    }

    private func tell() {
        if let mark = self.pacer?.told() { self.set(mark: mark) }
    }

    private func leave() {
        self.pacer = nil
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
