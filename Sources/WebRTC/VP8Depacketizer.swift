/// Puts together VP8 frames.
///
/// If the frames before and after missing packets have consecutive picture ids, then no frame is missing: a sender
/// without a retransmission stream sends its bandwidth probes as packets without payload among the others.
///
/// Spec: RFC 7741 §4.
package struct VP8Depacketizer: VideoDepacketizer {
    private var assembler = VPXAssembler<VP8Descriptor, VP8FrameHeader>()

    package init() {}

    package var isReceivingKeyFrame: Bool { self.assembler.isReceivingKeyFrame }

    package mutating func receive(_ packet: OrderedPacket, time: Int64, into results: inout [FrameResult]) {
        self.assembler.receive(packet, time: time, into: &results)
    }
}
