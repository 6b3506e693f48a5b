import Testing

import Origin

@Suite("Byte range: RFC 9110 §14.1.2")
struct ByteRangeTests {
    @Test(
        "a Range field selects the right part of an object of 100 bytes, the whole of it, or 416",
        arguments: [
            (nil, .whole), ("bytes=0-0", .part(0..<1)), ("bytes=0-99", .part(0..<100)),
            ("bytes=0-1000", .part(0..<100)),
            ("bytes=99-", .part(99..<100)), ("bytes=100-", .unsatisfiable), ("bytes=100-200", .unsatisfiable),
            ("bytes=-1", .part(99..<100)), ("bytes=-100", .part(0..<100)), ("bytes=-1000", .part(0..<100)),
            ("bytes=-0", .unsatisfiable), ("bytes=5-4", .whole), ("bytes=-", .whole), ("bytes=", .whole),
            ("bytes", .whole),
            ("bytes=1-2,4-5", .whole), ("bytes=a-b", .whole), ("bytes=1-2-3", .whole), ("bytes=+1-2", .whole),
            ("items=0-1", .whole), ("BYTES=0-1", .part(0..<2)), (" bytes = 0 - 1 ", .part(0..<2)),
            ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=0-99999999999999999999", .part(0..<100)),
            ("bytes=-99999999999999999999", .part(0..<100)), ("bytes=0-9223372036854775807", .part(0..<100)),
        ] as [(String?, ByteRange)])
    func ranges(field: String?, expected: ByteRange) {
        #expect(ByteRange(field: field, size: 100) == expected)
    }

    @Test("no range of an empty object can be satisfied", arguments: ["bytes=0-", "bytes=-1", "bytes=0-0"])
    func empty(field: String) {
        #expect(ByteRange(field: field, size: 0) == .unsatisfiable)
    }

    @Test("a selected part is never empty and never extends past the object")
    func bounds() {
        for size in 0..<12 {
            for first in 0..<14 {
                for last in 0..<14 {
                    for field in ["bytes=\(first)-\(last)", "bytes=\(first)-", "bytes=-\(last)"] {
                        guard case .part(let range) = ByteRange(field: field, size: size) else { continue }
                        #expect(
                            !range.isEmpty && range.lowerBound >= 0 && range.upperBound <= size, "\(field) of \(size)")
                    }
                }
            }
        }
    }
}
