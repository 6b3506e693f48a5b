package import NIOCore

/// What one listener grants its clients.
package struct HTTPListenerLimits: Sendable {
    /// Open connections; further ones wait in the kernel's queue until one closes.
    package var connections: Int
    /// Bytes of a request's body that are read.
    package var bodyBytes: Int
    /// A connection without a request is closed after this time, a request must be complete within it.
    package var idle: TimeAmount
    /// A connection that takes none of the bytes we have for it is closed after this time.
    package var stalledWrite: TimeAmount
    /// Bytes of a request's header fields together.
    package var headerBytes: Int

    package init(
        connections: Int, bodyBytes: Int, idle: TimeAmount = .seconds(30), stalledWrite: TimeAmount = .seconds(20),
        headerBytes: Int = 16 << 10
    ) {
        self.connections = connections
        self.bodyBytes = bodyBytes
        self.idle = idle
        self.stalledWrite = stalledWrite
        self.headerBytes = headerBytes
    }
}
