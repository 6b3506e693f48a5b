import MediaKernels

/// What ``VPXAssembler`` needs of a payload descriptor.
protocol VPXDescriptor: Sendable {
    /// Size of the descriptor in bytes.
    var size: Int { get }
    var pictureID: PictureID? { get }
    var beginsFrame: Bool { get }
    var endsFrame: Bool { get }
    /// Spatial layer of the packet; 0 for the base layer.
    var spatialLayer: UInt8 { get }

    init?(_ payload: ArraySlice<UInt8>)
}

/// What ``VPXAssembler`` needs of a frame's header.
protocol VPXFrameHeader: Sendable {
    var isKey: Bool { get }
    var size: FrameSize? { get }

    /// - Returns: nil if the frame cannot be one of this codec.
    init?(frame: [UInt8])

    /// Whether the first bytes of a frame, at most 16, look like those of a key frame.
    static func mayBeKey(_ beginning: [UInt8]) -> Bool
}

/// Puts together the frames of a codec whose packets have a descriptor before the bytes of the frame.
struct VPXAssembler<Descriptor: VPXDescriptor, Header: VPXFrameHeader>: Sendable {
    private var buffer = FrameBuffer()
    /// Picture id of the open frame.
    private var pictureID: PictureID?
    /// Picture id of the last complete frame; nil if anything was damaged since.
    private var lastID: PictureID?
    /// Whether packets since the last one of the base layer are lost.
    private var hasLoss = false
    private var hasBegun = false

    var isReceivingKeyFrame: Bool { self.buffer.isIntact && Header.mayBeKey(Array(self.buffer.bytes.prefix(16))) }

    mutating func receive(_ packet: OrderedPacket, time: Int64, into results: inout [FrameResult]) {
        if packet.isAfterLoss { self.hasLoss = true }
        let descriptor = Descriptor(packet.payload)
        if let descriptor, descriptor.spatialLayer > 0 {
            // The frame of the base layer has ended, unless its end is lost.
            if self.hasLoss, self.buffer.isOpen { self.damage(.lost, &results) }
            return self.finish(&results)
        }
        let isSameFrame = self.buffer.isOpen && self.buffer.timestamp == packet.timestamp
        let hasLoss = self.hasLoss
        self.hasLoss = false
        if hasLoss {
            self.lose(descriptor, isSameFrame: isSameFrame, &results)
        } else if !isSameFrame {
            // The sender has not marked the last packet of the open frame.
            self.finish(&results)
        }
        self.hasBegun = true
        let isFirst = !self.buffer.isOpen
        if isFirst {
            self.buffer.open(packet, time: time)
            // The first packet of the frame is among the lost ones, which have been reported.
            if hasLoss, let descriptor, !descriptor.beginsFrame { self.buffer.damage() }
        }
        if !self.buffer.count(packet) { self.damage(.tooLarge, &results) }
        if !self.buffer.isDamaged { self.take(packet.payload, descriptor, isFirst: isFirst, &results) }
        if packet.marker || descriptor?.endsFrame == true { self.finish(&results) }
    }

    /// Handles the loss of packets before a packet with this descriptor.
    private mutating func lose(_ descriptor: Descriptor?, isSameFrame: Bool, _ results: inout [FrameResult]) {
        if isSameFrame { return self.damage(.lost, &results) }
        let isBetweenFrames = !self.buffer.isOpen && descriptor?.beginsFrame == true
        if isBetweenFrames, let id = descriptor?.pictureID, let last = self.lastID, id.follows(last) { return }
        self.buffer.close()
        self.lastID = nil
        if self.hasBegun { results.append(.damaged(.lost)) }
    }

    private mutating func take(
        _ payload: ArraySlice<UInt8>, _ descriptor: Descriptor?, isFirst: Bool, _ results: inout [FrameResult]
    ) {
        guard let descriptor, descriptor.beginsFrame == isFirst else { return self.damage(.malformed, &results) }
        if isFirst { self.pictureID = descriptor.pictureID }
        let bytes = payload.dropFirst(descriptor.size)
        guard self.buffer.hasRoom(for: bytes.count) else { return self.damage(.tooLarge, &results) }
        self.buffer.bytes += bytes
    }

    /// Reports the damage at once, so that a key frame can be requested before the frame ends.
    private mutating func damage(_ damage: FrameDamage, _ results: inout [FrameResult]) {
        guard !self.buffer.isDamaged else { return }
        self.buffer.damage()
        self.lastID = nil
        results.append(.damaged(damage))
    }

    private mutating func finish(_ results: inout [FrameResult]) {
        if self.buffer.isIntact {
            if let header = Header(frame: self.buffer.bytes) {
                let memory = PacketMemory(self.buffer.bytes)
                results.append(.whole(self.buffer.frame(memory, isKey: header.isKey, size: header.size)))
                self.lastID = self.pictureID
            } else {
                self.damage(.malformed, &results)
            }
        }
        self.buffer.close()
    }
}
