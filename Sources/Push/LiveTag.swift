import MediaKernels
package import MediaTypes
package import NIOCore
package import RTMP

/// One FLV tag of a live rendition, made once and shared by all readers.
package struct LiveTag: Sendable {
    package enum Content: Sendable {
        case metadata([AMF0Property])
        /// The sequence header of a track.
        case configuration(RTMPMediaMessage)
        case packet(RTMPMediaMessage)
    }

    package var content: Content
    /// Decoding time in milliseconds of program time; never less than that of an earlier tag of the same track.
    package var time: Int64
    package var kind: TrackKind?
    /// True for a video packet at which decoding can begin, and for any audio packet of a rendition without video.
    package var isKey = false
    /// The whole tag as in an FLV file or an HTTP body, followed by its size; empty if the feed does not serve
    /// HTTP-FLV.
    package var file = ByteBuffer()

    package init(_ content: Content, time: Int64, kind: TrackKind? = nil, isKey: Bool = false) {
        self.content = content
        self.time = time
        self.kind = kind
        self.isKey = isKey
    }

    package var isPacket: Bool { if case .packet = self.content { true } else { false } }

    /// Size of the tag's body in bytes; 0 for metadata.
    package var count: Int {
        switch self.content {
        case .metadata: 0
        case .configuration(let message), .packet(let message): message.payload.count
        }
    }
}

/// Writes FLV files: header and tags.
///
/// Spec: Video File Format 10.1 Annex E.2, E.3, E.4.1.
package enum FLVFileWriter {
    /// Returns the file header: signature, version 1, track flags, and the zero that precedes the first tag as the size
    /// of a previous tag.
    package static func header(hasVideo: Bool, hasAudio: Bool) -> ByteBuffer {
        let flags: UInt8 = (hasAudio ? 4 : 0) | (hasVideo ? 1 : 0)
        return ByteBuffer(bytes: [0x46, 0x4C, 0x56, 1, flags, 0, 0, 0, 9, 0, 0, 0, 0])
    }

    /// Returns a tag in file form, followed by its size; empty if the body is larger than a tag can be (16 MiB).
    /// Metadata has the time 0: demuxers treat metadata with another time as timed data.
    package static func tag(_ tag: LiveTag) -> ByteBuffer {
        switch tag.content {
        case .metadata(let properties):
            self.tag(18, 0, PacketMemory(AMF0Writer.bytes([.string("onMetaData"), .ecmaArray(properties)])))
        case .configuration(let message), .packet(let message):
            self.tag(message.kind == .video ? 9 : 8, tag.time, message.payload)
        }
    }

    private static func tag(_ type: UInt8, _ time: Int64, _ body: PacketMemory) -> ByteBuffer {
        guard body.count < 1 << 24 else { return ByteBuffer() }
        var buffer = ByteBufferAllocator().buffer(capacity: body.count + 15)
        let size = UInt32(truncatingIfNeeded: body.count)
        let stamp = UInt32(truncatingIfNeeded: time)
        buffer.writeInteger(UInt32(type) << 24 | size)
        // The lower 24 bits first, then the upper eight, then a stream id of zero.
        buffer.writeInteger(stamp << 8 | stamp >> 24)
        buffer.writeBytes([0, 0, 0])
        body.withBytes { bytes in _ = buffer.writeBytes(bytes) }
        buffer.writeInteger(size + 11)
        return buffer
    }
}
