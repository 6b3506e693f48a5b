import MediaKernels
import MediaTypes

/// Finds the capture time of a frame in its supplemental enhancement information (SEI).
///
/// It reads timestamps of cameras and hardware encoders (MISB ST 0604: micro- or nanoseconds since 1970), the `"ts"`
/// member of JSON written by mixers (milliseconds since 1970), and time codes, which are times of day.
///
/// Spec: ITU-T H.264 §D.1; MISB ST 0604 §7.
enum SupplementalTime {
    private static let microseconds = Array("MISPmicrosectime".utf8)
    private static let nanoseconds: [UInt8] = [
        0xCF, 0x84, 0x82, 0x78, 0xEE, 0x23, 0x30, 0x6C, 0x92, 0x65, 0xE8, 0xFE, 0xF2, 0x2F, 0xB8, 0xB8,
    ]
    /// The JSON member name `"ts"`, with its quotes.
    private static let key = Array("\"ts\"".utf8)
    /// Number of digits of milliseconds since 1970, from 2001 to 2286.
    private static let digits = 13

    /// Returns the first time in an access unit; a time with a date takes precedence over one without. No allocation.
    ///
    /// - Parameter range: NAL units with four-byte lengths that end exactly at the end of the range.
    static func find(_ memory: PacketMemory, in range: Range<Int>, timing: PictureTimingRules?) -> WallClockTime? {
        var timeCode: WallClockTime?
        for message in SEIMessages(memory, in: range) {
            switch message.type {
            case 1 where timeCode == nil: timeCode = timing?.time(of: message.payload)
            case 5: if let time = self.userData(message.payload) { return time }
            default: break
            }
        }
        return timeCode
    }

    private static func userData(_ payload: NALPayloadReader) -> WallClockTime? {
        guard payload.left > 16 else { return nil }
        var body = payload
        var (isMicroseconds, isNanoseconds) = (true, true)
        for index in 0..<16 {
            guard let byte = body.next() else { return nil }
            isMicroseconds = isMicroseconds && byte == self.microseconds[index]
            isNanoseconds = isNanoseconds && byte == self.nanoseconds[index]
        }
        if isMicroseconds || isNanoseconds { return self.stamp(body, isMicroseconds ? 1000 : 1) }
        guard body.next() == UInt8(ascii: "{") else { return nil }
        return self.member(body)
    }

    /// Reads a status byte, then eight bytes with 0xFF after the second, fourth and sixth.
    private static func stamp(_ body: NALPayloadReader, _ unit: Int64) -> WallClockTime? {
        var body = body
        guard body.next() != nil else { return nil }
        var value: UInt64 = 0
        for place in 1..<12 {
            guard let byte = body.next() else { return nil }
            if place.isMultiple(of: 3) {
                guard byte == 0xFF else { return nil }
            } else {
                value = value << 8 | UInt64(byte)
            }
        }
        guard let signed = Int64(exactly: value) else { return nil }
        let (nanoseconds, isBeyond) = signed.multipliedReportingOverflow(by: unit)
        return isBeyond ? nil : WallClockTime(nanoseconds: nanoseconds, hasZone: true)
    }

    /// Reads the 13 digits after `"ts":`.
    private static func member(_ text: NALPayloadReader) -> WallClockTime? {
        var text = text
        // Number of characters of the key matched so far.
        var matched = 0
        while let byte = text.next() {
            // A quote that does not continue the key may start it.
            matched = byte == self.key[matched] ? matched + 1 : byte == self.key[0] ? 1 : 0
            guard matched == self.key.count else { continue }
            matched = 0
            if let number = self.number(text) { return WallClockTime(milliseconds: Double(number)) }
        }
        return nil
    }

    /// Reads a colon and 13 digits, with spaces before either.
    private static func number(_ text: NALPayloadReader) -> Int64? {
        var text = text
        guard self.behindSpaces(&text) == UInt8(ascii: ":") else { return nil }
        var next = self.behindSpaces(&text)
        var number: Int64 = 0
        var count = 0
        while let digit = next, digit.isDigit {
            count += 1
            guard count <= self.digits else { return nil }
            number = number * 10 + Int64(digit - 0x30)
            next = text.next()
        }
        return count == self.digits ? number : nil
    }

    private static func behindSpaces(_ text: inout NALPayloadReader) -> UInt8? {
        var byte = text.next()
        while byte == UInt8(ascii: " ") { byte = text.next() }
        return byte
    }
}
