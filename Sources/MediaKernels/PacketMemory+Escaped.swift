extension PacketMemory {
    /// Skips bytes of a NAL unit, together with the emulation prevention bytes among them, which do not count. Does not
    /// allocate.
    ///
    /// Spec: ITU-T H.264 §7.4.1.1 (`emulation_prevention_three_byte`).
    ///
    /// - Parameters:
    ///   - count: Number of bytes to skip, without emulation prevention bytes.
    ///   - offset: Offset of the first byte to skip in the payload; afterwards, the offset after the last skipped byte.
    ///   - end: End of the unit; limited to the payload.
    ///   - zeros: Number of zero bytes directly before `offset`, on entry and on return.
    /// - Returns: Whether all bytes were available. If not, `offset` and `zeros` are undefined.
    package func skipEscaped(_ count: Int, from offset: inout Int, to end: Int, zeros: inout Int) -> Bool {
        var place = max(0, offset)
        var run = zeros
        let isWhole = unsafe self.withBytes { bytes -> Bool in
            let limit = min(end, bytes.count)
            var left = count
            while left > 0 {
                guard place < limit else { return false }
                // Checked: `0 <= place < limit <= bytes.count`.
                var byte = unsafe bytes[place]
                place &+= 1
                if byte == 3, run >= 2 {
                    run = 0
                    guard place < limit else { return false }
                    byte = unsafe bytes[place]
                    place &+= 1
                }
                run = byte == 0 ? run &+ 1 : 0
                left &-= 1
            }
            return true
        }
        (offset, zeros) = (place, run)
        return isWhole
    }
}
