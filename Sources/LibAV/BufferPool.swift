import CLibAV
import MediaTypes

/// Buffers of one size, which are used again when they are not referenced any more. Their memory is freed with the pool and
/// the last buffer.
@safe
package final class BufferPool: @unchecked Sendable {
    // @unchecked Sendable: nothing changes after `init`; libav's pool is thread-safe ("allocating and freeing buffers from
    // the pool is thread-safe", libavutil/buffer.h).
    private let raw: OpaquePointer

    /// Creates an empty pool.
    ///
    /// - Parameter size: Size of each buffer in bytes.
    /// - Throws: ``MediaError/Code/outOfMemory``.
    static func open(_ size: Int) throws(MediaError) -> BufferPool {
        guard size > 0, let raw = unsafe av_buffer_pool_init(size, nil) else { throw Self.noMemory }
        return unsafe BufferPool(owning: raw)
    }

    private init(owning raw: OpaquePointer) { unsafe self.raw = raw }

    deinit {
        var raw: OpaquePointer? = unsafe self.raw
        unsafe av_buffer_pool_uninit(&raw)
    }

    /// Returns a reference to a buffer with undefined content; the caller unreferences it.
    ///
    /// - Throws: ``MediaError/Code/outOfMemory``.
    func buffer() throws(MediaError) -> UnsafeMutablePointer<AVBufferRef> {
        guard let buffer = unsafe av_buffer_pool_get(self.raw) else { throw Self.noMemory }
        return unsafe buffer
    }

    static var noMemory: MediaError {
        MediaError(.outOfMemory, "there is no memory for a frame", at: "picture", fix: "give the room more memory")
    }
}
