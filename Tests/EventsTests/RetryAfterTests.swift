import Testing

import Events

@Suite("Retry-After: RFC 9110 §10.2.3")
struct RetryAfterTests {
    @Test("Retry-After as a number of seconds gives that number; a negative one gives 0 seconds")
    func seconds() {
        #expect(RetryAfter.seconds("120", now: 5) == 120)
        #expect(RetryAfter.seconds("0", now: 5) == 0 && RetryAfter.seconds("-7", now: 5) == 0)
    }

    @Test("Retry-After as an HTTP date gives the seconds from a given time until it; a past date gives 0 seconds")
    func date() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(RetryAfter.date(date) == 784_111_777)
        #expect(RetryAfter.seconds(date, now: 784_111_700) == 77)
        #expect(RetryAfter.seconds(date, now: 784_111_778) == 0 && RetryAfter.seconds(date, now: .max) == 0)
    }

    @Test(
        "HTTP dates around leap days, years and centuries are converted to the right second",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
            ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800), ("Thu, 31 Dec 2026 23:59:59 GMT", 1_798_761_599),
            ("Fri, 01 Jan 2027 00:00:00 GMT", 1_798_761_600), ("Fri, 31 Dec 9999 23:59:60 GMT", 253_402_300_800),
        ] as [(String, Int64)])
    func calendar(text: String, seconds: Int64) { #expect(RetryAfter.date(text) == seconds) }

    @Test(
        "fractional or huge numbers and malformed or obsolete dates in Retry-After are ignored",
        arguments: [
            "", "soon", "1.5", "99999999999999999999", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:-9:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ])
    func nonsense(text: String) { #expect(RetryAfter.seconds(text, now: 0) == nil, "\(text)") }
}
