package import MediaKernels

/// One RTMP message, assembled from its chunks.
///
/// Spec: RTMP 1.0 §6.1.
package struct RTMPMessage: Sendable {
    /// Id of the chunk stream that carries the message (2 to 65,599).
    package var chunkStreamID: UInt32
    package var type: RTMPMessageType
    /// Id of the message stream; 0 for messages about the connection itself.
    package var streamID: UInt32
    /// Absolute timestamp in milliseconds, modulo 2³².
    package var timestamp: UInt32
    package var payload: PacketMemory

    package init(
        chunkStreamID: UInt32, type: RTMPMessageType, streamID: UInt32, timestamp: UInt32, payload: PacketMemory
    ) {
        self.chunkStreamID = chunkStreamID
        self.type = type
        self.streamID = streamID
        self.timestamp = timestamp
        self.payload = payload
    }
}
