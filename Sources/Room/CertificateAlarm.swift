import HLS
import MediaTypes

/// When the certificate of a listener is something to be told of. Pure; times are Unix time, in seconds.
package enum CertificateAlarm {
    /// Its type among the alarms: one, which gets more severe as the end comes.
    package static let type = "tls.certificate"

    private static let day: Int64 = 86_400
    /// Renewal is due weeks before the end of a certificate of 90 days; two weeks before, it has failed for some time.
    private static let notice: (time: Int64, share: Int64) = (14 * day, 6)
    /// Somebody has to look at it now.
    private static let haste: (time: Int64, share: Int64) = (3 * day, 30)

    /// - Parameters:
    ///   - listener: Whose, such as `viewer`.
    ///   - validFrom: From which on it is valid, as `validUntil` is up to which.
    /// - Returns: `alert_1` two weeks before its end, `alert_2` three days before, `alert_3` where clients refuse it; of one that
    ///   lives less than 90 days a sixth and a thirtieth of its life before. `nil`: nothing is wrong.
    package static func of(
        _ listener: String, validFrom: Int64, validUntil: Int64, now: Int64
    ) -> AlarmBook.Alarm? {
        let (life, left) = (Int128(validUntil) - Int128(validFrom), Int128(validUntil) - Int128(now))
        func isWithin(_ limit: (time: Int64, share: Int64)) -> Bool {
            left <= min(Int128(limit.time), life / Int128(limit.share))
        }
        func alarm(_ severity: String, _ what: String) -> AlarmBook.Alarm {
            AlarmBook.Alarm(
                self.type, severity, kind: "listener", subject: listener,
                message: "the certificate of the listener \(listener) \(what): valid until \(self.date(validUntil))")
        }
        if left < 0 { return alarm("alert_3", "has expired, and clients refuse it") }
        if now < validFrom { return alarm("alert_3", "is not valid yet, and clients refuse it") }
        if isWithin(self.haste) { return alarm("alert_2", "is about to expire") }
        return isWithin(self.notice) ? alarm("alert_1", "has to be renewed") : nil
    }

    /// As in playlists. One beyond the calendar of nanoseconds, such as the year 9999, is that calendar's last day.
    package static func date(_ seconds: Int64) -> String {
        let (time, isBeyond) = seconds.multipliedReportingOverflow(by: TimeMath.nanoseconds)
        return ProgramDate.format(isBeyond ? (seconds < 0 ? 0 : .max) : time)
    }
}
