package import NIOCore

/// The limits of one listener.
package struct HTTPListenerLimits: Sendable {
    /// Maximum number of open connections; further ones wait in the kernel's queue until one closes.
    package var connections: Int
    /// Maximum number of open connections from one address; further ones are closed at once, unless ``crowd`` is set and
    /// an idle connection of the address can be closed in their favor. `nil`: no separate limit.
    package var connectionsPerAddress: Int?
    /// Number of open connections above which idle ones (without a request) are closed in favor of new ones, the longest
    /// idle first, as well as those that do not read their reply. `nil`: they stay open. An HTTP/2 connection is idle if
    /// none of its streams has a request.
    package var crowd: Int?
    /// Maximum size of a request body in bytes.
    package var bodyBytes: Int
    /// Time after which a connection without a request is closed. A request must also be complete within this time.
    package var idle: TimeAmount
    /// Time after which a connection is closed that accepts fewer than 4 KiB of the bytes that wait for it, or an HTTP/2
    /// stream that accepts none.
    package var stalledWrite: TimeAmount
    /// Maximum total size of a request's header fields in bytes.
    package var headerBytes: Int
    /// Maximum number of unsent bytes of all connections together. If there are more, connections without progress for
    /// about two seconds are closed. The pieces of files that replies hold in memory have a limit of the same size.
    package var unsentBytes: Int
    /// Maximum number of files open for replies; requests for further ones get 503.
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

    /// Time for which a connection must have been idle, or open without a request, before it can be closed in favor of
    /// others. It does not apply if the new connection brings the listener to its maximum.
    static let patience = TimeAmount.seconds(1)
    /// Maximum number of unsent bytes of a connection in this process, not counting one chunk: data that the kernel
    /// does not accept at once.
    static let highWatermark = 32 << 10
    /// Number of bytes written in one piece. It is small enough that a slow client costs little memory, and large
    /// enough that a fast client needs few system calls.
    static let chunkBytes = 64 << 10
    /// Number of bytes of a file that one reply holds in memory. Each reply may have its own copy, so two thousand slow
    /// readers of segments must cost less memory than the room's video frames.
    static let fileChunkBytes = 16 << 10
    /// Maximum number of unsent bytes of each connection in the kernel, not counting bytes in flight.
    static let kernelBytes = 64 << 10
}
