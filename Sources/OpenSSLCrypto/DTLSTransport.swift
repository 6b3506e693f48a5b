internal import COpenSSL
package import MediaTypes

/// The DTLS 1.2 connection with one peer, which gives the keys for SRTP.
///
/// Takes and gives datagrams; it has no socket. States: ``State/handshaking`` → ``State/connected(_:)`` by
/// ``receive(_:from:)``. Both can become ``State/closed`` by ``close()`` or the peer's close_notify, or
/// ``State/failed(_:)``; these two are final: nothing is sent or read any more.
///
/// A server sends each address a cookie (HelloVerifyRequest) until a ClientHello repeats that of its address, and keeps no
/// state before: so its flights, which are longer than a ClientHello, go to no forged address.
///
/// Keys exist only after the peer's certificate was compared with the fingerprints of its session description.
/// Application data is discarded, and renegotiation is refused.
///
/// Used by one thread at a time. The retransmission timer is OpenSSL's, which reads the system's wall clock: while that
/// is set back, the handshake depends on the peer's retransmissions.
///
/// Spec: RFC 6347 (cookies: §4.2.1); RFC 5764 (use_srtp); RFC 8122 §6 (fingerprints); RFC 8842.
@safe
package final class DTLSTransport {
    package enum State: Sendable, Hashable {
        case handshaking
        /// Media may be sent and received with these keys.
        case connected(SRTPKeys)
        /// The peer has sent close_notify, or ``DTLSTransport/close()`` was called.
        case closed
        /// Why there is no connection, in words for a log; it contains nothing secret.
        case failed(String)
    }

    /// How long the retransmission timer runs.
    package enum Timer: Sendable {
        /// 50 ms, doubled with every timeout up to 1 s.
        case doubling
        /// 20 ms every time, for tests of lost datagrams.
        case short
        /// A minute, for tests without lost datagrams on a machine that may stall.
        case long
    }

    /// Maximum size of a datagram that is sent, in bytes; fits every path on which video of 1,200 bytes does.
    package static let datagramSize = 1_200
    /// Maximum size of a datagram that is read, in bytes. Larger ones are discarded: handshake messages are sent in parts.
    package static let mostBytes = 8_192
    /// Maximum number of datagrams that are read before the handshake is finished. A handshake needs 2 to 4 datagrams of a
    /// peer, a dozen if it sends every record alone, and several times that with loss.
    package static let mostHandshakeDatagrams = 128

    /// The current state.
    package internal(set) var state = State.handshaking
    /// Number of datagrams that were not given to DTLS: not DTLS by their first byte, too short, too long, or too many.
    package private(set) var discarded = 0

    /// Server: whether an address has sent back the cookie that was sent to it. That is the address of the datagram with which
    /// this becomes true.
    package private(set) var hasCookie = false
    /// Whether the peer has answered a flight with something that it can only know from it: a client's key exchange and Finished,
    /// or a server's signature over this side's random value.
    package var hasAnswer: Bool {
        switch self.state {
        case .connected: true
        case .handshaking: unsafe self.role == .client && copenssl_client_has_answered(self.ssl) == 1
        case .closed, .failed: false
        }
    }

    let ssl: OpaquePointer
    let fingerprints: [DTLSFingerprint]
    private let role: DTLSRole
    /// Buffers that belong to `ssl`.
    private let input: OpaquePointer
    private let output: OpaquePointer
    private var handshakeDatagrams = 0
    /// Makes the cookies of this connection. Secret.
    private let cookieKey: [UInt8]
    /// The cookie of the address whose ClientHello is read, and from then on of the address that has repeated it.
    private let cookie: UnsafeMutablePointer<UInt8>

    /// - Parameter peerFingerprints: The peer's certificate must match one of them. Those with SHA-1 or older functions are
    ///   ignored.
    /// - Throws: ``MediaError/Code/rejected`` if no fingerprint can be used; ``MediaError/Code/internal`` if there is no
    ///   memory.
    package init(
        identity: DTLSIdentity, role: DTLSRole, peerFingerprints: [DTLSFingerprint], timer: Timer = .doubling
    ) throws(MediaError) {
        let usable = peerFingerprints.filter(\.isUsable)
        guard !usable.isEmpty else {
            throw MediaError(
                .rejected, "the peer gives no certificate fingerprint with SHA-256, SHA-384 or SHA-512", at: "dtls",
                fix: "use a client that sends a=fingerprint:sha-256")
        }
        guard let ssl = unsafe SSL_new(identity.context) else {
            throw MediaError.openSSL("there is no memory", at: "dtls")
        }
        let (first, second) = unsafe (BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        guard let input = unsafe first, let output = unsafe second else {
            // The functions that free accept null.
            unsafe BIO_free(first)
            unsafe BIO_free(second)
            unsafe SSL_free(ssl)
            throw MediaError.openSSL("there is no memory", at: "dtls")
        }
        unsafe self.ssl = ssl
        unsafe self.input = input
        unsafe self.output = output
        self.role = role
        self.fingerprints = usable
        var generator = SystemRandomNumberGenerator()
        self.cookieKey = (0..<20).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let cookie = UnsafeMutablePointer<UInt8>.allocate(capacity: Int(COPENSSL_COOKIE_SIZE))
        unsafe cookie.initialize(repeating: 0, count: Int(COPENSSL_COOKIE_SIZE))
        unsafe self.cookie = cookie
        // Valid until `deinit` has freed `ssl`.
        unsafe copenssl_set_cookie(ssl, cookie)
        unsafe copenssl_retry_when_empty(input)
        unsafe copenssl_retry_when_empty(output)
        // Takes over both buffers.
        unsafe SSL_set_bio(ssl, input, output)
        _ = unsafe copenssl_set_link_mtu(ssl, Self.datagramSize)
        // In microseconds; 0 is passed for the first. OpenSSL begins with a second, which a publisher whose first
        // datagram is lost would wait. It gives up after twelve timeouts: 8.5 s.
        switch timer {
        case .doubling: unsafe DTLS_set_timer_cb(ssl) { _, last in last == 0 ? 50_000 : min(last * 2, 1_000_000) }
        case .short: unsafe DTLS_set_timer_cb(ssl) { _, _ in 20_000 }
        case .long: unsafe DTLS_set_timer_cb(ssl) { _, _ in 60_000_000 }
        }
        switch role {
        case .client: unsafe SSL_set_connect_state(ssl)
        case .server: unsafe SSL_set_accept_state(ssl)
        }
    }

    deinit {
        // Frees the buffers as well.
        unsafe SSL_free(self.ssl)
        unsafe self.cookie.deallocate()
    }

    /// Begins the handshake of a client; does nothing for a server, or a second time.
    ///
    /// - Returns: Datagrams to send, each at most ``datagramSize`` bytes.
    package func start() -> [[UInt8]] {
        guard self.role == .client, case .handshaking = self.state, self.handshakeDatagrams == 0 else { return [] }
        self.shakeHands()
        return self.takeOutput()
    }

    /// Takes a datagram of the peer.
    ///
    /// - Parameter address: Any bytes that tell the peer's addresses apart.
    /// - Returns: Datagrams to send, to the same address.
    package func receive(_ datagram: [UInt8], from address: [UInt8]) -> [[UInt8]] {
        guard self.isOpen else { return [] }
        // RFC 7983 §7: DTLS begins with 20 to 63.
        guard (DTLSRecords.headerSize...Self.mostBytes).contains(datagram.count), let first = datagram.first,
            (20...63).contains(first)
        else {
            self.discarded += 1
            return []
        }
        if case .handshaking = self.state {
            self.handshakeDatagrams += 1
            guard self.handshakeDatagrams <= Self.mostHandshakeDatagrams else {
                self.discarded += 1
                self.state = .failed("the handshake took more than \(Self.mostHandshakeDatagrams) datagrams")
                return []
            }
        }
        // The buffer is empty, since all of the last datagram was read, and copies the bytes.
        guard unsafe BIO_write(self.input, datagram, Int32(datagram.count)) == Int32(datagram.count) else {
            self.state = .failed("there is no memory for a datagram")
            return []
        }
        if self.role == .server, !self.hasCookie, !self.listen(to: address) { return self.takeOutput() }
        if case .handshaking = self.state { self.shakeHands() }
        if case .connected = self.state { self.readRecords() }
        return self.takeOutput()
    }

    /// Reads a ClientHello before the handshake.
    ///
    /// - Returns: Whether it has the cookie of the address.
    private func listen(to address: [UInt8]) -> Bool {
        let expected = HMACSHA1.digest(key: self.cookieKey, address).prefix(Int(COPENSSL_COOKIE_SIZE))
        for (index, byte) in expected.enumerated() { unsafe self.cookie[index] = byte }
        self.hasCookie = unsafe copenssl_listen(self.ssl) == 1
        // What is no ClientHello leaves errors, and is ignored.
        ERR_clear_error()
        return self.hasCookie
    }

    /// Time until ``handleTimeout()`` should be called, in nanoseconds; `nil` if no timer runs.
    ///
    /// See ``Timer``; OpenSSL regards the timer as expired 15 ms early.
    package func nextTimeout() -> Int64? {
        guard case .handshaking = self.state else { return nil }
        var left = timeval()
        guard unsafe copenssl_get_timeout(self.ssl, &left) == 1 else { return nil }
        return (Int64(left.tv_sec) * 1_000_000 + Int64(left.tv_usec)) * 1_000
    }

    /// Sends the last messages of the handshake again if the timer has expired; does nothing if it has not.
    ///
    /// - Returns: Datagrams to send.
    package func handleTimeout() -> [[UInt8]] {
        guard case .handshaking = self.state else { return [] }
        ERR_clear_error()
        if unsafe copenssl_handle_timeout(self.ssl) < 0 {
            self.state = .failed("the peer does not answer: \(OpenSSLError.take() ?? "too many timeouts")")
        }
        return self.takeOutput()
    }

    /// Ends the connection. A second call does nothing.
    ///
    /// - Returns: A datagram with close_notify if the handshake was finished.
    package func close() -> [[UInt8]] {
        guard self.isOpen else { return [] }
        self.sendCloseNotify()
        self.state = .closed
        return self.takeOutput()
    }

    private var isOpen: Bool {
        switch self.state {
        case .handshaking, .connected: true
        case .closed, .failed: false
        }
    }

    /// Writes close_notify to the output. Before the end of the handshake OpenSSL refuses to, and nothing is written.
    func sendCloseNotify() {
        ERR_clear_error()
        _ = unsafe SSL_shutdown(self.ssl)
        ERR_clear_error()
    }

    private func takeOutput() -> [[UInt8]] {
        let count = unsafe copenssl_pending(self.output)
        guard count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        // Reads at most as many bytes as the array has.
        let read = unsafe BIO_read(self.output, &bytes, Int32(clamping: count))
        return DTLSRecords.datagrams(Array(bytes.prefix(max(0, Int(read)))), most: Self.datagramSize)
    }
}
