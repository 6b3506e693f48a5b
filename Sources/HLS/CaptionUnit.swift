package import MediaTypes

/// Builds a NAL unit with closed captions: an SEI `user_data_registered_itu_t_t35` message of ATSC A/53.
///
/// Spec: ITU-T H.264 §7.3.2.3, §D.1.5; ATSC A/53 Part 4 §6.2.3.
package enum CaptionUnit {
    /// Returns the H.264 SEI NAL unit without length or start code.
    ///
    /// - Parameter pairs: Up to ``CaptionMessage/mostPairs``, CEA-608 first; the rest is left out.
    package static func bytes(_ pairs: [CaptionPair]) -> [UInt8] {
        let payload = CaptionMessage.payload(pairs)
        // Payload type 4; the size is at most 104 bytes. Then the stop bit.
        return [0x06] + UserDataUnit.escaped([4, UInt8(truncatingIfNeeded: payload.count)] + payload + [0x80])
    }
}
