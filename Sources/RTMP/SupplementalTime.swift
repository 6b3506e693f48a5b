import MediaKernels
import MediaTypes

/// Finds the time at which a picture was taken in its supplemental enhancement information.
///
/// Read are the time stamps that cameras and hardware encoders write (MISB ST 0604: micro- or nanoseconds since 1970), the
/// `"ts"` member of the JSON that mixers write (milliseconds since 1970), and time codes, which are times of day.
///
/// Spec: ITU-T H.264 §7.3.2.3, §D.1; MISB ST 0604 §7.
enum SupplementalTime {
    /// Bytes of one NAL unit that are looked at, and messages in it.
    private static let unitLimit = 4096
    private static let messageLimit = 16

    private static let microseconds = Array("MISPmicrosectime".utf8)
    private static let nanoseconds: [UInt8] = [
        0xCF, 0x84, 0x82, 0x78, 0xEE, 0x23, 0x30, 0x6C, 0x92, 0x65, 0xE8, 0xFE, 0xF2, 0x2F, 0xB8, 0xB8,
    ]

    /// The first time in an access unit; one with a date before one without.
    ///
    /// - Parameter range: NAL units with four-byte lengths that land exactly.
    static func find(_ memory: PacketMemory, in range: Range<Int>, timing: PictureTimingRules?) -> WallClockTime? {
        var timeCode: WallClockTime?
        var offset = range.lowerBound
        while offset < range.upperBound, let length = memory.unsigned32(at: offset) {
            let start = offset + 4
            let end = start + Int(length)
            guard end <= range.upperBound, let header = memory.byte(at: start) else { break }
            if NALTypes(header: header) == .sei {
                let unit = memory.bytes(in: start + 1..<max(start + 1, min(end, start + self.unitLimit)))
                if let time = self.find(unit, timing, &timeCode) { return time }
            }
            offset = end
        }
        return timeCode
    }

    private static func find(
        _ unit: [UInt8], _ timing: PictureTimingRules?, _ timeCode: inout WallClockTime?
    ) -> WallClockTime? {
        // Every picture of a constant rate has such a unit, and next to none has anything in it that was kept apart.
        let bytes = self.isEscaped(unit) ? SequenceParameterSet.removingEmulationPrevention(unit[...]) : unit
        var offset = 0
        for _ in 0..<self.messageLimit {
            guard let type = self.number(bytes, &offset), let size = self.number(bytes, &offset),
                size <= bytes.count - offset
            else { return nil }
            let payload = bytes[offset..<offset + size]
            offset += size
            switch type {
            case 1: timeCode = timeCode ?? timing?.time(of: Array(payload))
            case 5: if let time = self.userData(Array(payload)) { return time }
            default: break
            }
        }
        return nil
    }

    /// There are bytes in it that keep start codes out. Spec: §7.4.1.1.
    private static func isEscaped(_ unit: [UInt8]) -> Bool {
        var zeros = 0
        for byte in unit {
            if zeros >= 2, byte == 3 { return true }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return false
    }

    /// `payloadType` or `payloadSize`: bytes of 255 and the rest.
    private static func number(_ bytes: [UInt8], _ offset: inout Int) -> Int? {
        var number = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            number += Int(byte)
            if byte != 0xFF { return number }
        }
        return nil
    }

    private static func userData(_ payload: [UInt8]) -> WallClockTime? {
        guard payload.count > 16 else { return nil }
        let identifier = Array(payload.prefix(16))
        let body = payload.dropFirst(16)
        if identifier == self.microseconds || identifier == self.nanoseconds {
            return self.stamp(Array(body), identifier == self.microseconds ? 1000 : 1)
        }
        guard body.first == UInt8(ascii: "{") else { return nil }
        return self.member(body)
    }

    /// A status byte, and eight bytes with 0xFF behind the second, fourth and sixth.
    private static func stamp(_ body: [UInt8], _ unit: Int64) -> WallClockTime? {
        guard body.count >= 12, body[3] == 0xFF, body[6] == 0xFF, body[9] == 0xFF else { return nil }
        let value = [1, 2, 4, 5, 7, 8, 10, 11].reduce(UInt64(0)) { $0 << 8 | UInt64(body[$1]) }
        guard let signed = Int64(exactly: value) else { return nil }
        let (nanoseconds, isBeyond) = signed.multipliedReportingOverflow(by: unit)
        return isBeyond ? nil : WallClockTime(nanoseconds: nanoseconds, hasZone: true)
    }

    /// The 13 digits behind `"ts":`.
    private static func member(_ text: ArraySlice<UInt8>) -> WallClockTime? {
        let key = Array("\"ts\"".utf8)
        var rest = text
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            rest = rest[quote...]
            guard rest.starts(with: key) else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst(key.count).drop { $0 == UInt8(ascii: " ") }
            guard rest.first == UInt8(ascii: ":") else { continue }
            let digits = rest.dropFirst().drop { $0 == UInt8(ascii: " ") }.prefix { (0x30...0x39).contains($0) }
            guard digits.count == 13 else { continue }
            return WallClockTime(milliseconds: Double(digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }))
        }
        return nil
    }
}
