/// Divides what OpenSSL has written into datagrams.
///
/// OpenSSL writes whole records into a memory buffer, which does not keep where a datagram ended.
///
/// Spec: RFC 6347 §4.1.1: several records may be in one datagram, but a record may not be in two.
package enum DTLSRecords {
    /// Size of a record's header; the length of the rest is in its last two bytes.
    package static let headerSize = 13

    /// - Parameters:
    ///   - bytes: Whole records.
    ///   - most: Size of a datagram, in bytes. A longer record gets a datagram of its own.
    /// - Returns: As few datagrams as possible in the same order. Bytes that are not a whole record are left out.
    package static func datagrams(_ bytes: [UInt8], most: Int) -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        var (begin, end) = (0, 0)
        while end + self.headerSize <= bytes.count {
            let next = end + self.headerSize + (Int(bytes[end + 11]) << 8 | Int(bytes[end + 12]))
            guard next <= bytes.count else { break }
            if end > begin, next - begin > most {
                datagrams.append(Array(bytes[begin..<end]))
                begin = end
            }
            end = next
        }
        if end > begin { datagrams.append(Array(bytes[begin..<end])) }
        return datagrams
    }
}
