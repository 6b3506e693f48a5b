import NIOCore

/// The part of a reply's body that has not been sent.
struct ReplyBody {
    enum Piece {
        case bytes(ByteBuffer)
        /// A range of a file, which must be read before it can be sent.
        case file(ServedFile, Range<Int>)
        /// There is nothing to send at present; the stream calls when it has more.
        case later
        /// The body ends early, because the client reads too slowly.
        case tooSlow
    }

    private enum Rest {
        case bytes([UInt8], Range<Int>)
        case buffers(ArraySlice<ByteBuffer>)
        case file(ServedFile, Range<Int>)
        case stream(any ReplyStream)
    }

    private var rest: Rest

    /// Creates the unsent part of a whole body.
    ///
    /// - Parameter file: The opened file if the body is a file; otherwise nil.
    init(_ body: ListenerReply.Body, file: ServedFile?) {
        switch (body, file) {
        case (.bytes(let bytes, let range), _): self.rest = .bytes(bytes, range.clamped(to: bytes.indices))
        case (.buffers(let buffers), _): self.rest = .buffers(buffers[...])
        case (.file(_, _, let range), .some(let file)): self.rest = .file(file, range)
        case (.stream(let stream), _), (.socket(let stream), _): self.rest = .stream(stream)
        case (.file, nil), (.none, _): self.rest = .buffers([])
        }
    }

    /// The stream if the body is a stream; otherwise nil.
    var stream: (any ReplyStream)? { if case .stream(let stream) = self.rest { stream } else { nil } }

    /// Removes and returns the next piece to send; `nil` if nothing is left. Shared bytes are not copied.
    mutating func next() -> Piece? {
        switch self.rest {
        case .bytes(let bytes, let range):
            guard !range.isEmpty else { return nil }
            let chunk = range.prefix(HTTPListenerLimits.chunkBytes)
            self.rest = .bytes(bytes, chunk.upperBound..<range.upperBound)
            return .bytes(ByteBuffer(bytes: bytes[chunk]))
        case .buffers(var buffers):
            while var buffer = buffers.popFirst() {
                let count = min(buffer.readableBytes, HTTPListenerLimits.chunkBytes)
                guard count > 0, let chunk = buffer.readSlice(length: count) else { continue }
                if buffer.readableBytes > 0 { buffers = [buffer] + buffers }
                self.rest = .buffers(buffers)
                return .bytes(chunk)
            }
            self.rest = .buffers([])
            return nil
        case .file(let file, let range):
            guard !range.isEmpty else { return nil }
            let chunk = range.prefix(HTTPListenerLimits.fileChunkBytes)
            self.rest = .file(file, chunk.upperBound..<range.upperBound)
            return .file(file, chunk)
        case .stream(let stream):
            switch stream.next() {
            case .bytes(let bytes): return .bytes(bytes)
            case .later: return .later
            case .tooSlow: return .tooSlow
            case .end: return nil
            }
        }
    }
}

extension Range<Int> {
    fileprivate func prefix(_ count: Int) -> Range<Int> {
        self.lowerBound..<Swift.min(self.lowerBound + count, self.upperBound)
    }
}
