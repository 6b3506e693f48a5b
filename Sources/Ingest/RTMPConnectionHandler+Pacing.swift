import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A publisher's bytes are read together; see ``ReadPacer``.
extension RTMPConnectionHandler {
    /// It publishes.
    ///
    /// - Parameter patience: Nanoseconds for which its bytes may wait.
    func beginPacing(_ patience: Int64) {
        guard patience > 0, let loop = self.context?.eventLoop else { return }
        self.pacer = ReadPacer(patience: patience, now: self.core.clock.now())
        self.core.grid.join(self.number, on: loop) { [weak self] in
            guard let self, let mark = self.pacer?.waited(now: self.core.clock.now()) else { return }
            self.set(mark: mark)
        }
    }

    /// It publishes no more: what it says is an answer to us, or a good-bye.
    func endPacing() {
        guard let pacer = self.pacer else { return }
        self.pacer = nil
        self.core.grid.leave(self.number)
        if pacer.mark != 1 { self.set(mark: 1) }
    }

    func pace(_ bytes: Int, now: Int64) {
        if let mark = self.pacer?.received(bytes, missing: self.session.missingBytes, now: now) { self.set(mark: mark) }
    }

    private func set(mark: Int) {
        guard let options = self.context?.channel.syncOptions else { return }
        do {
            try options.setOption(
                ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: SO_RCVLOWAT)),
                value: SocketOptionValue(mark))
        } catch {
            // Closed already, or not a socket that has such a mark: it is read as its bytes come.
            self.pacer = nil
            self.core.grid.leave(self.number)
        }
    }
}
