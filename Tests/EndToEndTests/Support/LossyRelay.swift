import Foundation
import Glibc
import Synchronization
import TestSupport

/// A UDP relay between one WebRTC publisher and the room, with delay, loss and reordering. It runs until ``stop()``.
///
/// The publisher sends to ``port``. Loss and reordering apply to SRTP and SRTCP from ``begin()`` on, and not to STUN and
/// DTLS, so that every run connects. Which packets are lost depends only on the seed and on the SSRC and number of a packet,
/// so it is the same in every run; a retransmission has another number.
final class LossyRelay: Sendable {
    struct Conditions: Sendable {
        /// Lost packets from the publisher to the room, 0…1.
        var mediaLoss = 0.0
        /// Lost packets from the room to the publisher, 0…1.
        var feedbackLoss = 0.0
        /// Share of packets that are delayed by up to 5 ms more, 0…1: later ones overtake them.
        var reordering = 0.1
        /// Delay of one direction in milliseconds.
        var delay = 30
        /// Times after ``LossyRelay/begin()`` in seconds at which a number of media packets in a row are lost.
        var bursts: [(at: Double, count: Int)] = []
        /// Times after ``LossyRelay/begin()`` in seconds at which nothing passes in either direction.
        var outages: [Range<Double>] = []
    }

    /// Packets of one direction.
    struct Counters: Sendable {
        var passed = 0
        var lost = 0
    }

    private enum Direction: UInt64 { case toRoom = 1, toPublisher = 2 }

    private struct Delayed {
        var due: Double
        var order: Int
        var direction: Direction
        var bytes: [UInt8]
    }

    private struct State: Sendable {
        var begun: Double?
        var isStopped = false
        var counters: [Direction: Counters] = [.toRoom: Counters(), .toPublisher: Counters()]
    }

    let port: UInt16
    private let conditions: Conditions
    private let seed: UInt64
    private let state = Mutex(State())
    private let done = DispatchSemaphore(value: 0)

    /// - Parameter room: The room's UDP port.
    init(to room: UInt16, seed: UInt64, _ conditions: Conditions) throws {
        self.conditions = conditions
        self.seed = seed
        let near = try UDPSocket(), far = try UDPSocket(to: room)
        self.port = near.port
        Thread.detachNewThread { self.run(near, far) }
    }

    /// Loss, reordering, bursts and outages begin.
    func begin() { self.state.withLock { $0.begun = Self.now() } }

    /// Loss ends. Packets that are delayed still arrive.
    func end() { self.state.withLock { $0.begun = nil } }

    /// Ends the relay.
    ///
    /// - Returns: Packets of SRTP and SRTCP since ``begin()``: to the room, and to the publisher.
    @discardableResult
    func stop() -> (toRoom: Counters, toPublisher: Counters) {
        self.state.withLock { $0.isStopped = true }
        self.done.wait()
        self.done.signal()
        return self.state.withLock { ($0.counters[.toRoom] ?? Counters(), $0.counters[.toPublisher] ?? Counters()) }
    }

    /// Monotonic time in seconds.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    // MARK: Thread

    private func run(_ near: UDPSocket, _ far: UDPSocket) {
        var queue: [Delayed] = []
        var publisher: UInt16?
        var order = 0
        var bursts = self.conditions.bursts
        var burst = 0
        while !self.state.withLock({ $0.isStopped }) {
            let wait = queue.first.map { max(0, min(0.05, $0.due - Self.now())) } ?? 0.05
            UDPSocket.wait(for: [near, far], seconds: wait)
            let now = Self.now()
            for (socket, direction) in [(near, Direction.toRoom), (far, .toPublisher)] {
                while let (bytes, sender) = socket.receive() {
                    if direction == .toRoom { publisher = sender }
                    let begun = self.state.withLock { $0.begun }
                    var due = now + Double(self.conditions.delay) / 1_000
                    if let begun, let first = bytes.first, 128...191 ~= first {
                        if direction == .toRoom, let next = bursts.first, now - begun >= next.at {
                            burst = next.count
                            bursts.removeFirst()
                        }
                        let isMedia = direction == .toRoom && !Self.isRTCP(bytes)
                        let isOut = self.conditions.outages.contains { $0.contains(now - begun) }
                        var random = self.random(bytes, direction)
                        let loss = direction == .toRoom ? self.conditions.mediaLoss : self.conditions.feedbackLoss
                        let isLost = Double.random(in: 0..<1, using: &random) < loss || isOut || burst > 0 && isMedia
                        if burst > 0, isMedia { burst -= 1 }
                        self.state.withLock { state in
                            if isLost {
                                state.counters[direction]?.lost += 1
                            } else {
                                state.counters[direction]?.passed += 1
                            }
                        }
                        if isLost { continue }
                        if Double.random(in: 0..<1, using: &random) < self.conditions.reordering {
                            due += Double.random(in: 0.001...0.0055, using: &random)
                        }
                    }
                    order += 1
                    let delayed = Delayed(due: due, order: order, direction: direction, bytes: bytes)
                    let place = queue.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
                    queue.insert(delayed, at: place)
                }
            }
            let count = queue.prefix { $0.due <= now }.count
            for delayed in queue.prefix(count) {
                switch delayed.direction {
                case .toRoom: far.send(delayed.bytes)
                case .toPublisher: if let publisher { near.send(delayed.bytes, to: publisher) }
                }
            }
            queue.removeFirst(count)
        }
        self.done.signal()
    }

