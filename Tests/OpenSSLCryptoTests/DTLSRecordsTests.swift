import OpenSSLCrypto
import Testing

@Suite("DTLS records in datagrams: RFC 6347 §4.1.1")
struct DTLSRecordsTests {
    private func record(_ count: Int, _ mark: UInt8) -> [UInt8] {
        [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, mark, UInt8(count >> 8), UInt8(count & 255)]
            + [UInt8](repeating: mark, count: count)
    }

    @Test("DTLS records share datagrams of up to 1,200 bytes; a longer record gets its own")
    func packing() {
        let records = [500, 600, 61, 13, 1_500, 1, 1_187].enumerated().map { self.record($1, UInt8($0)) }
        let datagrams = DTLSRecords.datagrams(records.flatMap { $0 }, most: 1_200)
        #expect(datagrams == [records[0] + records[1] + records[2], records[3], records[4], records[5], records[6]])
    }

    @Test("a DTLS record that is truncated at the end of the bytes is left out", arguments: [0, 1, 12, 13, 40])
    func cut(count: Int) {
        let whole = self.record(20, 1)
        let datagrams = DTLSRecords.datagrams(whole + self.record(60, 2).prefix(count), most: 1_200)
        #expect(datagrams == [whole])
    }

    @Test("an empty sequence of DTLS records gives no datagram")
    func empty() { #expect(DTLSRecords.datagrams([], most: 1_200).isEmpty) }
}
