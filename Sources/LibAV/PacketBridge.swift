import CLibAV
import MediaKernels
import MediaTypes

/// The single `AVPacket` that a decoder, an encoder or a file reader reuses.
@safe
struct PacketSlot: ~Copyable {
    let raw: UnsafeMutablePointer<AVPacket>

    static func open(place: String) throws(MediaError) -> PacketSlot {
        guard let raw = unsafe av_packet_alloc() else {
            throw MediaError(
                .outOfMemory, "there is no memory for a packet header", at: place, fix: "give the room more memory")
        }
        return unsafe PacketSlot(owning: raw)
    }

    private init(owning raw: UnsafeMutablePointer<AVPacket>) { unsafe self.raw = raw }

    deinit {
        var raw: UnsafeMutablePointer<AVPacket>? = unsafe self.raw
        unsafe av_packet_free(&raw)
    }

    /// Makes the `AVPacket` refer to `packet`'s memory without a copy; libav keeps the memory alive until its last use.
    ///
    /// - Returns: `false` if the packet is empty (libavcodec would take it for the end of the stream) or there is no
    ///   memory.
    func lend(_ packet: CodedPacket) -> Bool {
        let count = packet.count
        guard count > 0, count <= Int(Int32.max) - PacketMemory.padding else { return false }
        unsafe av_packet_unref(self.raw)
        let holder = unsafe Unmanaged.passRetained(packet.memory)
        // The bytes stay at their address while `holder` keeps the memory alive. PacketMemory has 64 zero bytes after
        // its content, and the bytes between the payload's end and those are readable too.
        let buffer = unsafe packet.withBytes { bytes -> UnsafeMutablePointer<AVBufferRef>? in
            guard let base = bytes.baseAddress else { return nil }
            let data = unsafe UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self))
            return unsafe av_buffer_create(
                data, bytes.count + PacketMemory.padding,
                { opaque, _ in
                    guard let opaque = unsafe opaque else { return }
                    unsafe Unmanaged<PacketMemory>.fromOpaque(opaque).release()
                }, holder.toOpaque(), Int32(AV_BUFFER_FLAG_READONLY))
        }
        guard let buffer = unsafe buffer else {
            unsafe holder.release()
            return false
        }
        unsafe self.raw.pointee.buf = buffer
        unsafe self.raw.pointee.data = buffer.pointee.data
        unsafe self.raw.pointee.size = Int32(count)
        unsafe self.raw.pointee.pts = packet.pts
        unsafe self.raw.pointee.dts = packet.dts
        unsafe self.raw.pointee.duration = packet.duration
        unsafe self.raw.pointee.flags = packet.isKey ? Int32(CLIBAV_PACKET_FLAG_KEY) : 0
        return true
    }
}
