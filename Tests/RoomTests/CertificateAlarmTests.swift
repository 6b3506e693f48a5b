import Room
import Testing

/// In seconds.
private let day: Int64 = 86_400

@Suite("Alarm for an expiring listener certificate")
struct CertificateAlarmTests {
    private static let until: Int64 = 1_800_000_000

    /// - Parameters:
    ///   - life: Length of the certificate's validity in seconds.
    ///   - left: Seconds until its end.
    private static func severity(life: Int64, left: Int64) -> String? {
        CertificateAlarm.of(
            "viewer", validFrom: self.until - life, validUntil: self.until, now: self.until - left)?.severity
    }

    @Test(
        "a certificate of 90 days raises alert_1 14 days before expiry, alert_2 3 days before it, alert_3 when expired or not yet valid",
        arguments: [
            (90, 15 * day, nil), (90, 14 * day + 1, nil), (90, 14 * day, "alert_1"), (90, 3 * day + 1, "alert_1"),
            (90, 3 * day, "alert_2"), (90, 0, "alert_2"), (90, -1, "alert_3"), (90, -400 * day, "alert_3"),
            (90, 90 * day, nil), (90, 90 * day + 1, "alert_3"),
        ] as [(Int64, Int64, String?)])
    func usual(days: Int64, left: Int64, severity: String?) {
        #expect(Self.severity(life: days * day, left: left) == severity)
    }

    @Test(
        "a certificate of one day raises alert_1 in the last sixth of its lifetime, alert_2 in the last thirtieth",
        arguments: [
            (day / 6 + 1, nil), (day / 6, "alert_1"), (day / 30 + 1, "alert_1"), (day / 30, "alert_2"), (-1, "alert_3"),
        ] as [(Int64, String?)])
    func short(left: Int64, severity: String?) {
        #expect(Self.severity(life: day, left: left) == severity)
    }

    @Test("certificate dates of Int64.min and Int64.max do not overflow")
    func absurd() {
        for (from, until) in [(Int64.min, Int64.max), (Int64.max, Int64.min), (0, 0), (Int64.max, Int64.max)] {
            for now in [Int64.min, 0, Int64.max] {
                let alarm = CertificateAlarm.of("viewer", validFrom: from, validUntil: until, now: now)
                #expect((alarm?.severity == "alert_3") == (now > until || now < from))
            }
        }
        #expect(CertificateAlarm.date(253_402_300_799) == CertificateAlarm.date(.max))
    }

    @Test(
        "a certificate's alarm rises in severity until a new certificate clears it; when that one nears expiry, a second alarm is raised"
    )
    func life() throws {
        var alarms = ActiveAlarms()
        var changes: [String] = []
        func look(at now: Int64, until: Int64) {
            let alarm = CertificateAlarm.of("rtmps", validFrom: until - 90 * day, validUntil: until, now: now)
            for change in alarms.update(alarm.map { [$0] } ?? [], at: now) {
                switch change {
                case .set(let entry): changes.append("\(entry.alarm.severity) \(entry.number)")
                case .cleared(let entry): changes.append("cleared \(entry.number)")
                }
            }
        }
        for left in [20, 14, 13, 3, 2, -1, -2] as [Int64] {
            look(at: Self.until - left * day, until: Self.until)
        }
        #expect(changes == ["alert_1 1", "alert_2 1", "alert_3 1"])
        let entry = try #require(alarms.entries.last)
        #expect(entry.alarm.type == "tls.certificate" && entry.alarm.kind == "listener")
        #expect(entry.alarm.subject == "rtmps" && entry.alarm.message.contains("rtmps has expired"))
        let next = Self.until + 80 * day
        look(at: Self.until + 3 * day, until: next)
        #expect(changes.last == "cleared 1")
        look(at: next - 10 * day, until: next)
        #expect(changes.last == "alert_1 2")
    }
}
