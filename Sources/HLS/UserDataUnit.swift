/// Builds a NAL unit with application data: an SEI `user_data_unregistered` message under a UUID.
///
/// Spec: ITU-T H.264 §7.3.2.3 (SEI), §D.1.6 (`user_data_unregistered`), §7.4.1.1 (emulation prevention).
package enum UserDataUnit {
    /// NAL unit header: `nal_unit_type` 6 (SEI), not used for reference.
    private static let header: UInt8 = 0x06
    /// SEI payload type of `user_data_unregistered`. Spec: §D.1.
    private static let payloadType: UInt8 = 5
    /// Size of a UUID in bytes.
    package static let identifierSize = 16

    /// Returns the SEI NAL unit without length or start code.
    ///
    /// - Parameter identifier: UUID of 16 bytes; a shorter one is padded with zeros, a longer one is cut.
    package static func bytes(identifier: [UInt8], _ content: [UInt8]) -> [UInt8] {
        let uuid = Array((identifier + [UInt8](repeating: 0, count: Self.identifierSize)).prefix(Self.identifierSize))
        var payload: [UInt8] = [Self.payloadType]
        var size = uuid.count + content.count
        while size >= 0xFF {
            payload.append(0xFF)
            size -= 0xFF
        }
        payload.append(UInt8(size))
        payload += uuid
        payload += content
        // §7.3.2.11: the stop bit.
        payload.append(0x80)
        return [Self.header] + Self.escaped(payload)
    }

    /// Inserts emulation prevention bytes, so that no three bytes look like a start code.
    static func escaped(_ payload: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(payload.count + 4)
        var zeros = 0
        for byte in payload {
            if zeros >= 2, byte <= 3 {
                result.append(3)
                zeros = 0
            }
            result.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return result
    }
}
