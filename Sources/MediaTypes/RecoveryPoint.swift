package import MediaKernels

/// Detects H.264 frames that are not IDR frames but at which decoding can begin: the first frames of open GOPs. Senders
/// of transport streams often have a single IDR frame at the beginning, or none.
///
/// Streams with intra refresh have recovery points too, but their frames are correct only some frames later
/// (recovery_frame_cnt above 0); decoding does not begin there.
///
/// Spec: ITU-T H.264 §D.1.8, §D.2.8.
package enum RecoveryPoint {
    /// `payloadType` of the recovery point SEI message.
    private static let payloadType = 6

    /// Whether an access unit has a recovery point message that promises correct frames at once (recovery_frame_cnt 0).
    /// Does not allocate.
    ///
    /// - Parameter range: NAL units with four-byte lengths that end exactly at the end of the range.
    package static func isAtOnce(_ memory: PacketMemory, in range: Range<Int>) -> Bool {
        // Messages about a frame precede it.
        for message in SEIMessages(memory, in: range, endsAtPicture: true)
        where message.type == self.payloadType {
            var payload = message.payload
            // recovery_frame_cnt, the first field, is 0 if its first bit is 1.
            if let isZero = payload.flag() { return isZero }
        }
        return false
    }
}
