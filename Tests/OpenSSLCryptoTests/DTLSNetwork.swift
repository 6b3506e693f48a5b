import OpenSSLCrypto
import TestSupport

/// An end of a DTLS connection: a transport, or a peer that does what a transport does not.
protocol DTLSEnd: AnyObject {
    func start() -> [[UInt8]]
    func receive(_ datagram: [UInt8]) -> [[UInt8]]
    func handleTimeout() -> [[UInt8]]
    /// Whether this end waits for something.
    var isHandshaking: Bool { get }
}

extension DTLSTransport: DTLSEnd {
    var isHandshaking: Bool { self.state == .handshaking }

    /// A datagram of a peer that has only one address.
    func receive(_ datagram: [UInt8]) -> [[UInt8]] { self.receive(datagram, from: [1]) }

    var keys: SRTPKeys? {
        if case .connected(let keys) = self.state { keys } else { nil }
    }

    var failure: String? {
        if case .failed(let reason) = self.state { reason } else { nil }
    }
}

/// Carries datagrams between two ends, and loses, repeats and reorders some.
final class DTLSNetwork {
    /// Fraction of the datagrams that are lost, and of the others that are delivered twice.
    var loss = 0.0
    var duplicates = 0.0
    /// The next datagram is chosen at random from this number of the oldest waiting ones.
    var reordering = 1
    /// Replaces a datagram that was not lost; arguments are whether it is for the second end, and its bytes.
    var filter: (Bool, [UInt8]) -> [[UInt8]] = { [$1] }
    /// All datagrams that were sent, by whether they were for the second end.
    private(set) var sent: [(toSecond: Bool, bytes: [UInt8])] = []
    private var waiting: [(toSecond: Bool, bytes: [UInt8])] = []
    private var random: TestRandom

    init(seed: UInt64 = 1) { self.random = TestRandom(seed: seed) }

    func send(_ datagrams: [[UInt8]], toSecond: Bool) {
        for datagram in datagrams {
            self.sent.append((toSecond, datagram))
            if Double.random(in: 0..<1, using: &self.random) < self.loss { continue }
            let isTwice = Double.random(in: 0..<1, using: &self.random) < self.duplicates
            for _ in 0..<(isTwice ? 2 : 1) {
                for bytes in self.filter(toSecond, datagram) { self.waiting.append((toSecond, bytes)) }
            }
        }
    }

    /// Delivers everything, without timeouts.
    func deliver(_ first: some DTLSEnd, _ second: some DTLSEnd) {
        while !self.waiting.isEmpty {
            let next = Int.random(in: 0..<min(self.reordering, self.waiting.count), using: &self.random)
            let (toSecond, bytes) = self.waiting.remove(at: next)
            self.send(toSecond ? second.receive(bytes) : first.receive(bytes), toSecond: !toSecond)
        }
    }

    /// Starts both ends and delivers until neither waits for anything any more, with timeouts.
    ///
    /// - Returns: Whether both have stopped waiting within that number of timeouts.
    func run(_ first: some DTLSEnd, _ second: some DTLSEnd, timeouts: Int = 60) -> Bool {
        self.send(first.start(), toSecond: true)
        self.send(second.start(), toSecond: false)
        self.deliver(first, second)
        for _ in 0..<timeouts {
            if !first.isHandshaking, !second.isHandshaking { return true }
            // OpenSSL has its own clock. An end that has sent nothing has no timer.
            let clock = ContinuousClock(), start = clock.now
            while first.isHandshaking || second.isHandshaking {
                let (ours, theirs) = (first.handleTimeout(), second.handleTimeout())
                self.send(ours, toSecond: true)
                self.send(theirs, toSecond: false)
                if !ours.isEmpty || !theirs.isEmpty { break }
                if clock.now - start > .seconds(2) { return false }
            }
            self.deliver(first, second)
        }
        return !first.isHandshaking && !second.isHandshaking
    }
}
