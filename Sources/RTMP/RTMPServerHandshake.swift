/// The server side of the handshake.
///
/// Spec: RTMP 1.0 §5.2. S0, S1 and S2 are sent together as soon as C1 has arrived, because some clients send C2 only
/// after S2. Nothing else is sent before `connect`, because HaishinKit waits for exactly the bytes of S2. C2 is not
/// compared: GStreamer writes a different time into it.
package struct RTMPServerHandshake: Sendable {
    /// Size of C1, S1, C2 and S2, in bytes.
    package static let packetLength = 1536

    enum State: Sendable, Hashable {
        case awaitingC1
        case awaitingC2(missing: Int)
        case done
    }

    private(set) var state = State.awaitingC1
    private var received: [UInt8] = []
    private let random: [UInt8]

    /// Creates the handshake of one connection.
    ///
    /// - Parameter random: 1,528 random bytes for S1; missing ones are 0.
    init(random: [UInt8]) { self.random = random }

    /// Reads bytes from `position` on, and appends S0, S1 and S2 to `output` as soon as C1 is complete.
    mutating func receive(
        _ bytes: Span<UInt8>, _ position: inout Int, output: inout [UInt8]
    ) throws(RTMPFailure) {
        if self.state == .awaitingC1 {
            while position < bytes.count, self.received.count < 1 + RTMPServerHandshake.packetLength {
                self.received.append(bytes[position])
                position += 1
                if self.received.count == 1 && self.received[0] != 3 {
                    throw .version(RTMPVersionFault(self.received[0]))
                }
            }
            guard self.received.count == 1 + RTMPServerHandshake.packetLength else { return }
            let random = self.random.prefix(RTMPServerHandshake.packetLength - 8)
            output.append(3)
            output += [UInt8](repeating: 0, count: 8)
            output += random
            output += [UInt8](repeating: 0, count: RTMPServerHandshake.packetLength - 8 - random.count)
            output += self.received.dropFirst()
            self.received = []
            self.state = .awaitingC2(missing: RTMPServerHandshake.packetLength)
        }
        if case .awaitingC2(let missing) = self.state {
            let take = min(missing, bytes.count - position)
            position += take
            self.state = take == missing ? .done : .awaitingC2(missing: missing - take)
        }
    }
}
