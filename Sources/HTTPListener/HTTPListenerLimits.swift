package import NIOCore

/// What one listener grants its clients.
package struct HTTPListenerLimits: Sendable {
    /// Open connections; further ones wait in the kernel's queue until one closes.
    package var connections: Int
    /// Open connections from one address; further ones are closed at once. `nil`: as many as there may be.
    package var connectionsPerAddress: Int?
    /// From so many open connections on, those that have no request give way to new ones, the ones that have waited longest
    /// first; and those that take nothing of their reply. `nil`: they stay. HTTP/1.1 only.
    package var crowd: Int?
    /// Bytes of a request's body that are read.
    package var bodyBytes: Int
    /// A connection without a request is closed after this time, a request must be complete within it.
    package var idle: TimeAmount
    /// A connection, and a stream of HTTP/2, that takes none of the bytes we have for it is closed after this time.
    package var stalledWrite: TimeAmount
    /// Bytes of a request's header fields together.
    package var headerBytes: Int
    /// Bytes that wait to be sent, of all connections together. Beyond, those that take nothing are closed at once.
    package var unsentBytes: Int
    /// Files that are open at once for replies; what further ones need is busy.
    package var files: Int

    package init(
        connections: Int, bodyBytes: Int, idle: TimeAmount = .seconds(30), stalledWrite: TimeAmount = .seconds(20),
        headerBytes: Int = 16 << 10, connectionsPerAddress: Int? = nil, crowd: Int? = nil,
        unsentBytes: Int = 48 << 20, files: Int = 1_024
    ) {
        self.connections = connections
        self.connectionsPerAddress = connectionsPerAddress
        self.crowd = crowd
        self.bodyBytes = bodyBytes
        self.idle = idle
        self.stalledWrite = stalledWrite
        self.headerBytes = headerBytes
        self.unsentBytes = unsentBytes
        self.files = files
    }

    /// Time a connection has for its request before it gives way in a crowd: a client that came to ask has asked by then.
    static let patience = TimeAmount.seconds(1)
    /// Bytes of a connection that wait in this process at most, beyond one chunk: what the kernel does not take at once.
    static let highWatermark = 32 << 10
    /// Bytes that are written in one piece. Small enough that a slow client costs little, large enough that a fast one is
    /// served by few system calls.
    static let chunkBytes = 64 << 10
    /// Bytes of a file in memory per reply: unlike shared bytes they are the reply's own, and two thousand slow readers of
    /// segments must cost less than the room's pictures.
    static let fileChunkBytes = 16 << 10
    /// Bytes that wait in the kernel unsent, for each connection; those that are on their way do not count.
    static let kernelBytes = 64 << 10
}