    /// Spec: RFC 5761 §4.
    private static func isRTCP(_ bytes: [UInt8]) -> Bool { bytes.count > 1 && 192...223 ~= bytes[1] }

    /// The randomness of one packet.
    private func random(_ bytes: [UInt8], _ direction: Direction) -> TestRandom {
        func number(_ range: Range<Int>) -> UInt64 {
            bytes.count < range.upperBound ? 0 : bytes[range].reduce(0) { $0 << 8 | UInt64($1) }
        }
        // RTP: SSRC and sequence number. RTCP: SSRC and the SRTCP index, which is at the end.
        let identity =
            Self.isRTCP(bytes)
            ? number(4..<8) << 32 | number(max(0, bytes.count - 4)..<bytes.count)
            : number(8..<12) << 16 | number(2..<4)
        var random = TestRandom(state: self.seed &* 0xD1B5_4A32_D192_ED03 ^ identity &* 0xA24B_AED4_963E_E407)
        return TestRandom(state: random.next() &+ direction.rawValue)
    }
}

/// A UDP socket of 127.0.0.1 that never blocks.
final class UDPSocket: Sendable {
    private let file: Int32
    let port: UInt16

    /// - Parameter peer: The port to connect to; nil: sends to and receives from any.
    init(to peer: UInt16? = nil) throws {
        let file = Glibc.socket(
            AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var bound = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard LoopbackAddress.withAddress(port: 0, { bind(file, $0, $1) }) == 0,
            withUnsafeMutablePointer(
                to: &bound,
                { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &size) }
                }) == 0,
            peer.map({ port in LoopbackAddress.withAddress(port: port) { connect(file, $0, $1) } == 0 }) ?? true
        else {
            close(file)
            throw Missing("no UDP port (errno \(errno))")
        }
        self.file = file
        self.port = UInt16(bigEndian: bound.sin_port)
    }

    deinit { close(self.file) }

    /// Waits until one of the sockets has a datagram. Times are rounded up to whole milliseconds.
    static func wait(for sockets: [UDPSocket], seconds: Double) {
        var files = sockets.map { pollfd(fd: $0.file, events: Int16(POLLIN), revents: 0) }
        _ = poll(&files, nfds_t(files.count), Int32((seconds * 1_000).rounded(.up)))
    }

    /// The next datagram and the port of its sender; nil if there is none.
    func receive() -> (bytes: [UInt8], sender: UInt16)? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bytes = [UInt8](unsafeUninitializedCapacity: 2048) { buffer, count in
            let received = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(self.file, buffer.baseAddress, buffer.count, 0, $0, &size)
                }
            }
            count = max(0, received)
        }
        return bytes.isEmpty ? nil : (bytes, UInt16(bigEndian: address.sin_port))
    }

    /// - Parameter port: nil: the peer to which the socket is connected.
    func send(_ bytes: [UInt8], to port: UInt16? = nil) {
        bytes.withUnsafeBytes { buffer in
            guard let port else {
                _ = Glibc.send(self.file, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
                return
            }
            LoopbackAddress.withAddress(port: port) { address, size in
                _ = sendto(self.file, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL), address, size)
            }
        }
    }
}
