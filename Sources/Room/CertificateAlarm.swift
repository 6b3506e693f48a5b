import HLS
import MediaTypes

/// Decides when the certificate of a listener raises an alarm. Pure; times are Unix time, in seconds.
package enum CertificateAlarm {
    /// The alarm type. The severity rises as the end of the certificate approaches.
    package static let type = "tls.certificate"

    private static let day: Int64 = 86_400
    /// An alarm begins two weeks before the certificate expires, or when a sixth of its lifetime is left if that is
    /// less. By then a renewal that normally happens weeks before has failed for some time.
    private static let notice: (time: Int64, share: Int64) = (14 * day, 6)
    /// The alarm becomes more severe three days before the certificate expires, or when a thirtieth of its lifetime is
    /// left if that is less.
    private static let haste: (time: Int64, share: Int64) = (3 * day, 30)

    /// The alarm for a listener's certificate; nil if the certificate is valid and not close to its expiry.
    ///
    /// - Parameters:
    ///   - listener: Name of the listener, such as `viewer`.
    ///   - validFrom: When the certificate begins to be valid; `validUntil` is when it expires.
    /// - Returns: `alert_1` from two weeks before it expires, or a sixth of its lifetime if that is less; `alert_2`
    ///   from three days before, or a thirtieth of its lifetime if that is less; `alert_3` if clients refuse it.
    package static func of(
        _ listener: String, validFrom: Int64, validUntil: Int64, now: Int64
    ) -> ActiveAlarms.Alarm? {
        let (life, left) = (Int128(validUntil) - Int128(validFrom), Int128(validUntil) - Int128(now))
        func isWithin(_ limit: (time: Int64, share: Int64)) -> Bool {
            left <= min(Int128(limit.time), life / Int128(limit.share))
        }
        func alarm(_ severity: String, _ what: String) -> ActiveAlarms.Alarm {
            ActiveAlarms.Alarm(
                self.type, severity, kind: "listener", subject: listener,
                message: "the certificate of the listener \(listener) \(what): valid until \(self.date(validUntil))")
        }
        if left < 0 { return alarm("alert_3", "has expired, and clients refuse it") }
        if now < validFrom { return alarm("alert_3", "is not valid yet, and clients refuse it") }
        if isWithin(self.haste) { return alarm("alert_2", "is about to expire") }
        return isWithin(self.notice) ? alarm("alert_1", "has to be renewed") : nil
    }

    /// Formats a date as in playlists. A date after the range of 64-bit nanoseconds, such as the year 9999, becomes
    /// the last date of that range; a date before the range becomes 1970.
    package static func date(_ seconds: Int64) -> String {
        let (time, isBeyond) = seconds.multipliedReportingOverflow(by: TimeMath.nanoseconds)
        return ProgramDate.format(isBeyond ? (seconds < 0 ? 0 : .max) : time)
    }
}
