/// Where the copy of one RTMP message stands.
public struct ChunkProgress: Sendable, Hashable {
    /// Payload bytes that the current chunk still carries. At most ``messageLeft``.
    public var chunkLeft: Int
    /// Payload bytes that the message still lacks.
    public var messageLeft: Int

    public init(chunkLeft: Int, messageLeft: Int) {
        self.chunkLeft = chunkLeft
        self.messageLeft = messageLeft
    }
}

extension PacketAssembler {
    /// Copies the payload of RTMP chunks: the only time the bytes of a message are moved.
    ///
    /// Starts at `offset` and goes on until the input or the message ends, or a header stands there that is not
    /// `continuation`. Between two chunks of one message usually stands a type 3 header of one byte; the loop steps over
    /// it without going back to the chunk reader, which matters for clients that never leave 128-byte chunks.
    ///
    /// Spec: RTMP 1.0 §5.3.1.2.4.
    ///
    /// - Parameters:
    ///   - chunkSize: Largest payload of a chunk, at least 1.
    ///   - continuation: The basic header of a type 3 chunk of this chunk stream when it is one byte long and no extended
    ///     timestamp follows it; `nil` to stop at the end of the current chunk.
    /// - Returns: Bytes used up of `bytes`, headers included.
    public mutating func gather(
        _ bytes: Span<UInt8>, from offset: Int, progress: inout ChunkProgress, chunkSize: Int, continuation: UInt8?
    ) -> Int {
        let start = max(0, offset)
        var position = start
        unsafe bytes.withUnsafeBytes { buffer in
            while position < buffer.count {
                let take = min(progress.chunkLeft, progress.messageLeft, buffer.count &- position)
                if take > 0 {
                    // Checked: `position + take <= buffer.count`.
                    unsafe self.append(UnsafeRawBufferPointer(rebasing: buffer[position..<(position &+ take)]))
                    position &+= take
                    progress.chunkLeft &-= take
                    progress.messageLeft &-= take
                }
                guard progress.chunkLeft <= 0, progress.messageLeft > 0, position < buffer.count,
                    let continuation, unsafe buffer[position] == continuation
                else { break }
                position &+= 1
                progress.chunkLeft = min(max(1, chunkSize), progress.messageLeft)
            }
        }
        return position &- start
    }
}
