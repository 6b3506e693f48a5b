/// The payload descriptor before the VP8 data of each packet.
///
/// Spec: RFC 7741 §4.2.
struct VP8Descriptor: VPXDescriptor, Hashable {
    /// Size of the descriptor in bytes.
    let size: Int
    /// Whether the packet begins a frame: S is set, and PID is 0.
    let beginsFrame: Bool
    let pictureID: PictureID?
    /// Always false: a VP8 descriptor does not say it; the marker bit of the RTP packet does.
    var endsFrame: Bool { false }
    var spatialLayer: UInt8 { 0 }

    /// - Returns: nil if the payload ends before the descriptor, or contains nothing else.
    init?(_ payload: ArraySlice<UInt8>) {
        var reader = ByteReader(payload)
        guard let first = reader.next() else { return nil }
        self.beginsFrame = first & 0x10 != 0 && first & 0x07 == 0
        var id: PictureID?
        if first & 0x80 != 0 {
            guard let flags = reader.next() else { return nil }
            if flags & 0x80 != 0 {
                guard let read = PictureID(&reader) else { return nil }
                id = read
            }
            // TL0PICIDX, then TID, Y and KEYIDX.
            if flags & 0x40 != 0, reader.next() == nil { return nil }
            if flags & 0x30 != 0, reader.next() == nil { return nil }
        }
        guard reader.left > 0 else { return nil }
        self.pictureID = id
        self.size = payload.count - reader.left
    }
}

/// The beginning of a VP8 frame.
///
/// Spec: RFC 6386 §9.1.
struct VP8FrameHeader: VPXFrameHeader, Hashable {
    let isKey: Bool
    /// Frame size; nil except in key frames.
    let size: FrameSize?

    /// - Returns: nil if the frame is shorter than its header and first partition, or a key frame lacks its start code or
    ///   size.
    init?(frame: [UInt8]) {
        guard frame.count >= 3 else { return nil }
        self.isKey = frame[0] & 1 == 0
        let partition = (Int(frame[0]) | Int(frame[1]) << 8 | Int(frame[2]) << 16) >> 5
        guard self.isKey else {
            guard partition <= frame.count - 3 else { return nil }
            self.size = nil
            return
        }
        guard frame.count >= 10, frame[3...5].elementsEqual([0x9D, 0x01, 0x2A]), partition <= frame.count - 10 else {
            return nil
        }
        // The upper two bits are a scaling that browsers do not use.
        let width = (Int(frame[6]) | Int(frame[7]) << 8) & 0x3FFF
        let height = (Int(frame[8]) | Int(frame[9]) << 8) & 0x3FFF
        guard width > 0, height > 0 else { return nil }
        self.size = FrameSize(width: width, height: height)
    }

    static func mayBeKey(_ beginning: [UInt8]) -> Bool { beginning.first.map { $0 & 1 == 0 } ?? false }
}
