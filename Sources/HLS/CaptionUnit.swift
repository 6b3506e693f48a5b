package import MediaTypes

/// Builds a NAL unit with closed captions: SEI `user_data_registered_itu_t_t35` messages of ATSC A/53.
///
/// Spec: ITU-T H.264 §7.3.2.3, §D.1.5; ATSC A/53 Part 4 §6.2.3.
package enum CaptionUnit {
    /// Returns the H.264 SEI NAL unit without length or start code.
    ///
    /// - Parameter pairs: CEA-608 first. A message has up to ``CaptionMessage/mostPairs``; more pairs get more messages.
    package static func bytes(_ pairs: [CaptionPair]) -> [UInt8] {
        var messages: [UInt8] = []
        var rest = pairs[...]
        repeat {
            let payload = CaptionMessage.payload(Array(rest.prefix(CaptionMessage.mostPairs)))
            rest = rest.dropFirst(CaptionMessage.mostPairs)
            // Payload type 4; the size is at most 104 bytes.
            messages += [4, UInt8(truncatingIfNeeded: payload.count)] + payload
        } while !rest.isEmpty
        // The stop bit.
        return [0x06] + UserDataUnit.escaped(messages + [0x80])
    }
}
