/// Puts together VP9 frames, in flexible mode or not.
///
/// If a stream has spatial layers, then only the base layer is given out: the layers of a frame would have to be
/// decoded together, and a decoder may show each of them as a frame of its own. Browsers send layers only if the page
/// asks for them. As for VP8, consecutive picture ids prove that no frame is missing between two frames.
///
/// Spec: RFC 9628 §4.
package struct VP9Depacketizer: VideoDepacketizer {
    private var assembler = VPXAssembler<VP9Descriptor, VP9FrameHeader>()

    package init() {}

    package var isReceivingKeyFrame: Bool { self.assembler.isReceivingKeyFrame }

    package mutating func receive(_ packet: OrderedPacket, time: Int64, into results: inout [FrameResult]) {
        self.assembler.receive(packet, time: time, into: &results)
    }
}
