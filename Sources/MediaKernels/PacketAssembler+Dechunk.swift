/// Progress of copying one RTMP message.
public struct ChunkProgress: Sendable, Hashable {
    /// Remaining payload bytes of the current chunk. At most ``messageLeft``.
    public var chunkLeft: Int
    /// Remaining payload bytes of the message.
    public var messageLeft: Int

    public init(chunkLeft: Int, messageLeft: Int) {
        self.chunkLeft = chunkLeft
        self.messageLeft = messageLeft
    }
}

extension PacketAssembler {
    /// Appends the payload of RTMP chunks to the message that is being assembled.
    ///
    /// Starts at `offset` and continues until the input or the message ends, or until a header that is not
    /// `continuation`. Between two chunks of one message there is usually a type 3 header of one byte; the loop skips
    /// it without returning to the chunk reader, which matters for clients that keep the chunk size of 128 bytes.
    ///
    /// Spec: RTMP 1.0 §5.3.1.2.4.
    ///
    /// - Parameters:
    ///   - chunkSize: Maximum payload of a chunk, at least 1.
    ///   - continuation: The basic header of a type 3 chunk of this chunk stream if it is one byte long and no extended
    ///     timestamp follows it; `nil` to stop at the end of the current chunk.
    /// - Returns: Number of bytes consumed from `bytes`, including headers.
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
