import NIOCore

/// Collects a request body as it arrives, up to a limit.
struct RequestBody {
    /// Maximum size of the body in bytes.
    let limit: Int
    private(set) var isTooLarge = false
    private var bytes: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    var value: ListenerRequest.Body { self.isTooLarge ? .tooLarge : .bytes(self.bytes) }

    /// Checks the `Content-Length` field, if there is one, so that a body over the limit is refused before it arrives.
    mutating func announced(_ field: String?) {
        if let field, let count = Int(field), count > self.limit { self.isTooLarge = true }
    }

    mutating func append(_ buffer: ByteBuffer) {
        guard !self.isTooLarge, buffer.readableBytes <= self.limit - self.bytes.count else {
            self.isTooLarge = true
            return
        }
        self.bytes.append(contentsOf: buffer.readableBytesView)
    }
}
