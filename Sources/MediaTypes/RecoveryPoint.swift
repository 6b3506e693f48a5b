package import MediaKernels

/// Pictures of H.264 that are no IDR pictures, and with which decoding may begin all the same: those an open GOP begins with. Senders
/// of transport streams often have one IDR picture at their beginning, or none.
///
/// Streams that refresh the picture bit by bit have recovery points as well, behind which it is right only after many pictures
/// (recovery_frame_cnt): nothing begins there.
///
/// Spec: ITU-T H.264 §D.1.8, §D.2.8.
package enum RecoveryPoint {
    /// `payloadType` of the message.
    private static let payloadType = 6

    /// Whether all that is shown from an access unit on is right if decoding begins with it. No allocation.
    ///
    /// - Parameter range: NAL units with four-byte lengths that land exactly.
    package static func isAtOnce(_ memory: PacketMemory, in range: Range<Int>) -> Bool {
        // What is said of a picture stands before it.
        for message in SupplementalMessages(memory, in: range, endsAtPicture: true)
        where message.type == self.payloadType {
            var payload = message.payload
            // recovery_frame_cnt, the first field, is 0 when its first bit is 1.
            if let isZero = payload.flag() { return isZero }
        }
        return false
    }
}
