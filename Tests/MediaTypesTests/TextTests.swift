import MediaTypes
import Testing

@Suite("Numbers, dates and URLs as text")
struct TextTests {
    @Test("numbers are padded with leading zeros, and longer ones are not cut")
    func padded() {
        #expect(Int64(7).padded(3) == "007" && Int64(1_234).padded(3) == "1234" && Int64(0).padded(0) == "0")
        #expect(UInt64(255).padded(4, radix: 16) == "00ff" && UInt64.max.padded(4, radix: 16) == "ffffffffffffffff")
    }

    @Test(
        "a decimal has exactly the requested number of digits after the point",
        arguments: [
            (0, 3, "0.000"), (5, 3, "0.005"), (1_500, 3, "1.500"), (-5, 3, "-0.005"), (-12_345, 2, "-123.45"),
            (.max, 18, "9.223372036854775807"), (.min, 1, "-922337203685477580.8"),
        ] as [(Int64, Int, String)])
    func decimal(number: Int64, digits: Int, text: String) { #expect(number.decimal(digits) == text) }

    @Test("milliseconds are written as hh:mm:ss.mmm, from 100 hours on with more digits")
    func clock() {
        #expect(Int64(0).clockText == "00:00:00.000" && Int64(3_723_004).clockText == "01:02:03.004")
        #expect(Int64(360_000_000).clockText == "100:00:00.000")
    }

    @Test(
        "dates and day numbers convert both ways",
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1), (47_540, 2100, 2, 28),
            (47_541, 2100, 3, 1), (-719_162, 1, 1, 1), (2_932_896, 9999, 12, 31),
        ] as [(Int64, Int64, Int64, Int64)])
    func dates(number: Int64, year: Int64, month: Int64, day: Int64) {
        let date = CivilDate(daysSinceEpoch: number)
        #expect(date.year == year && date.month == month && date.day == day)
        #expect(CivilDate.daysSinceEpoch(year: year, month: month, day: day) == number)
    }

    @Test("each calendar day of 800 years follows the one before, and converts back")
    func everyDay() {
        var before = CivilDate(daysSinceEpoch: -146_098)
        for number in Int64(-146_097)...146_097 {
            let date = CivilDate(daysSinceEpoch: number)
            let isNextDay = date.month == before.month && date.day == before.day + 1
            let isNextMonth = date.day == 1 && before.day >= 28 && date.month == before.month % 12 + 1
            guard isNextDay || isNextMonth,
                CivilDate.daysSinceEpoch(year: date.year, month: date.month, day: date.day) == number
            else {
                Issue.record("day \(number): \(before) \(date)")
                return
            }
            before = date
        }
    }

    @Test("percent-encoding keeps only unreserved and requested characters, and decoding restores the text")
    func percent() {
        #expect(PercentEncoding.encode("aZ9-._~/ é\u{1}") == "aZ9-._~%2F%20%C3%A9%01")
        #expect(PercentEncoding.encode("a/b c", keeping: [UInt8(ascii: "/")]) == "a/b%20c")
        let all = String(String.UnicodeScalarView((0..<0x250).compactMap(Unicode.Scalar.init)))
        #expect(PercentEncoding.decode(PercentEncoding.encode(all)) == all)
        #expect(PercentEncoding.decode("a+b") == "a+b" && PercentEncoding.decode("a+b", plusIsSpace: true) == "a b")
    }

    @Test(
        "percent-decoding refuses incomplete escapes and invalid UTF-8",
        arguments: ["%", "%4", "a%4g", "%%41", "%ff", "%c3"])
    func refused(text: String) { #expect(PercentEncoding.decode(text) == nil) }

    @Test("FNV-1a hashes equal the test vectors of its authors")
    func hash() {
        #expect(FNV1a.hash([]) == 0xcbf2_9ce4_8422_2325)
        #expect(FNV1a.hash(Array("a".utf8)) == 0xaf63_dc4c_8601_ec8c)
        #expect(FNV1a.hash(Array("foobar".utf8)) == 0x8594_4171_f739_67e8)
    }

    @Test("every byte has the right ASCII class: digit, letter, visible character, hexadecimal value")
    func ascii() {
        for byte in UInt8.min...UInt8.max {
            let scalar = Unicode.Scalar(byte)
            #expect(byte.isDigit == ("0"..."9" ~= scalar))
            #expect(byte.isLetter == ("a"..."z" ~= scalar || "A"..."Z" ~= scalar))
            #expect(byte.isVisible == ("!"..."~" ~= scalar))
            let value = byte < 0x80 ? Int(String(Character(scalar)), radix: 16) : nil
            #expect(byte.hexadecimalValue.map(Int.init) == value)
        }
    }
}
